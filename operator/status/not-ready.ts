/** Names the resources that are not Ready, for the message of their Engine. In: resources and their verdicts. Out: one clause.
 *  The clause depends only on the set of these resources: while the set is the same, the status of the Engine is not written again.
 *  Pure. Not here: the rest of the message (engine-status.ts). */
import { listText } from '@pergola/engine/list-text';
import { type CustomResource, crName, kindRankOf, type Reason } from '../kinds.ts';
import { conditionOf } from './conditions.ts';
import type { Report } from './report.ts';

const MOST_NAMED = 3;
/** The most UTF-16 units of a name, so that three names and the number of the others fit into a sentence (sentence.ts). */
const MOST_NAME_CHARACTERS = 160;

/** The reasons of resources whose condition Ready is not False. */
const NOT_FAILED: ReadonlySet<Reason> = new Set(['Applied', 'Applying', 'Paused']);

type Outcomes = Pick<Report, 'problem' | 'resources' | 'verdicts'>;

/** Returns a clause such as `not ready: Source default/main, Table default/author`; undefined when every resource is Ready, or when the
 *  pass could not read the engine. Sources come first, in the order of KINDS, then names. */
export function notReadyText(report: Outcomes): string | undefined {
  const failed = report.problem ? [] : notReady(report);
  if (failed.length === 0) return undefined;
  const first = failed.toSorted(byImportance).slice(0, MOST_NAMED).map(shortNameOf);
  return `not ready: ${listText(first, { most: MOST_NAMED, total: failed.length })}`;
}

/** Returns the resources that are neither Ready, being applied nor paused. */
export function notReady({ resources, verdicts }: Outcomes): readonly CustomResource[] {
  // Resources out of scope are applied (decide/incremental-scope.ts).
  return resources.filter(({ metadata }) => {
    const verdict = verdicts.get(metadata.uid);
    return verdict !== undefined && !NOT_FAILED.has(verdict.outcome.reason);
  });
}

/** Returns a clause that names the resources whose condition GrantMissing says which grant they need; undefined when there are none. */
export function missingGrantText({
  resources,
  verdicts,
}: Pick<Report, 'resources' | 'verdicts'>): string | undefined {
  const ungranted = resources.filter((cr) => {
    const verdict = verdicts.get(cr.metadata.uid);
    return verdict ? verdict.missingGrant !== undefined : conditionOf(cr, 'GrantMissing') !== undefined;
  });
  if (ungranted.length === 0) return undefined;
  const first = ungranted.toSorted(byImportance).slice(0, MOST_NAMED).map(shortNameOf);
  return `without a grant that they need: ${listText(first, { most: MOST_NAMED, total: ungranted.length })}`;
}

function byImportance(a: CustomResource, b: CustomResource): number {
  const rank = kindRankOf(a) - kindRankOf(b);
  if (rank !== 0) return rank;
  return crName(a) < crName(b) ? -1 : 1;
}

function shortNameOf(cr: CustomResource): string {
  const name = crName(cr);
  return name.length > MOST_NAME_CHARACTERS ? `${name.slice(0, MOST_NAME_CHARACTERS - 1)}…` : name;
}

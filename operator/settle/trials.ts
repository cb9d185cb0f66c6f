/** Tries parts of a change with dry runs, within a budget, so that no resource can make a pass endless. A cycle of inherited roles, for
 *  which the engine refuses the whole change, is found without a request.
 *  In: the settle context, decisions. Out: the inconsistent objects, or the refusal of the whole.
 *  Not here: which decisions are culprits (culprits.ts). */
import { cycleAmong, type Metadata, orderRoles } from '@pergola/engine/metadata';
import type { Decision } from '../decide/decide.ts';
import { EngineProblem, type InconsistentObject, type ResourceOutcome } from '../ports.ts';
import type { Refusal } from './bisect.ts';
import { compose } from './order.ts';

export type SettleContext = {
  readonly live: Metadata;
  readonly inconsistent: readonly InconsistentObject[];
  /** True for objects of this manager. Only objects of other managers must not break. */
  readonly isOwned: (key: string) => boolean;
  /** Returns the resource that claims or owns the object, as `Kind namespace/name`. Absent when unknown. */
  readonly ownerOf?: (key: string) => string | undefined;
  /** Returns the namespace of the resource that claims the object. */
  readonly claimedIn?: (key: string) => string | undefined;
  /** Returns the objects that would be inconsistent after these decisions. Throws EngineProblem. */
  readonly dryRun: (decisions: readonly Decision[]) => Promise<readonly InconsistentObject[]>;
  /** Returns the outcome of a decision that was refused before and need not be tried again yet. `written` are the keys of all changes. */
  readonly backedOff?: (decision: Decision, written: ReadonlySet<string>) => ResourceOutcome | undefined;
  /** True when an earlier search found that the decision fails without any other. */
  readonly failsOnItsOwn?: (decision: Decision) => boolean;
  /** The most decisions of one write. Absent means no limit. */
  readonly most?: number;
};

/** The result of a dry run. */
export type TrialResult =
  | { readonly inconsistent: readonly InconsistentObject[]; readonly refusal?: never }
  | { readonly refusal: Refusal; readonly inconsistent?: never };

/** The most dry runs of a pass. More than a hundred culprits among thousands of changes take several passes. */
const MOST_DRY_RUNS = 256;

export class Trials {
  readonly context: SettleContext;
  #dryRuns = 0;
  #isSound = false;

  constructor(context: SettleContext) {
    this.context = context;
  }

  get hasBudget(): boolean {
    return this.#dryRuns < MOST_DRY_RUNS;
  }

  /** Runs the decisions on the engine. Throws EngineProblem for problems that are not about the content. */
  async run(decisions: readonly Decision[], document = this.compose(decisions)): Promise<TrialResult> {
    const cycle = cycleOf(document, this.context.live);
    if (cycle) return { refusal: cycle };
    this.#dryRuns++;
    try {
      return { inconsistent: await this.context.dryRun(decisions) };
    } catch (error) {
      if (!(error instanceof EngineProblem) || !isAboutContent(error)) throw error;
      // An engine that rejects even an empty change has another problem.
      if (!error.edit && !this.#isSound) await this.context.dryRun([]);
      this.#isSound = true;
      return { refusal: { reason: error.reason, edit: error.edit } };
    }
  }

  compose(decisions: readonly Decision[]): Metadata {
    return compose(this.context.live, decisions);
  }
}

/** True when the engine rejects the content of a request. */
export function isAboutContent({ kind }: EngineProblem): boolean {
  return kind === 'rejected' || kind === 'inconsistent';
}

/** Returns the refusal of a document with a cycle of inherited roles. */
function cycleOf({ inherited_roles: roles = [] }: Metadata, live: Metadata): Refusal | undefined {
  if (roles === live.inherited_roles) return undefined;
  const { stuck } = orderRoles(roles);
  return stuck.length === 0 ? undefined : refusalOfCycle(cycleAmong(stuck));
}

/** Returns the refusal of a cycle of inherited roles with the message of the engine. The first of `names` is repeated at the end. */
export function refusalOfCycle(names: readonly string[]): Refusal {
  const cycle = names.slice(0, -1);
  const first = cycle.indexOf(cycle.toSorted()[0]!);
  const turned = [...cycle.slice(first), ...cycle.slice(0, first), cycle[first]];
  return { reason: `found cycle(s) in roles: ${JSON.stringify(turned)}`, isCycle: true };
}

/** Remembers refused decisions over passes, so a refused resource costs one search and not one in each pass. A decision is tried again when
 *  it changes, when an object it conflicts with changes, and after a delay that doubles each time.
 *  Pure. Not here: the search for culprits (culprits.ts). */
import type { MetadataObject } from '@pergola/engine/metadata';
import { type Decision, ownerOf } from '../decide/decide.ts';
import { hashOfLive } from '../objects/normal-form.ts';
import type { EngineProblem, ResourceOutcome } from '../ports.ts';
import { type Blame, blameFor } from './culprits.ts';

type Objects = ReadonlyMap<string, MetadataObject>;

type BackoffEntry = {
  readonly owner: string | undefined;
  /** The hash of the refused object; absent for a deletion. */
  readonly hash: string | undefined;
  readonly blame: Blame;
  /** The hashes of the rivals in the engine; undefined for missing ones. */
  readonly rivals: ReadonlyMap<string, string | undefined>;
  readonly times: number;
  readonly retryAtMs: number;
};

/** The refused decisions by key. */
export type RefusalBackoff = ReadonlyMap<string, BackoffEntry>;

export const NO_BACKOFF: RefusalBackoff = new Map();

const LEAST_DELAY_MS = 30_000;
const MOST_DELAY_MS = 600_000;

/** Returns the outcome of a decision that need not be tried again yet. `written` are the keys of all objects to be changed. */
export function backedOff(
  refused: RefusalBackoff,
  decision: Decision,
  {
    live,
    written,
    nowMs,
  }: { readonly live: Objects; readonly written: ReadonlySet<string>; readonly nowMs: number },
): ResourceOutcome | undefined {
  const found = entryOf(refused, decision);
  if (found?.blame.found !== 'search' || nowMs >= found.retryAtMs) return undefined;
  const isSameRest = [...found.rivals].every(
    ([key, hash]) => !written.has(key) && liveHash(live, key) === hash,
  );
  return isSameRest ? found.blame.outcome : undefined;
}

/** True when an earlier search found that the decision fails without any other. */
export function failsOnItsOwn(refused: RefusalBackoff, decision: Decision): boolean {
  return entryOf(refused, decision)?.blame.found === 'fault';
}

/** Adds the findings of a plan. `live` are the objects after the plan. */
export function noteBlamed(
  before: RefusalBackoff,
  {
    decisions,
    blamed,
    live,
    nowMs,
  }: {
    readonly decisions: readonly Decision[];
    readonly blamed: ReadonlyMap<string, Blame>;
    readonly live: Objects;
    readonly nowMs: number;
  },
): RefusalBackoff {
  const after = new Map(before);
  for (const decision of decisions) {
    const blame = blamed.get(decision.key);
    if (blame?.found) after.set(decision.key, newEntry(before, decision, blame, { live, nowMs }));
  }
  return after;
}

/** Removes decisions that a pass did not leave out: they were applied, or are no longer desired. */
export function withoutApplied(
  refused: RefusalBackoff,
  excluded: { readonly has: (key: string) => boolean },
): RefusalBackoff {
  return new Map([...refused].filter(([key]) => excluded.has(key)));
}

/** Adds one decision that the engine refused alone. */
export function noteRefusal(
  before: RefusalBackoff,
  decision: Decision,
  problem: EngineProblem,
  nowMs: number,
): RefusalBackoff {
  const blame = blameFor(decision, problem, []);
  return new Map(before).set(decision.key, newEntry(before, decision, blame, { live: new Map(), nowMs }));
}

function newEntry(
  before: RefusalBackoff,
  decision: Decision,
  blame: Blame,
  { live, nowMs }: { readonly live: Objects; readonly nowMs: number },
): BackoffEntry {
  const times = (entryOf(before, decision)?.times ?? 0) + 1;
  const delayMs = Math.min(MOST_DELAY_MS, LEAST_DELAY_MS * 2 ** (times - 1));
  const rivals = new Map(blame.rivals.map((rival) => [rival, liveHash(live, rival)]));
  const hash = decision.claim?.hash;
  return { owner: ownerOf(decision), hash, blame, rivals, times, retryAtMs: nowMs + delayMs };
}

function entryOf(refused: RefusalBackoff, decision: Decision): BackoffEntry | undefined {
  const found = refused.get(decision.key);
  const isSame = found?.owner === ownerOf(decision) && found?.hash === decision.claim?.hash;
  return isSame ? found : undefined;
}

function liveHash(live: Objects, key: string): string | undefined {
  const object = live.get(key);
  return object && hashOfLive(object);
}

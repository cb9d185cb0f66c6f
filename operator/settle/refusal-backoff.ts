/** Remembers the decisions for which the engine refused a write, such as a trigger that its database does not let it create, so that they do
 *  not keep others from being written. A decision is tried again when it changes, and after a delay that doubles each time.
 *  Pure. Not here: what the engine leaves out before the write (settle.ts). */
import { type Decision, ownerOf } from '../decide/decide.ts';
import type { EngineProblem, ResourceOutcome } from '../ports.ts';
import { refusalOf } from './left-out.ts';

type BackoffEntry = {
  readonly owner: string | undefined;
  /** The hash of the refused object; absent for a deletion. */
  readonly hash: string | undefined;
  readonly outcome: ResourceOutcome;
  readonly times: number;
  readonly retryAtMs: number;
};

/** The refused decisions by key. */
export type RefusalBackoff = ReadonlyMap<string, BackoffEntry>;

export const NO_BACKOFF: RefusalBackoff = new Map();

const LEAST_DELAY_MS = 30_000;
const MOST_DELAY_MS = 600_000;

/** Returns the outcome of a decision that need not be tried again yet. */
export function backedOff(
  refused: RefusalBackoff,
  decision: Decision,
  nowMs: number,
): ResourceOutcome | undefined {
  const found = entryOf(refused, decision);
  return found && nowMs < found.retryAtMs ? found.outcome : undefined;
}

/** Adds a decision for which the engine refused a write. */
export function noteRefusal(
  before: RefusalBackoff,
  decision: Decision,
  { reason, edit }: EngineProblem,
  nowMs: number,
): RefusalBackoff {
  const times = (entryOf(before, decision)?.times ?? 0) + 1;
  const delayMs = Math.min(MOST_DELAY_MS, LEAST_DELAY_MS * 2 ** (times - 1));
  const outcome = refusalOf(decision, { reason, at: edit?.path });
  const owner = ownerOf(decision);
  const entry = { owner, hash: decision.claim?.hash, outcome, times, retryAtMs: nowMs + delayMs };
  return new Map(before).set(decision.key, entry);
}

/** Removes decisions that a pass did not leave out: they were applied, or are no longer desired. */
export function withoutApplied(
  refused: RefusalBackoff,
  excluded: { readonly has: (key: string) => boolean },
): RefusalBackoff {
  return new Map([...refused].filter(([key]) => excluded.has(key)));
}

function entryOf(refused: RefusalBackoff, decision: Decision): BackoffEntry | undefined {
  const found = refused.get(decision.key);
  const isSame = found?.owner === ownerOf(decision) && found?.hash === decision.claim?.hash;
  return isSame ? found : undefined;
}

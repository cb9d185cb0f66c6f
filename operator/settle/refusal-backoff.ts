/** Remembers refused decisions over passes: those that would break another object, so that the engine searches for them once and not in each
 *  pass, and those for which it refused a write, such as a trigger that its database does not let it create. A decision is tried again when
 *  it changes, when the object that it would break changes, and after a delay that doubles each time.
 *  Pure. Not here: which decisions are refused (settle.ts). */
import type { MetadataObject } from '@pergola/engine/metadata';
import { type Decision, ownerOf } from '../decide/decide.ts';
import { hashOfLive, objectsIn } from '../objects/normal-form.ts';
import type { EngineProblem } from '../ports/engine-problem.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { refusalOf } from './left-out.ts';
import type { Settled } from './settle.ts';

type Objects = ReadonlyMap<string, MetadataObject>;

type BackoffEntry = {
  readonly owner: string | undefined;
  /** The hash of the refused object; absent for a deletion. */
  readonly hash: string | undefined;
  readonly outcome: ResourceOutcome;
  /** The object that it would break, with the hash that it has in the engine; undefined for a refused write. */
  readonly breaks: { readonly key: string; readonly hash: string | undefined } | undefined;
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
  if (!found || nowMs >= found.retryAtMs) return undefined;
  const { breaks } = found;
  const isSame = !breaks || (!written.has(breaks.key) && liveHash(live, breaks.key) === breaks.hash);
  return isSame ? found.outcome : undefined;
}

/** Adds the decisions that would break another object of the document. */
export function noteBreaking(
  before: RefusalBackoff,
  decisions: readonly Decision[],
  { broken, excluded, document }: Settled,
  nowMs: number,
): RefusalBackoff {
  if (broken.size === 0) return before;
  const after = new Map(before);
  const live = objectsIn(document);
  for (const decision of decisions) {
    const key = broken.get(decision.key);
    const outcome = excluded.get(decision.key);
    if (key === undefined || !outcome || decision.action === 'delete') continue;
    const breaks = { key, hash: liveHash(live, key) };
    after.set(decision.key, newEntry(before, decision, { outcome, breaks }, nowMs));
  }
  return after;
}

/** Adds a decision for which the engine refused a write. */
export function noteRefusal(
  before: RefusalBackoff,
  decision: Decision,
  { reason, edit }: EngineProblem,
  nowMs: number,
): RefusalBackoff {
  const outcome = refusalOf(decision, { reason, at: edit?.path });
  return new Map(before).set(decision.key, newEntry(before, decision, { outcome, breaks: undefined }, nowMs));
}

function newEntry(
  before: RefusalBackoff,
  decision: Decision,
  found: Pick<BackoffEntry, 'outcome' | 'breaks'>,
  nowMs: number,
): BackoffEntry {
  const times = (entryOf(before, decision)?.times ?? 0) + 1;
  const retryAtMs = nowMs + Math.min(MOST_DELAY_MS, LEAST_DELAY_MS * 2 ** (times - 1));
  return { owner: ownerOf(decision), hash: decision.claim?.hash, ...found, times, retryAtMs };
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

function liveHash(live: Objects, key: string): string | undefined {
  const object = live.get(key);
  return object && hashOfLive(object);
}

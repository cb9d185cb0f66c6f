/** The resources that the engine does not serve as they are written, with the reason: what waits, is held back, refused or paused. Stored with the
 *  ledger, so that the console of the engine can show it. Written only when a reason changes, and bounded. What the engine reports itself, such as a
 *  database that does not answer, is not stored: an outage must not write a version of the metadata.
 *  Pure. In: the stored state, the outcomes of a pass. Out: entries, and patches of them. Not here: the outcomes (status/verdicts.ts). */
import type { Reason } from '../kinds.ts';
import { recordsIn } from './stored-records.ts';

export type Unserved = {
  readonly manager: string;
  readonly reason: Reason;
  /** The message of the condition when the reason was stored. */
  readonly message: string;
  /** The time when the reason was stored, in ISO 8601. */
  readonly since: string;
};

/** Entries by resource, as `Kind namespace/name`. */
export type UnservedResources = ReadonlyMap<string, Unserved>;

export type UnservedPatch = Readonly<Record<string, Unserved | null>>;

/** The most entries of an engine. Every resource of a database that does not answer has one. */
const MOST_ENTRIES = 500;
const MOST_MESSAGE_CHARACTERS = 500;

/** Reads the entries from the stored state. Invalid ones are left out. */
export function readUnserved(state: unknown): UnservedResources {
  return recordsIn<Unserved>(state, 'unserved', ['manager', 'reason', 'message', 'since']);
}

type UnservedOptions = {
  readonly manager: string;
  readonly at: Date;
  /** Entries without an outcome are removed, because the outcomes are those of all resources. */
  readonly isWhole: boolean;
  /** True for reasons that the engine reports itself: an entry stays as it is meanwhile. */
  readonly isReported: (reason: Reason) => boolean;
};

/** Returns the changes that outcomes make to the entries of a manager. */
export function unservedChanges(
  outcomes: ReadonlyMap<string, { readonly reason: Reason; readonly message: string }>,
  before: UnservedResources,
  { manager, at, isWhole, isReported }: UnservedOptions,
): UnservedPatch {
  const changes: Record<string, Unserved | null> = {};
  for (const [name, { manager: of }] of before) {
    const reason = outcomes.get(name)?.reason;
    const isOver = reason === undefined ? isWhole : isServed(reason);
    if (of === manager && isOver) changes[name] = null;
  }
  let left = MOST_ENTRIES - before.size + Object.keys(changes).length;
  for (const [name, { reason, message }] of outcomes) {
    const known = before.get(name);
    // Two clusters may have resources of one name: they would replace each other's entry in turn, and each write starts the other's next pass.
    if (known && known.manager !== manager) continue;
    if (isServed(reason) || isReported(reason) || known?.reason === reason) continue;
    if (!known && left-- <= 0) continue;
    changes[name] = {
      ...{ manager, reason, since: at.toISOString() },
      message: message.slice(0, MOST_MESSAGE_CHARACTERS),
    };
  }
  return changes;
}

function isServed(reason: Reason): boolean {
  return reason === 'Applied' || reason === 'Applying';
}

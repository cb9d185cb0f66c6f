/** The operator's ledger, which it stores as its catalog state: which custom resource owns which object. In: the catalog state of the operator, any
 *  JSON. Out: entries by object key. A missing or malformed ledger owns nothing.
 *  Not here: writing the ledger (operator/objects/ledger.ts), what is answered from it (ownership.ts, warnings.ts). */
import { isRecord, type JsonRecord } from '../json/value.ts';
import { own } from '../metadata/own.ts';

/** An entry of the ledger as the operator writes it. */
export type OwnershipEntry = {
  readonly manager: string;
  /** The owner, as `Kind namespace/name`. */
  readonly cr: string;
  readonly generation?: unknown;
  readonly deletionPolicy?: unknown;
  readonly createdAt?: unknown;
  readonly revokedAt?: unknown;
  readonly isPruneHeld?: unknown;
};

export type OwnershipEntries = ReadonlyMap<string, OwnershipEntry>;

/** Returns the entry of an object; undefined when no custom resource owns it. */
export function entryOf(state: unknown, key: string): OwnershipEntry | undefined {
  const found = own(memberOf(state, 'objects'), key);
  return isEntry(found) ? found : undefined;
}

/** Returns all entries, in the order of the ledger. */
export function entriesIn(state: unknown): OwnershipEntries {
  return new Map(
    Object.entries(memberOf(state, 'objects')).filter((found): found is [string, OwnershipEntry] =>
      isEntry(found[1]),
    ),
  );
}

/** Returns a member of the operator's state, such as the notes that it stores with the ledger; empty when it is missing or malformed. */
export function memberOf(state: unknown, member: string): JsonRecord {
  const found = isRecord(state) ? own(state, member) : undefined;
  return isRecord(found) ? found : {};
}

function isEntry(value: unknown): value is OwnershipEntry {
  return isRecord(value) && typeof value['cr'] === 'string' && typeof value['manager'] === 'string';
}

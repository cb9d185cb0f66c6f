/** The ledger records which resource owns which metadata object. The engine stores it in the transaction of each write, so it always
 *  matches the document. In: the stored state. Out: entries, reservations, and patches of them.
 *  Not here: the decisions on owned objects (decide/decide.ts). */
import { withChanges } from '@pergola/engine/metadata';
import { type CustomResource, crName, type DeletionPolicy } from '../kinds.ts';
import type { NotesPatch } from './notes.ts';
import { memberOf } from './stored-records.ts';

export type LedgerEntry = {
  readonly manager: string;
  readonly uid: string;
  /** The owner, as `Kind namespace/name`. */
  readonly cr: string;
  /** The last generation of the resource that was applied with this object. */
  readonly generation: number;
  /** The hash of the object in normal form. */
  readonly hash: string;
  readonly deletionPolicy: DeletionPolicy;
  /** The time when the owner was created, in ISO 8601. Absent in entries of earlier versions. */
  readonly createdAt?: string;
  /** The time when an operator first noticed that the owner may no longer own the object, in ISO 8601. */
  readonly revokedAt?: string;
  /** True while the deletion of the object waits for a confirmation, because too many would have been deleted at once. */
  readonly isPruneHeld?: true;
};

/** The owners of metadata objects by key, for every manager. Exports of the metadata do not contain them. */
export type LedgerEntries = ReadonlyMap<string, LedgerEntry>;

/** A key that lost its owner. It may be reserved for the namespace of the owner, and its deletion may count for the prune guard. */
export type Reservation = {
  readonly manager: string;
  /** The last owner, as `Kind namespace/name`. */
  readonly cr: string;
  /** The time when the key was released, in ISO 8601. */
  readonly releasedAt: string;
  /** True when the object was deleted, and nobody confirmed that so many are. Absent: false. */
  readonly isCounted?: boolean;
};

/** The minutes for which the prune guard counts a deletion. Deletions of one accident may come one by one. */
export const COUNTED_MINUTES = 10;

/** True while the prune guard counts the deletion of the object that had the key. */
export function isCountedAt(at: Date, { isCounted, releasedAt }: Reservation): boolean {
  return isCounted === true && at.getTime() - Date.parse(releasedAt) < COUNTED_MINUTES * 60_000;
}

/** Reservations of every manager, by key. Stored with the ledger. */
export type Reservations = ReadonlyMap<string, Reservation>;

/** The ledger as one manager sees it. */
export type Ledger = {
  readonly manager: string;
  readonly objects: LedgerEntries;
  readonly reservations?: Reservations | undefined;
};

/** The fields that an entry may lose. A merge keeps fields that the patch does not name, so they are set to null. */
const OPTIONAL_FIELDS = ['revokedAt', 'isPruneHeld'] as const;
type OptionalField = (typeof OPTIONAL_FIELDS)[number];

export type LedgerPatchEntry = Omit<LedgerEntry, OptionalField> & {
  readonly [Field in OptionalField]?: LedgerEntry[Field] | null;
};

/** A JSON Merge Patch of the ledger and of the notes beside it: new and changed entries, and null for deleted ones. */
export type LedgerPatch = NotesPatch & {
  readonly manager: string;
  readonly objects: Readonly<Record<string, LedgerPatchEntry | null>>;
  /** Absent when none changes. */
  readonly reservations?: Readonly<Record<string, Reservation | null>>;
};

/** Reads the ledger from the stored state. An invalid state reads as an empty ledger: all objects then count as foreign. */
export function readLedger(state: unknown): LedgerEntries {
  const objects = memberOf(state, 'objects');
  return new Map(
    Object.entries(objects).filter((found): found is [string, LedgerEntry] => isEntry(found[1])),
  );
}

/** Reads the reservations of the same state. */
export function readReservations(state: unknown): Reservations {
  const reservations = memberOf(state, 'reservations');
  return new Map(
    Object.entries(reservations).filter((found): found is [string, Reservation] => isReservation(found[1])),
  );
}

/** Returns the reservations after the patch. */
export function patchedReservations(
  reservations: Reservations | undefined,
  { reservations: changes = {} }: LedgerPatch,
): Reservations {
  const after = new Map(reservations);
  for (const [key, reservation] of Object.entries(changes)) {
    if (reservation) after.set(key, reservation);
    else after.delete(key);
  }
  return after;
}

/** Returns the entries after the patch. */
export function patchedEntries(entries: LedgerEntries, { objects }: LedgerPatch): LedgerEntries {
  return withChanges(
    entries,
    Object.entries(objects).map(([key, entry]) => [key, entry ? withoutNull(entry) : undefined] as const),
  );
}

/** Returns the entry of the patch itself unless the patch removes a field: there are tens of thousands of entries. */
function withoutNull(entry: LedgerPatchEntry): LedgerEntry {
  if (isWhole(entry)) return entry;
  return Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== null),
  ) as unknown as LedgerEntry;
}

function isWhole(entry: LedgerPatchEntry): entry is LedgerEntry {
  return OPTIONAL_FIELDS.every((field) => entry[field] !== null);
}

/** True when the entry has the uid or the name of the resource. A restored cluster gives every resource a new uid. */
export function isOwnedBy(entry: LedgerEntry, cr: CustomResource, manager: string): boolean {
  return entry.manager === manager && (entry.uid === cr.metadata.uid || entry.cr === crName(cr));
}

/** An entry before and after a pass. */
export type EntryChange = {
  readonly key: string;
  /** The resource that claims the object, or else owns it, as `Kind namespace/name`. */
  readonly owner: string | undefined;
  readonly before: LedgerEntry | undefined;
  readonly after: LedgerEntry | undefined;
};

/** Returns the patch of the ledger; undefined when nothing changes. */
export function ledgerPatch(
  changes: readonly EntryChange[],
  reservations: NonNullable<LedgerPatch['reservations']>,
  manager: string,
): LedgerPatch | undefined {
  const changed = changes.filter(
    ({ before, after }) => !isSameEntry(before, after) || before?.generation !== after?.generation,
  );
  const areReserved = Object.keys(reservations).length > 0;
  // Reservations that end have no effect already: they leave with the next write.
  if (changed.length === 0 && Object.values(reservations).every((one) => one === null)) return undefined;
  return {
    manager,
    ...(areReserved ? { reservations } : {}),
    objects: Object.fromEntries(
      changed.map(({ key, before, after }) => [key, after ? patchEntry(before, after) : null]),
    ),
  };
}

function patchEntry(before: LedgerEntry | undefined, after: LedgerEntry): LedgerPatchEntry {
  const lost = OPTIONAL_FIELDS.filter((field) => before?.[field] !== undefined && after[field] === undefined);
  return lost.length === 0 ? after : { ...after, ...Object.fromEntries(lost.map((field) => [field, null])) };
}

export function isSameEntry(a: LedgerEntry | undefined, b: LedgerEntry | undefined): boolean {
  if (a === b) return true;
  const same = (field: keyof LedgerEntry) => a?.[field] === b?.[field];
  return (
    same('manager') &&
    same('uid') &&
    same('cr') &&
    same('hash') &&
    same('deletionPolicy') &&
    OPTIONAL_FIELDS.every(same)
  );
}

function isEntry(value: unknown): value is LedgerEntry {
  const entry = value as Partial<LedgerEntry> | null;
  return typeof entry?.manager === 'string' && typeof entry.cr === 'string' && typeof entry.hash === 'string';
}

function isReservation(value: unknown): value is Reservation {
  const found = value as Partial<Reservation> | null;
  return (
    typeof found?.manager === 'string' &&
    typeof found.cr === 'string' &&
    typeof found.releasedAt === 'string' &&
    !Number.isNaN(Date.parse(found.releasedAt))
  );
}

/** The ledger: which resource owns which metadata object. Stored by the engine in the transaction of the write, so that it
 *  cannot be wrong about it. In: what the engine stored. Out: entries, who an entry belongs to, what becomes of them.
 *  Not here: what becomes of owned objects (three-way.ts), the decisions (three-way.ts). */
import { isRecord } from '@pergola/engine/metadata';
import { type CustomResource, crName } from './kinds.ts';
import { withChanges } from './layered.ts';
import type {
  LedgerEntries,
  LedgerEntry,
  LedgerPatch,
  LedgerPatchEntry,
  Reservation,
  Reservations,
} from './ports.ts';
import type { Decision } from './three-way.ts';

/** Anything that is no ledger reads as an empty one: then everything that exists is somebody else's. */
export function readLedger(state: unknown): LedgerEntries {
  const objects = isRecord(state) && isRecord(state['objects']) ? state['objects'] : {};
  return new Map(
    Object.entries(objects).filter((found): found is [string, LedgerEntry] => isEntry(found[1])),
  );
}

/** Reads the reservations of the same state. */
export function readReservations(state: unknown): Reservations {
  const reservations = isRecord(state) && isRecord(state['reservations']) ? state['reservations'] : {};
  return new Map(
    Object.entries(reservations).filter((found): found is [string, Reservation] => isReservation(found[1])),
  );
}

/** The reservations with the patch made. */
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

/** The entries with the patch made. */
export function patched(entries: LedgerEntries, { objects }: LedgerPatch): LedgerEntries {
  return withChanges(
    entries,
    Object.entries(objects).map(([key, entry]) => [key, entry ? merged(entry) : undefined] as const),
  );
}

/** Returns the entry of the patch itself unless the patch removes a field: there are tens of thousands of entries. */
function merged(entry: LedgerPatchEntry): LedgerEntry {
  if (isWhole(entry)) return entry;
  const { revokedAt: _, ...rest } = entry;
  return rest;
}

function isWhole(entry: LedgerPatchEntry): entry is LedgerEntry {
  return entry.revokedAt !== null;
}

/** By identity, or by name: a restored cluster gives every resource a new uid. */
export function isOwnedBy(entry: LedgerEntry, cr: CustomResource, manager: string): boolean {
  return entry.manager === manager && (entry.uid === cr.metadata.uid || entry.cr === crName(cr));
}

/** What becomes of an entry. */
export type EntryChange = {
  readonly key: string;
  /** `Kind namespace/name` of who claims the object, or else owns it. */
  readonly owner: string;
  readonly before: LedgerEntry | undefined;
  readonly after: LedgerEntry | undefined;
};

/** What becomes of the ledger with a document: one change for each decision. `excluded` decisions were not made; of objects that
 *  are not `kept` in the document nothing is remembered, except where their absence is drift that policy leaves alone. */
export function entryChanges(
  decisions: readonly Decision[],
  excluded: ReadonlyMap<string, unknown>,
  kept: { readonly has: (key: string) => boolean },
  manager: string,
): readonly EntryChange[] {
  return decisions.map((decision) => {
    const { key, action, entry: before } = decision;
    const owner = ownerOf(decision);
    const entry = entryOf(decision, excluded.has(key), manager);
    const isLeftAlone = action === 'reportDrift' || action === 'ignoreDrift';
    return { key, owner, before, after: kept.has(key) || isLeftAlone ? entry : undefined };
  });
}

/** Undefined where nothing changes. A new generation that changed nothing here is not worth a write. */
export function ledgerPatch(
  changes: readonly EntryChange[],
  reservations: NonNullable<LedgerPatch['reservations']>,
  manager: string,
): LedgerPatch | undefined {
  const changed = changes.filter(({ before, after }) => !isSameEntry(before, after));
  const areReserved = Object.keys(reservations).length > 0;
  if (changed.length === 0 && !areReserved) return undefined;
  return {
    manager,
    ...(areReserved ? { reservations } : {}),
    objects: Object.fromEntries(
      changed.map(({ key, before, after }) => [key, after ? patchEntry(before, after) : null]),
    ),
  };
}

/** A merge keeps what a patch does not name: a revocation that is over is removed with null. */
function patchEntry(before: LedgerEntry | undefined, after: LedgerEntry): LedgerPatchEntry {
  return before?.revokedAt !== undefined && after.revokedAt === undefined
    ? { ...after, revokedAt: null }
    : after;
}

function isSameEntry(a: LedgerEntry | undefined, b: LedgerEntry | undefined): boolean {
  if (a === b) return true;
  const same = (field: keyof LedgerEntry) => a?.[field] === b?.[field];
  return (
    same('manager') &&
    same('uid') &&
    same('cr') &&
    same('hash') &&
    same('deletionPolicy') &&
    same('revokedAt')
  );
}

/** `Kind namespace/name` of the resource a decision is about. */
export function ownerOf({ claim, entry }: Decision): string {
  return claim ? crName(claim.cr) : (entry?.cr ?? '');
}

function entryOf(decision: Decision, isExcluded: boolean, manager: string): LedgerEntry | undefined {
  if (isExcluded) return decision.entry;
  switch (decision.action) {
    case 'create':
    case 'update':
    case 'correct':
    case 'adopt':
    case 'own':
    case 'unchanged':
      return newEntry(decision, manager);
    case 'reportDrift':
    case 'ignoreDrift':
      return decision.entry;
    case 'hold':
      return heldEntry(decision);
    case 'refuseAdoption':
    case 'delete':
    case 'forget':
      return undefined;
  }
}

/** The entry with the time of its revocation, or without one. */
function heldEntry({ entry, revocation }: Decision): LedgerEntry | undefined {
  if (!entry || entry.revokedAt === revocation?.since) return entry;
  const { revokedAt: _, ...rest } = entry;
  return revocation ? { ...rest, revokedAt: revocation.since } : rest;
}

/** The entry there is, where it says the same: most of a ledger. */
function newEntry({ claim, entry }: Decision, manager: string): LedgerEntry {
  const { cr, hash, policies } = claim!;
  const { uid, generation } = cr.metadata;
  const made = { manager, uid, cr: crName(cr), generation, hash, deletionPolicy: policies.deletion };
  return entry && isSameEntry(made, entry) && entry.generation === generation ? entry : made;
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

/** The ledger: which resource owns which metadata object. Stored by the engine in the transaction of the write, so that it
 *  cannot be wrong about it. In: what the engine stored. Out: entries, who an entry belongs to, the next ledger.
 *  Not here: what becomes of owned objects (three-way.ts), the decisions (three-way.ts). */
import type { Claim } from './desired.ts';
import { type CustomResource, crName } from './kinds.ts';
import type { Ledger, LedgerEntry } from './ports.ts';
import type { Decision } from './three-way.ts';

/** Anything that is no ledger reads as an empty one: then everything that exists is somebody else's. */
export function readLedger(state: unknown, manager: string): Ledger {
  const objects = (state as Partial<Ledger> | null | undefined)?.objects;
  if (typeof objects !== 'object' || objects === null) return { manager, objects: {} };
  const entries = Object.entries(objects).filter(([, entry]) => isEntry(entry));
  return { manager, objects: Object.fromEntries(entries) };
}

/** By identity, or by name: a restored cluster gives every resource a new uid. */
export function isOwnedBy(entry: LedgerEntry, cr: CustomResource, manager: string): boolean {
  return entry.manager === manager && (entry.uid === cr.metadata.uid || entry.cr === crName(cr));
}

/** The ledger that goes with a document. `excluded` decisions were not made; of objects that are not `kept` in the document
 *  nothing is remembered, except where their absence is drift that policy leaves alone. */
export function nextLedger(
  ledger: Ledger,
  decisions: readonly Decision[],
  excluded: ReadonlySet<string>,
  kept: ReadonlySet<string>,
): Ledger {
  const others = Object.entries(ledger.objects).filter(([, entry]) => entry.manager !== ledger.manager);
  const ours = decisions.flatMap((decision): [string, LedgerEntry][] => {
    const entry = entryOf(decision, excluded.has(decision.key), ledger.manager);
    const isLeftAlone = decision.action === 'reportDrift' || decision.action === 'ignoreDrift';
    return entry && (kept.has(decision.key) || isLeftAlone) ? [[decision.key, entry]] : [];
  });
  return { manager: ledger.manager, objects: Object.fromEntries([...others, ...ours]) };
}

/** Same owners, same fragments. A new generation that changed nothing here is not worth a write. */
export function isSameLedger(a: Ledger, b: Ledger): boolean {
  const keys = Object.keys(a.objects);
  return (
    keys.length === Object.keys(b.objects).length &&
    keys.every((key) => isSameEntry(a.objects[key]!, b.objects[key]))
  );
}

function isSameEntry(a: LedgerEntry, b: LedgerEntry | undefined): boolean {
  const same = (field: keyof LedgerEntry) => a[field] === b?.[field];
  return same('manager') && same('uid') && same('cr') && same('hash') && same('deletionPolicy');
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
      return newEntry(decision.claim!, manager);
    case 'reportDrift':
    case 'ignoreDrift':
    case 'hold':
      return decision.entry;
    case 'refuseAdoption':
    case 'delete':
    case 'forget':
      return undefined;
  }
}

function newEntry({ cr, hash, policies }: Claim, manager: string): LedgerEntry {
  const { uid, generation } = cr.metadata;
  return { manager, uid, cr: crName(cr), generation, hash, deletionPolicy: policies.deletion };
}

function isEntry(value: unknown): value is LedgerEntry {
  const entry = value as Partial<LedgerEntry> | null;
  return typeof entry?.manager === 'string' && typeof entry.cr === 'string' && typeof entry.hash === 'string';
}

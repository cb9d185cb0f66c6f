/** The ledger: which resource owns which metadata object. Stored by the engine in the transaction of the write, so that it
 *  cannot be wrong about it. In: what the engine stored. Out: entries, who an entry belongs to, the next ledger.
 *  Not here: what becomes of owned objects (three-way.ts), the decisions (three-way.ts). */
import { type CustomResource, crName } from './kinds.ts';
import type { Ledger, LedgerEntry, LedgerPatch } from './ports.ts';
import type { Decision } from './three-way.ts';

const entriesBefore = new WeakMap<object, Ledger['objects']>();

/** Anything that is no ledger reads as an empty one: then everything that exists is somebody else's. */
export function readLedger(state: unknown, manager: string): Ledger {
  const objects = (state as Partial<Ledger> | null | undefined)?.objects;
  if (typeof objects !== 'object' || objects === null) return { manager, objects: {} };
  const known = entriesBefore.get(objects) ?? entriesIn(objects);
  entriesBefore.set(objects, known);
  return { manager, objects: known };
}

function entriesIn(objects: Ledger['objects']): Ledger['objects'] {
  if (Object.values(objects).every(isEntry)) return objects;
  return Object.fromEntries(Object.entries(objects).filter(([, entry]) => isEntry(entry)));
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

/** What makes `after` of `before`; undefined where they say the same. A new generation that changed nothing here is not
 *  worth a write. */
export function ledgerPatch(before: Ledger, after: Ledger): LedgerPatch | undefined {
  const gone = Object.keys(before.objects).filter((key) => !Object.hasOwn(after.objects, key));
  const changed = Object.entries(after.objects).filter(
    ([key, entry]) => !isSameEntry(entry, before.objects[key]),
  );
  if (gone.length + changed.length === 0) return undefined;
  const objects = { ...Object.fromEntries(gone.map((key) => [key, null])), ...Object.fromEntries(changed) };
  return { manager: after.manager, objects };
}

function isSameEntry(a: LedgerEntry, b: LedgerEntry | undefined): boolean {
  if (a === b) return true;
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
      return newEntry(decision, manager);
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

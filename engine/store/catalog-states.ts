/** What clients keep beside the document. The operator's state, its ledger, has an entry for every object it owns, and each of its
 *  writes changes some: it is put together when somebody reads it, which the engine itself seldom does.
 *  In: states and patches. Out: states. Not here: storing them (changes.ts, store.ts). */
import { isRecord } from '../json/value.ts';
import { mergePatch, mergePatches } from '../metadata/merge-patch.ts';

/** Opaque JSON of clients, kept beside the document: the command line, the console, the operator's ledger. */
export type CatalogStates = {
  readonly cli: unknown;
  readonly console: unknown;
  readonly operator: unknown;
};

/** What the operator's state is made of, as long as nobody has read it. */
type Pending = { readonly from: Pick<CatalogStates, 'operator'>; readonly patches: readonly unknown[] };

const pendings = new WeakMap<CatalogStates, Pending>();

/** So many are not left to whoever reads it. */
const MOST_PENDING = 500;

/** The states with JSON Merge Patches of the operator's, one after the other. */
export function patchStates(states: CatalogStates, patches: readonly unknown[]): CatalogStates {
  const pending = pendingOf(states);
  return unread(states, { ...pending, patches: [...pending.patches, ...patches] });
}

/** The states with those that are given in their place. */
export function setStates(states: CatalogStates, set: Partial<CatalogStates>): CatalogStates {
  const { cli, console } = states;
  const from = Object.hasOwn(set, 'operator') ? { operator: set.operator } : undefined;
  return unread({ cli, console, ...set }, from ? { from, patches: [] } : pendingOf(states));
}

/** Would the operator's state be another with the patch? Looks only at what the patch speaks of. */
export function changesOperator(states: CatalogStates, patch: unknown): boolean {
  const { from, patches } = pendingOf(states);
  const only = (value: unknown) => onlyOf(value, patch);
  const now = mergePatches(only(from.operator), patches.map(only));
  return mergePatch(now, patch) !== now;
}

function unread({ cli, console }: Omit<CatalogStates, 'operator'>, given: Pending): CatalogStates {
  const isMuch = given.patches.length > MOST_PENDING;
  const pending = isMuch ? { from: { operator: merged(given) }, patches: [] } : given;
  const states: CatalogStates = {
    cli,
    console,
    get operator() {
      const operator = merged(pending);
      Object.defineProperty(states, 'operator', { value: operator, enumerable: true });
      pendings.delete(states);
      return operator;
    },
  };
  pendings.set(states, pending);
  return states;
}

function merged({ from, patches }: Pending): unknown {
  return mergePatches(from.operator, patches);
}

function pendingOf(states: CatalogStates): Pending {
  return pendings.get(states) ?? { from: states, patches: [] };
}

/** A value without the keys a patch says nothing about. */
function onlyOf(value: unknown, patch: unknown): unknown {
  if (!isRecord(value) || !isRecord(patch)) return value;
  const keys = Object.keys(patch).filter((key) => Object.hasOwn(value, key));
  return Object.fromEntries(keys.map((key) => [key, onlyOf(value[key], patch[key])]));
}

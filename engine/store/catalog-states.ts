/** States that clients store beside the document. The operator's state, its ledger, has an entry for every object it owns, and each
 *  of its writes patches a few of them. Patches are merged only when the state is read, which the engine itself rarely does.
 *  In: states and patches. Out: states. Not here: storing them (changes.ts, store.ts). */
import { isRecord } from '../json/value.ts';
import { mergePatch, mergePatches } from '../metadata/merge-patch.ts';

/** Opaque JSON of three clients: the command line, the console, and the operator with its ledger. */
export type CatalogStates = {
  readonly cli: unknown;
  readonly console: unknown;
  readonly operator: unknown;
};

/** The operator's state as a base and patches that are not merged yet. */
type Pending = { readonly from: Pick<CatalogStates, 'operator'>; readonly patches: readonly unknown[] };

const pendings = new WeakMap<CatalogStates, Pending>();

/** Above this number of patches they are merged immediately. */
const MOST_PENDING = 500;

/** Returns the states with JSON Merge Patches applied to the operator's state, in order. */
export function patchStates(states: CatalogStates, patches: readonly unknown[]): CatalogStates {
  const pending = pendingOf(states);
  return unread(states, { ...pending, patches: [...pending.patches, ...patches] });
}

/** Returns the states with the given ones replaced. */
export function setStates(states: CatalogStates, set: Partial<CatalogStates>): CatalogStates {
  const { cli, console } = states;
  const from = Object.hasOwn(set, 'operator') ? { operator: set.operator } : undefined;
  return unread({ cli, console, ...set }, from ? { from, patches: [] } : pendingOf(states));
}

/** True when the patch changes the operator's state. Looks only at the keys that the patch names. */
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

/** Returns the value without keys that the patch does not name. */
function onlyOf(value: unknown, patch: unknown): unknown {
  if (!isRecord(value) || !isRecord(patch)) return value;
  const keys = Object.keys(patch).filter((key) => Object.hasOwn(value, key));
  return Object.fromEntries(keys.map((key) => [key, onlyOf(value[key], patch[key])]));
}

/** Records by name that the operator stores with the ledger, for the console of the engine. In: the stored state, patches. Out: records.
 *  Pure. Not here: the records (notes.ts). */
import { isRecord } from '@pergola/engine/metadata';

/** Returns a member of the stored state; empty when it is missing or malformed. */
export function memberOf(state: unknown, member: string): Readonly<Record<string, unknown>> {
  return isRecord(state) && isRecord(state[member]) ? state[member] : {};
}

/** Reads the records in a member of the stored state. Invalid ones are left out. A valid one has a text in each of the fields. */
export function recordsIn<T>(
  state: unknown,
  member: string,
  fields: readonly (keyof T & string)[],
): ReadonlyMap<string, T> {
  const isValid = (value: unknown) =>
    isRecord(value) && fields.every((field) => typeof value[field] === 'string');
  return new Map(
    Object.entries(memberOf(state, member)).filter((entry): entry is [string, never] => isValid(entry[1])),
  );
}

/** Returns the records after the patch, in which null removes one. */
export function patchedRecords<T>(
  before: ReadonlyMap<string, T> | undefined,
  patch?: Readonly<Record<string, T | null>>,
): ReadonlyMap<string, T> {
  if (before && !patch) return before;
  const after = new Map(before);
  for (const [name, record] of Object.entries(patch ?? {})) {
    if (record) after.set(name, record);
    else after.delete(name);
  }
  return after;
}

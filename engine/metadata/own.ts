/** Look-ups in records by a key that a client or the metadata has chosen. */

/** Returns the own member of a record. `constructor` and other names that every object inherits are not found. */
export function own<T>(record: Readonly<Record<string, T>> | null | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

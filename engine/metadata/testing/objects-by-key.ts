/** Objects for tests, written as definitions by key. Pure. */
import { type MetadataObject, parentKeyOf, parseKey } from '../objects.ts';

export function objectsByKey(
  ...given: readonly Readonly<Record<string, unknown>>[]
): ReadonlyMap<string, MetadataObject> {
  return new Map(
    Object.entries(Object.assign({}, ...given) as object).map(([key, definition]) => {
      return [key, { key, kind: parseKey(key)!.kind, parent: parentKeyOf(key), definition }];
    }),
  );
}

/** Returns the keys of the objects that differ. */
export function differingKeys(
  before: ReadonlyMap<string, MetadataObject>,
  after: ReadonlyMap<string, MetadataObject>,
): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => JSON.stringify(before.get(key)) !== JSON.stringify(after.get(key)),
  );
}

/** Compares two readings of a catalog. Pure, in steps, because a catalog has thousands of tables. Not here: what a difference means
 *  (catalog/changes.ts), noticing one without reading the catalog (catalog/fingerprint.ts). */
import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '../catalog/types.ts';
import type { Steps } from '../metadata/steps.ts';

/** The members that say how and when the catalog was read. */
const OF_THE_READING: ReadonlySet<string> = new Set([
  'fingerprints',
  'lost',
  'awaits',
] satisfies (keyof Catalog)[]);

/** Returns true when nothing else differs, and the first was not in doubt. The first may know more native queries: the second has tried
 *  those of the metadata. */
export function* isSameCatalog(before: Catalog, after: Catalog): Steps<boolean> {
  if (before.lost !== undefined || before.awaits !== undefined) return false;
  const members = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof Catalog)[]);
  for (const member of members) {
    if (OF_THE_READING.has(member)) continue;
    const [old, now] = [member === 'preparedQueries' ? tried(before, after) : before[member], after[member]];
    const isSame = isMap(old) && isMap(now) ? yield* areSameMaps(old, now) : isDeepStrictEqual(old, now);
    if (!isSame) return false;
  }
  return true;
}

function tried(
  { preparedQueries: before }: Catalog,
  { preparedQueries: after }: Catalog,
): Catalog['preparedQueries'] {
  return new Map([...before].filter(([signature]) => after.has(signature)));
}

function* areSameMaps(old: ReadonlyMap<string, unknown>, now: ReadonlyMap<string, unknown>): Steps<boolean> {
  if (old.size !== now.size) return false;
  for (const [key, value] of now) {
    if (!old.has(key) || !isDeepStrictEqual(old.get(key), value)) return false;
    yield;
  }
  return true;
}

function isMap(value: unknown): value is ReadonlyMap<string, unknown> {
  return value instanceof Map;
}

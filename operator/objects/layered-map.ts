/** An immutable map of thousands of entries that changes by a few at a time: a large map below, what has changed since above it, so
 *  that the next one costs what the change does and not what the map holds.
 *  In: any map, changes. Out: a map. Pure. */

/** By key what it is now; undefined: it is gone. */
export type Changes<V> = Iterable<readonly [string, V | undefined]>;

/** Above it the two become one again: copying what is above would cost more. */
const MOST_ABOVE = 512;

/** Keys that stay keep their place, new ones follow. */
export function withChanges<V>(map: ReadonlyMap<string, V>, changes: Changes<V>): ReadonlyMap<string, V> {
  const isLayered = map instanceof Layered;
  const above = new Map<string, V | undefined>(isLayered ? map.above : []);
  for (const [key, value] of changes) above.set(key, value);
  const layered = new Layered<V>(isLayered ? map.below : map, above);
  return above.size <= MOST_ABOVE ? layered : new Map(layered);
}

class Layered<V> implements ReadonlyMap<string, V> {
  readonly below: ReadonlyMap<string, V>;
  readonly above: ReadonlyMap<string, V | undefined>;
  readonly size: number;

  constructor(below: ReadonlyMap<string, V>, above: ReadonlyMap<string, V | undefined>) {
    this.below = below;
    this.above = above;
    this.size = [...above].reduce(
      (size, [key, value]) => size + Number(value !== undefined) - Number(below.has(key)),
      below.size,
    );
  }

  get(key: string): V | undefined {
    return this.above.has(key) ? this.above.get(key) : this.below.get(key);
  }

  has(key: string): boolean {
    return this.above.has(key) ? this.above.get(key) !== undefined : this.below.has(key);
  }

  *entries(): MapIterator<[string, V]> {
    for (const [key, value] of this.below) {
      const now = this.above.has(key) ? this.above.get(key) : value;
      if (now !== undefined) yield [key, now];
    }
    for (const [key, value] of this.above) {
      if (value !== undefined && !this.below.has(key)) yield [key, value];
    }
  }

  *keys(): MapIterator<string> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[string, V]> {
    return this.entries();
  }

  forEach(visit: (value: V, key: string, map: ReadonlyMap<string, V>) => void): void {
    for (const [key, value] of this.entries()) visit(value, key, this);
  }
}

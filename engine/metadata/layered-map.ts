/** A map of thousands of entries that changes by a few at a time: changes lie above a large map that stays as it is, so a copy
 *  costs what has changed and not what the map holds. In: any map, changes. Out: a map. Pure. */

/** The new value of each key; undefined removes the key. */
export type Changes<V> = Iterable<readonly [string, V | undefined]>;

/** Returns the map with changes. Keys that are kept stay in their position, new ones follow. */
export function withChanges<V>(map: ReadonlyMap<string, V>, changes: Changes<V>): ReadonlyMap<string, V> {
  const changed = map instanceof LayeredMap ? (map as LayeredMap<V>).copy() : new LayeredMap(map);
  for (const [key, value] of changes) {
    if (value === undefined) changed.delete(key);
    else changed.set(key, value);
  }
  return changed;
}

export class LayeredMap<V> implements ReadonlyMap<string, V> {
  #below: ReadonlyMap<string, V>;
  /** The changes. A key with undefined is removed. */
  #above: Map<string, V | undefined>;

  constructor(
    below: ReadonlyMap<string, V> = new Map(),
    above: ReadonlyMap<string, V | undefined> = new Map(),
  ) {
    this.#below = below;
    this.#above = new Map(above);
  }

  get size(): number {
    let { size } = this.#below;
    for (const [key, value] of this.#above)
      size += Number(value !== undefined) - Number(this.#below.has(key));
    return size;
  }

  get(key: string): V | undefined {
    const value = this.#above.get(key);
    return value !== undefined || this.#above.has(key) ? value : this.#below.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Sets a value. One that is below is no change, so what is removed and added again leaves nothing to copy. */
  set(key: string, value: V): void {
    if (this.#below.get(key) === value) this.#above.delete(key);
    else this.#above.set(key, value);
  }

  delete(key: string): void {
    if (this.#below.has(key)) this.#above.set(key, undefined);
    else this.#above.delete(key);
  }

  /** Returns a map with the same entries that changes on its own. More than some changes become part of the map below, here and in the
   *  copy: their number grows with the root of its size, where copying changes and copying the whole map now and then cost the same. */
  copy(): LayeredMap<V> {
    if (this.#above.size > 512 + 8 * Math.sqrt(this.#below.size)) this.#merge();
    return new LayeredMap(this.#below, this.#above);
  }

  #merge(): void {
    const all = new Map(this.#below);
    for (const [key, value] of this.#above) {
      if (value === undefined) all.delete(key);
      else all.set(key, value);
    }
    [this.#below, this.#above] = [all, new Map()];
  }

  *entries(): MapIterator<[string, V]> {
    const [below, above] = [this.#below, this.#above];
    for (const [key, value] of below) {
      const current = above.has(key) ? above.get(key) : value;
      if (current !== undefined) yield [key, current];
    }
    for (const [key, value] of above) {
      if (value !== undefined && !below.has(key)) yield [key, value];
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

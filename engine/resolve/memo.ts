/** What was made of an object before, as long as everything it was made from is the same: an edit changes one table of a
 *  thousand, and resolving all of them anew takes longer than the edit should.
 *  What a result rests on is noted while it is made: `from`, and each look-up in the maps it was given. Sameness is identity,
 *  which immutable documents and catalogs have. Forgotten with the object. Not here: which stages remember (stages.ts). */
import type { Inconsistencies } from './inconsistency.ts';

/** A map that is only asked for single values. */
export type Lookup<T> = Pick<ReadonlyMap<string, T>, 'get'>;

type Made<V> = {
  readonly from: readonly unknown[];
  readonly reads: readonly (readonly [map: number, key: string, value: unknown])[];
  readonly value: V;
};

export class Memo<K extends object, T, V> {
  readonly #made = new WeakMap<K, Made<V>>();

  /** A result that leaves something out is made again each time: who asks wants to hear of it. */
  of(
    key: K,
    from: readonly unknown[],
    maps: readonly Lookup<T>[],
    found: Inconsistencies,
    make: (...maps: readonly Lookup<T>[]) => V,
  ): V {
    const known = this.#made.get(key);
    if (known && isStill(known, from, maps)) return known.value;
    const reads: [number, string, unknown][] = [];
    const noted = maps.map((map, i) => ({
      get: (name: string) => {
        const value = map.get(name);
        reads.push([i, name, value]);
        return value;
      },
    }));
    const before = found.all.length;
    const value = make(...noted);
    if (found.all.length === before) this.#made.set(key, { from, reads, value });
    return value;
  }
}

function isStill(made: Made<unknown>, from: readonly unknown[], maps: readonly Lookup<unknown>[]): boolean {
  return (
    made.from.every((part, i) => part === from[i]) &&
    made.reads.every(([map, name, value]) => maps[map]!.get(name) === value)
  );
}

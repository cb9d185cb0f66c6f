/** A bounded map: the entry that was used least recently is removed first. It relies on the order of insertion that a Map keeps.
 *  Not here: caches, which share a budget in bytes (cache-budget.ts). */

export class Lru<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #most: number;

  /** `most` is the maximum number of entries. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#most) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }
}

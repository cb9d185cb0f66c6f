/** A bounded memo: what was used least recently is forgotten first. Entries may weigh differently.
 *  Rests on a Map keeping the order of insertion. */

export class Lru<K, V> {
  readonly #entries = new Map<K, { readonly value: V; readonly weight: number }>();
  readonly #most: number;
  #weight = 0;

  /** `most` is the greatest total weight kept. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** An entry heavier than everything that may be kept is not kept at all. */
  set(key: K, value: V, weight = 1): void {
    this.#remove(key);
    if (weight > this.#most) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#most) return;
      this.#remove(oldest);
    }
  }

  #remove(key: K): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}

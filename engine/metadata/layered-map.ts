/** A map over another that it leaves as it is: what is the same for hundreds of thousands of names is shared, and only what differs
 *  is its own. Pure. Not here: what is in it (conflicts.ts). */

export class LayeredMap<V> {
  readonly #under: ReadonlyMap<string, V>;
  /** Undefined: not there, although it is below. */
  readonly #over: Map<string, V | undefined>;

  constructor(
    under: ReadonlyMap<string, V> = new Map(),
    over: ReadonlyMap<string, V | undefined> = new Map(),
  ) {
    this.#under = under;
    this.#over = new Map(over);
  }

  get(key: string): V | undefined {
    const own = this.#over.get(key);
    return own !== undefined || this.#over.has(key) ? own : this.#under.get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: V): void {
    this.#over.set(key, value);
  }

  delete(key: string): void {
    this.#over.set(key, undefined);
  }

  /** The same, to be changed without this one. What much is said about goes below, to be shared. */
  copy(): LayeredMap<V> {
    if (this.#over.size <= MOST_COPIED) return new LayeredMap(this.#under, this.#over);
    const all = new Map(this.#under);
    for (const [key, value] of this.#over) {
      if (value === undefined) all.delete(key);
      else all.set(key, value);
    }
    return new LayeredMap(all);
  }
}

const MOST_COPIED = 5000;

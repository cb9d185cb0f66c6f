/** The memory of caches: one budget in bytes for all caches of the process. A cache belongs to something that ends, such as a model.
 *  In: values with their size and the time that it took to get them. Out: the values, until the budget needs their bytes.
 *  When the budget is exceeded, it removes, of the values that were not used for longest, the one that saves the least time per byte.
 *  Not here: which values are cached and what they weigh (the caches). */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** The share of the heap limit, and of the memory of the container, that caches may take. */
const SHARE = 8;
/** The limit on a large machine: some 10,000 plans of ordinary size, or the introspection of the three largest roles. */
const MOST_BYTES = 96 * 2 ** 20;
/** The number of least recently used values of which one is removed. */
const CANDIDATES = 8;

/** The cost and the benefit of a cached value. */
export type CacheWeight = {
  /** The estimated bytes of the value and its key. */
  readonly bytes: number;
  /** The time that it took to get the value, which a hit saves. */
  readonly milliseconds: number;
};

/** A value in the ring of all values of a budget, which is in the order of their last use. */
class Entry {
  next: Entry = this;
  previous: Entry = this;
  readonly value: unknown;
  readonly weight: CacheWeight;
  /** Removes the value from its cache. */
  readonly remove: () => void;

  constructor(value: unknown, weight: CacheWeight, remove: () => void) {
    this.value = value;
    this.weight = weight;
    this.remove = remove;
  }

  insertAfter(other: Entry): void {
    this.next = other.next;
    this.previous = other;
    other.next.previous = this;
    other.next = this;
  }

  unlink(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
  }
}

/** The number of values that caches of one kind hold, and their bytes. */
export type CacheSize = { entries: number; bytes: number };

export class CacheBudget {
  readonly mostBytes: number;
  /** The values of each kind of cache. */
  readonly sizes = new Map<string, CacheSize>();
  /** The start of the ring: the most recently used value is next to it, the least recently used one previous to it. */
  readonly #ring = new Entry(null, { bytes: 0, milliseconds: 0 }, () => {});
  #bytes = 0;

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Marks a value as used last. This is part of every hit, so it only relinks. */
  touch(entry: Entry): void {
    entry.unlink();
    entry.insertAfter(this.#ring);
  }

  add(entry: Entry, size: CacheSize): void {
    entry.insertAfter(this.#ring);
    this.#count(entry, size, 1);
    // The new value is not a candidate: it was used last, and no other value is left before it is alone.
    while (this.#bytes > this.mostBytes) this.#leastValuable(entry).remove();
  }

  delete(entry: Entry, size: CacheSize): void {
    entry.unlink();
    this.#count(entry, size, -1);
  }

  #count({ weight }: Entry, size: CacheSize, sign: 1 | -1): void {
    this.#bytes += sign * weight.bytes;
    size.bytes += sign * weight.bytes;
    size.entries += sign;
  }

  #leastValuable(newest: Entry): Entry {
    let least = this.#ring.previous;
    let candidate = least;
    for (let i = 1; i < CANDIDATES; i++) {
      candidate = candidate.previous;
      if (candidate === newest) break;
      if (savedPerByte(candidate) < savedPerByte(least)) least = candidate;
    }
    return least;
  }
}

function savedPerByte({ weight }: Entry): number {
  return weight.milliseconds / weight.bytes;
}

/** A cache of one kind of values, within a budget and optionally a limit of its own. */
export class Cache<K, V> {
  readonly #entries = new Map<K, Entry>();
  readonly #budget: CacheBudget;
  readonly #mostBytes: number;
  /** The size of all caches of this kind. */
  readonly #size: CacheSize;
  #bytes = 0;
  #hasEnded = false;

  constructor(kind: string, budget: CacheBudget = SHARED_BUDGET, mostBytes = budget.mostBytes) {
    this.#budget = budget;
    this.#mostBytes = Math.min(mostBytes, budget.mostBytes);
    this.#size = budget.sizes.get(kind) ?? { entries: 0, bytes: 0 };
    budget.sizes.set(kind, this.#size);
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#budget.touch(entry);
    return entry.value as V;
  }

  /** Caches a value. A value that is larger than a limit is not cached, and neither is any after the end of the cache. */
  set(key: K, value: V, weight: CacheWeight): void {
    this.#entries.get(key)?.remove();
    if (this.#hasEnded || weight.bytes > this.#mostBytes) return;
    const entry: Entry = new Entry(value, weight, () => this.#delete(key, entry));
    this.#entries.set(key, entry);
    this.#bytes += weight.bytes;
    this.#budget.add(entry, this.#size);
    for (const oldest of this.#entries.values()) {
      if (this.#bytes <= this.#mostBytes) return;
      oldest.remove();
    }
  }

  /** Removes all values, for good: what the cache belongs to has ended, although requests that began before may still use it. */
  end(): void {
    this.#hasEnded = true;
    for (const entry of this.#entries.values()) entry.remove();
  }

  #delete(key: K, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.weight.bytes;
    this.#budget.delete(entry, this.#size);
  }
}

/** Returns the bytes of memory that the process may take: those of its container, or of the machine. */
export function availableBytes(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
}

/** Returns the bytes that caches may take in this process. Long texts are outside of the heap, so the memory of the container counts, too. */
export function cacheBytes(heap = getHeapStatistics().heap_size_limit, memory = availableBytes()): number {
  return Math.floor(Math.min(heap / SHARE, memory / SHARE, MOST_BYTES));
}

/** The budget of all caches of the process. */
export const SHARED_BUDGET = new CacheBudget(cacheBytes());

/** The bytes that wait to be sent, over all connections of the process. A client that does not read is disconnected:
 *  when its queue stays full, or when all queues together exceed the budget and its queue is among the longest.
 *  Checked every second.
 *  Not here: what is sent (respond.ts, websocket/connection.ts). */
import { getHeapStatistics } from 'node:v8';
import { availableBytes } from '../../limits/cache-budget.ts';

export type SendQueue = {
  /** The number of bytes that wait for this client. */
  readonly bytes: number;
  cut(limit: 'slow client' | 'queued bytes'): void;
};

type QueueLimits = {
  /** The length from which a queue counts as full. */
  readonly fullBytes: number;
  readonly timeoutMs: number;
  /** The most bytes in all queues together; undefined means a fraction of the memory. */
  readonly maxBytes: number | undefined;
};

/** A full queue may last for its timeout, plus a second for each of these bytes. */
const MIN_BYTES_PER_SECOND = 128 * 1024;
/** The length from which a queue counts as full while all queues together exceed the budget. */
const SHORT_BYTES = 64 * 1024;
const CHECK_MS = 1000;
const HEAP_SHARE = 4;
const MEMORY_SHARE = 8;

/** The state of a queue that was long at the last check. */
type Waiting = {
  /** When the queue became full, and its greatest length since then. */
  fullSince: number | null;
  longest: number;
};

export class SendQueues {
  readonly #limits: QueueLimits;
  readonly #maxBytes: number;
  readonly #queues = new Set<SendQueue>();
  readonly #groups: Iterable<SendQueue>[] = [this.#queues];
  #waiting = new Map<SendQueue, Waiting>();
  readonly #timer: NodeJS.Timeout;
  #isTight = false;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#maxBytes = limits.maxBytes ?? defaultBytes();
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  /** Adds all queues that are in `group` at a time. */
  addAll(group: Iterable<SendQueue>): void {
    this.#groups.push(group);
  }

  add(queue: SendQueue): void {
    this.#queues.add(queue);
  }

  remove(queue: SendQueue): void {
    this.#queues.delete(queue);
  }

  /** The length from which a client receives no more for now. */
  get fullBytes(): number {
    return this.#isTight ? Math.min(SHORT_BYTES, this.#limits.fullBytes) : this.#limits.fullBytes;
  }

  get totalBytes(): number {
    let total = 0;
    for (const { bytes } of this.#all()) total += bytes;
    return total;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  *#all(): Iterable<SendQueue> {
    for (const group of this.#groups) yield* group;
  }

  #check(): void {
    const now = performance.now();
    const before = this.#waiting;
    this.#waiting = new Map();
    const waiting: (readonly [SendQueue, number])[] = [];
    let total = 0;
    for (const queue of this.#all()) {
      const { bytes } = queue;
      total += bytes;
      if (bytes <= Math.min(SHORT_BYTES, this.#limits.fullBytes)) continue;
      const known = before.get(queue);
      const state = known ?? { fullSince: null, longest: 0 };
      this.#waiting.set(queue, state);
      if (this.#isTooSlow(state, bytes, now)) {
        total -= bytes;
        this.#cut(queue, 'slow client');
      } else if (known && bytes > SHORT_BYTES) waiting.push([queue, bytes]);
    }
    this.#isTight = total > this.#maxBytes;
    waiting.sort(([, one], [, other]) => other - one);
    for (const [queue, bytes] of waiting) {
      if (total <= this.#maxBytes) return;
      total -= bytes;
      this.#cut(queue, 'queued bytes');
    }
  }

  #isTooSlow(queue: Waiting, bytes: number, now: number): boolean {
    if (bytes <= this.#limits.fullBytes) {
      queue.fullSince = null;
      queue.longest = 0;
      return false;
    }
    queue.fullSince ??= now;
    queue.longest = Math.max(queue.longest, bytes);
    return now - queue.fullSince > this.#limits.timeoutMs + (queue.longest / MIN_BYTES_PER_SECOND) * 1000;
  }

  #cut(queue: SendQueue, limit: 'slow client' | 'queued bytes'): void {
    this.#queues.delete(queue);
    this.#waiting.delete(queue);
    queue.cut(limit);
  }
}

/** Returns the default budget. Waiting text is in the heap, waiting bytes are outside it. */
function defaultBytes(): number {
  return Math.floor(
    Math.min(getHeapStatistics().heap_size_limit / HEAP_SHARE, availableBytes() / MEMORY_SHARE),
  );
}

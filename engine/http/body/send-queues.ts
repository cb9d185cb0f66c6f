/** The bytes that wait to be sent, over all connections of the process. A client that does not read is disconnected:
 *  when its queue stays full, or when all queues together exceed the budget and its queue is among the longest.
 *  Checked every second.
 *  Not here: what is sent (respond.ts, websocket/connection.ts). */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

type SendQueue = {
  /** Returns the number of bytes that wait for this client. */
  readonly bytes: () => number;
  readonly cut: (limit: 'slow client' | 'queued bytes') => void;
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

type Watched = SendQueue & {
  /** When the queue became full, and its greatest length since then. */
  fullSince: number | null;
  longest: number;
  /** True when it was longer than `SHORT_BYTES` at the last check. */
  wasWaiting: boolean;
};

export class SendQueues {
  readonly #limits: QueueLimits;
  readonly #maxBytes: number;
  readonly #queues = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;
  #isTight = false;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#maxBytes = limits.maxBytes ?? defaultBytes();
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  /** Registers a queue. The returned function removes it. */
  add(queue: SendQueue): () => void {
    const watched: Watched = { ...queue, fullSince: null, longest: 0, wasWaiting: false };
    this.#queues.add(watched);
    return () => this.#queues.delete(watched);
  }

  /** The length from which a client receives no more for now. */
  get fullBytes(): number {
    return this.#isTight ? Math.min(SHORT_BYTES, this.#limits.fullBytes) : this.#limits.fullBytes;
  }

  get totalBytes(): number {
    let total = 0;
    for (const { bytes } of this.#queues) total += bytes();
    return total;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const now = performance.now();
    const waiting: (readonly [Watched, number])[] = [];
    let total = 0;
    for (const queue of this.#queues) {
      const bytes = queue.bytes();
      total += bytes;
      if (this.#isTooSlow(queue, bytes, now)) {
        total -= bytes;
        this.#cut(queue, 'slow client');
      } else if (bytes > SHORT_BYTES && queue.wasWaiting) waiting.push([queue, bytes]);
      queue.wasWaiting = bytes > SHORT_BYTES;
    }
    this.#isTight = total > this.#maxBytes;
    waiting.sort(([, one], [, other]) => other - one);
    for (const [queue, bytes] of waiting) {
      if (total <= this.#maxBytes) return;
      total -= bytes;
      this.#cut(queue, 'queued bytes');
    }
  }

  #isTooSlow(queue: Watched, bytes: number, now: number): boolean {
    if (bytes <= this.#limits.fullBytes) {
      queue.fullSince = null;
      queue.longest = 0;
      return false;
    }
    queue.fullSince ??= now;
    queue.longest = Math.max(queue.longest, bytes);
    return now - queue.fullSince > this.#limits.timeoutMs + (queue.longest / MIN_BYTES_PER_SECOND) * 1000;
  }

  #cut(queue: Watched, limit: 'slow client' | 'queued bytes'): void {
    this.#queues.delete(queue);
    queue.cut(limit);
  }
}

/** Returns the default budget. Waiting text is in the heap, waiting bytes are outside it. */
function defaultBytes(): number {
  const memory = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
  return Math.floor(Math.min(getHeapStatistics().heap_size_limit / HEAP_SHARE, memory / MEMORY_SHARE));
}

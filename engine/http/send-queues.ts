/** Bytes that wait for clients, over all connections of the process. A client that does not take what it asked for is cut off: when
 *  its queue stays long, or, where the queues of all are longer than the budget, when its queue is among the longest.
 *  Looked at every second. Not here: what is sent (respond.ts, websocket-connection.ts). */
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

export type SendQueue = {
  /** Bytes that wait for this client. */
  readonly bytes: () => number;
  readonly cut: (limit: 'slow client' | 'queued bytes') => void;
};

export type QueueLimits = {
  /** A longer queue is full. */
  readonly fullBytes: number;
  readonly timeoutMs: number;
  /** The most bytes in all queues; `undefined`: a share of the memory. */
  readonly mostBytes: number | undefined;
};

/** A full queue has its time, and a second more for so many bytes in it. */
const LEAST_BYTES_PER_SECOND = 128 * 1024;
/** The length from which a queue counts as full while all queues together are too long. */
const SHORT_BYTES = 64 * 1024;
const LOOK_MS = 1000;
const HEAP_SHARE = 4;
const MEMORY_SHARE = 8;

type Watched = SendQueue & {
  /** Since when the queue is full, and how long it was at most since then. */
  fullSince: number | null;
  longest: number;
  /** Whether it was longer than `SHORT_BYTES` when it was last looked at. */
  wasWaiting: boolean;
};

export class SendQueues {
  readonly #limits: QueueLimits;
  readonly #mostBytes: number;
  readonly #queues = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;
  #isTight = false;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#mostBytes = limits.mostBytes ?? standardBytes();
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /** The returned function ends it. */
  add(queue: SendQueue): () => void {
    const watched: Watched = { ...queue, fullSince: null, longest: 0, wasWaiting: false };
    this.#queues.add(watched);
    return () => this.#queues.delete(watched);
  }

  /** A client with more bytes waiting gets no more for now. */
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

  #look(): void {
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
    this.#isTight = total > this.#mostBytes;
    waiting.sort(([, one], [, other]) => other - one);
    for (const [queue, bytes] of waiting) {
      if (total <= this.#mostBytes) return;
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
    return now - queue.fullSince > this.#limits.timeoutMs + (queue.longest / LEAST_BYTES_PER_SECOND) * 1000;
  }

  #cut(queue: Watched, limit: 'slow client' | 'queued bytes'): void {
    this.#queues.delete(queue);
    queue.cut(limit);
  }
}

/** Text that waits is in the heap, bytes are beside it. */
function standardBytes(): number {
  const memory = Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem());
  return Math.floor(Math.min(getHeapStatistics().heap_size_limit / HEAP_SHARE, memory / MEMORY_SHARE));
}

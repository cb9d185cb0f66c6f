/** Work that waits in databases, taken at an interval and done with bounds: so much at once, so many taken together. Each
 *  feed is a database with such work; one that cannot be asked leaves the others alone and is asked less often.
 *  Not here: what the work is (event-feed.ts). Reference: features.md row 186. */
import { ended, type Grace } from '../execute/grace.ts';
import type { Observe } from '../observe/observation.ts';

export type Job = { readonly id: string; readonly perform: () => Promise<void> };

export type Feed = {
  readonly name: string;
  readonly take: (most: number) => Promise<readonly Job[]>;
  /** Gives jobs back that were taken and not done. */
  readonly release: (ids: readonly string[]) => Promise<void>;
};

export type WorkerOptions = {
  /** As they are now. */
  readonly feeds: () => readonly Feed[];
  /** 0 is never. */
  readonly intervalMs: number;
  /** Taken at once from one feed. */
  readonly batchSize: number;
  readonly mostAtOnce: number;
  readonly observe: Observe;
};

/** Looks that a feed which could not be asked is left out of. */
const LOOKS_LEFT_OUT = 10;

type Running = { readonly feed: Feed; readonly id: string; readonly done: Promise<void> };

export class Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Set<Running>();
  readonly #timer: NodeJS.Timeout | undefined;
  /** By name of the feed: looks that are still to be left out. */
  readonly #leftOut = new Map<string, number>();
  #looking: Promise<void> | undefined;
  /** More may wait for room. */
  #isFull = false;
  #isClosed = false;
  /** What is taken from now on comes too late. */
  #isOver = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    if (options.intervalMs > 0) this.#timer = setInterval(() => this.look(), options.intervalMs);
  }

  /** Looks for work now. */
  look(): void {
    if (this.#isClosed) return;
    this.#looking ??= this.#lookEverywhere().finally(() => {
      this.#looking = undefined;
    });
  }

  /** Takes no more, waits for what is under way, and gives back what does not end in time. */
  async close({ over, cut }: Grace): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await ended([this.#looking], over);
    await ended(
      [...this.#running].map(({ done }) => done),
      over,
    );
    this.#isOver = true;
    const left = Map.groupBy(this.#running, ({ feed }) => feed);
    const released = [...left].map(([feed, jobs]) => feed.release(idsOf(jobs)));
    await ended([this.#looking, ...released], cut);
  }

  async #lookEverywhere(): Promise<void> {
    this.#isFull = false;
    await Promise.all(this.#options.feeds().map((feed) => this.#lookAt(feed)));
  }

  async #lookAt(feed: Feed): Promise<void> {
    const leftOut = this.#leftOut.get(feed.name) ?? 0;
    if (leftOut > 0) {
      this.#leftOut.set(feed.name, leftOut - 1);
      return;
    }
    try {
      await this.#takeFrom(feed);
    } catch (error) {
      this.#leftOut.set(feed.name, LOOKS_LEFT_OUT);
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.observe({
        kind: 'state',
        event: { kind: 'events unreachable', source: feed.name, reason },
      });
    }
  }

  /** Until there is no more, or no room for it. */
  async #takeFrom(feed: Feed): Promise<void> {
    const { batchSize, mostAtOnce } = this.#options;
    for (;;) {
      const most = Math.min(batchSize, mostAtOnce - this.#running.size);
      this.#isFull ||= most <= 0;
      if (most <= 0 || this.#isClosed) return;
      const jobs = await feed.take(most);
      if (this.#isOver) return feed.release(idsOf(jobs));
      for (const job of jobs) this.#start(feed, job);
      if (jobs.length < most) return;
    }
  }

  #start(feed: Feed, { id, perform }: Job): void {
    const done = perform()
      .catch((error: unknown) => {
        // What is under way after the end has been given back.
        if (!this.#isClosed) this.#options.observe({ kind: 'unexpected', requestId: id, error });
      })
      .finally(() => {
        this.#running.delete(running);
        // Not for each place that becomes free: looking costs a statement.
        if (this.#isFull && this.#running.size <= this.#options.mostAtOnce / 2) this.look();
      });
    const running = { feed, id, done };
    this.#running.add(running);
  }
}

function idsOf(jobs: readonly { readonly id: string }[]): readonly string[] {
  return jobs.map(({ id }) => id);
}

/** Work that waits in databases, taken at an interval and done with bounds: so much at once for each trigger and each host
 *  (delivery-slots.ts), so many taken together. Each feed is a database with such work. Feeds do not wait for each other: one that
 *  does not answer delays nobody else, and one that fails is asked less often.
 *  Not here: what the work is (event-feed.ts, scheduled-feed.ts). Reference: docs/reference/behaviour/event-triggers.md. */
import { ended, type Grace } from '../limits/grace.ts';
import type { Observe } from '../observe/observation.ts';
import type { DeliveryLane, DeliverySlots } from './delivery-slots.ts';

export type Job = { readonly id: string; readonly lane: DeliveryLane; readonly perform: () => Promise<void> };

export type Feed = {
  readonly name: string;
  /** Takes at most so many, of each trigger and host no more than there is room for, the triggers in turn. */
  readonly take: (most: number, shares: DeliverySlots) => Promise<readonly Job[]>;
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
  readonly slots: DeliverySlots;
  readonly observe: Observe;
};

/** Looks that a feed which could not be asked is left out of. */
const LOOKS_LEFT_OUT = 10;
/** Between two looks at a feed that had more work than there was room for, at least; and as a multiple of the time the last
 *  look took, so that a long backlog does not keep its database busy. */
const PAUSE_MS = 20;
const PAUSE_RATIO = 4;

type Running = Pick<Job, 'id' | 'lane'> & { readonly feed: Feed; readonly done: Promise<void> };

/** The state of a feed between two fetches. */
type FeedState = {
  looking: Promise<void> | undefined;
  /** Looks that are still to be left out. */
  leftOut: number;
  /** It may have work for which there was no room. */
  isLimited: boolean;
  /** The earliest time of the next look that is not due to the interval. */
  notBefore: number;
  again: NodeJS.Timeout | undefined;
};

export class Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Set<Running>();
  readonly #timer: NodeJS.Timeout | undefined;
  /** States of feeds, by name of the feed. */
  readonly #watched = new Map<string, FeedState>();
  #isClosed = false;
  /** What is taken from now on comes too late. */
  #isOver = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    if (options.intervalMs > 0) this.#timer = setInterval(() => this.poll(), options.intervalMs);
  }

  get slots(): DeliverySlots {
    return this.#options.slots;
  }

  /** Looks for work now. */
  poll(): void {
    if (this.#isClosed) return;
    const feeds = this.#options.feeds();
    for (const feed of feeds) this.#look(feed);
    const names = new Set(feeds.map(({ name }) => name));
    for (const [name, { looking }] of this.#watched) {
      if (!names.has(name) && !looking) this.#watched.delete(name);
    }
  }

  /** Takes no more, waits for what is under way, and gives back what does not end in time. */
  async close({ over, cut }: Grace): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const { again } of this.#watched.values()) clearTimeout(again);
    const looking = () => [...this.#watched.values()].map((watched) => watched.looking);
    await ended(looking(), over);
    await ended(
      [...this.#running].map(({ done }) => done),
      over,
    );
    this.#isOver = true;
    const left = Map.groupBy(this.#running, ({ feed }) => feed);
    const released = [...left].map(([feed, jobs]) => feed.release(idsOf(jobs)));
    await ended([...looking(), ...released], cut);
  }

  #look(feed: Feed): void {
    const watched = this.#of(feed);
    if (watched.looking) return;
    watched.looking = this.#lookAt(feed, watched).finally(() => {
      watched.looking = undefined;
    });
  }

  #of({ name }: Feed): FeedState {
    let watched = this.#watched.get(name);
    if (!watched) {
      watched = { looking: undefined, leftOut: 0, isLimited: false, notBefore: 0, again: undefined };
      this.#watched.set(name, watched);
    }
    return watched;
  }

  async #lookAt(feed: Feed, watched: FeedState): Promise<void> {
    if (watched.leftOut > 0) {
      watched.leftOut -= 1;
      return;
    }
    const since = performance.now();
    try {
      watched.isLimited = await this.#takeFrom(feed);
    } catch (error) {
      watched.leftOut = LOOKS_LEFT_OUT;
      watched.isLimited = false;
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.observe({
        kind: 'state',
        event: { kind: 'events unreachable', source: feed.name, reason },
      });
    }
    const now = performance.now();
    watched.notBefore = now + Math.max(PAUSE_MS, PAUSE_RATIO * (now - since));
  }

  /** Until there is no more, or no room for it: then true. */
  async #takeFrom(feed: Feed): Promise<boolean> {
    const { batchSize, slots: shares } = this.#options;
    for (;;) {
      const most = Math.min(batchSize, shares.free);
      if (most <= 0 || this.#isClosed) return true;
      const jobs = await feed.take(most, shares);
      if (this.#isOver) {
        await feed.release(idsOf(jobs));
        return false;
      }
      // Another feed may have taken the room meanwhile.
      const refused = jobs.filter((job) => !this.#start(feed, job));
      if (refused.length > 0) {
        await feed.release(idsOf(refused));
        return true;
      }
      if (jobs.length < most) return this.#isLimited();
    }
  }

  /** True when a trigger or host with deliveries under way may have no more. */
  #isLimited(): boolean {
    const { slots: shares } = this.#options;
    return [...this.#running].some(({ lane }) => shares.freeFor(lane) <= 0);
  }

  /** False when there is no room for it. */
  #start(feed: Feed, { id, lane, perform }: Job): boolean {
    const { slots: shares, observe } = this.#options;
    if (!shares.begin(lane)) return false;
    const done = perform()
      .catch((error: unknown) => {
        // What is under way after the end has been given back.
        if (!this.#isClosed) observe({ kind: 'unexpected', requestId: id, error });
      })
      .finally(() => {
        this.#running.delete(running);
        shares.end(lane);
        this.#lookWhereLimited();
      });
    const running = { feed, id, lane, done };
    this.#running.add(running);
    return true;
  }

  /** There is room again. Not for each delivery that ends: looking costs a statement. */
  #lookWhereLimited(): void {
    if (this.#isClosed) return;
    for (const [name, watched] of this.#watched) {
      if (!(watched.isLimited || watched.looking) || watched.again) continue;
      const waitMs = Math.max(PAUSE_MS, watched.notBefore - performance.now());
      watched.again = setTimeout(() => {
        watched.again = undefined;
        const feed = this.#options.feeds().find((one) => one.name === name);
        if (feed && !this.#isClosed) this.#look(feed);
      }, waitMs);
    }
  }
}

function idsOf(jobs: readonly { readonly id: string }[]): readonly string[] {
  return jobs.map(({ id }) => id);
}

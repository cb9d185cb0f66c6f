/** The worker takes jobs from feeds at an interval and performs them within limits: a number per batch, and slots per trigger and per
 *  host (delivery-slots.ts). Each feed is a database with jobs. Feeds are independent: one that does not answer delays no other, and
 *  one that fails is polled less often.
 *  Not here: the jobs (event-feed.ts, scheduled-feed.ts). Reference: docs/reference/behaviour/event-triggers.md. */
import { thrownMessage } from '../errors/engine-error.ts';
import { ended, type Grace } from '../limits/grace.ts';
import type { Observe } from '../observe/observation.ts';
import type { DeliveryLane, DeliverySlots } from './delivery-slots.ts';

export type Job = {
  readonly id: string;
  readonly lane: DeliveryLane;
  /** True when the engine ended during the last attempt. */
  readonly isInterrupted: boolean;
  /** True when its trigger has become invalid while the job was taken; it waits for the repair. */
  readonly isHeld: boolean;
  readonly perform: () => Promise<void>;
};

/** Jobs that were taken and not done. */
export type ReleasedJob = Pick<Job, 'id' | 'isInterrupted'>;

export type Feed = {
  readonly name: string;
  /** Takes at most `most` jobs, the triggers in turn, and no more of a trigger or host than there are free slots. */
  readonly take: (most: number, slots: DeliverySlots) => Promise<readonly Job[]>;
  /** Releases jobs that were taken and not done. */
  readonly release: (jobs: readonly ReleasedJob[]) => Promise<void>;
};

type WorkerOptions = {
  /** Returns the current feeds. */
  readonly feeds: () => readonly Feed[];
  /** The polling interval; 0 disables polling. */
  readonly intervalMs: number;
  /** The number of jobs that are taken from a feed at a time. */
  readonly batchSize: number;
  readonly slots: DeliverySlots;
  readonly observe: Observe;
};

/** The number of polls that a failed feed is skipped. */
const SKIPPED_POLLS = 10;
/** The minimum pause between two polls of a feed that had more jobs than free slots. It is also a multiple of the time that the last
 *  poll took, so that a long backlog does not keep its database busy. */
const PAUSE_MS = 20;
const PAUSE_RATIO = 4;

type Running = Pick<Job, 'id' | 'lane' | 'isInterrupted'> & {
  readonly feed: Feed;
  readonly done: Promise<void>;
};

/** The state of a feed between two polls. */
type FeedState = {
  polling: Promise<void> | undefined;
  /** The number of polls that are still skipped. */
  skipped: number;
  /** True when the feed may have jobs for which no slot was free. */
  isLimited: boolean;
  /** The earliest time of the next poll apart from the interval. */
  notBefore: number;
  again: NodeJS.Timeout | undefined;
};

export class Worker {
  readonly #options: WorkerOptions;
  readonly #running = new Set<Running>();
  readonly #timer: NodeJS.Timeout | undefined;
  /** States of feeds, by name of the feed. */
  readonly #states = new Map<string, FeedState>();
  #isClosed = false;
  /** True when jobs that are still taken have to be released. */
  #isOver = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    if (options.intervalMs > 0) this.#timer = setInterval(() => this.poll(), options.intervalMs);
  }

  get slots(): DeliverySlots {
    return this.#options.slots;
  }

  /** Polls every feed now. */
  poll(): void {
    if (this.#isClosed) return;
    const feeds = this.#options.feeds();
    for (const feed of feeds) this.#startPolling(feed);
    const names = new Set(feeds.map(({ name }) => name));
    for (const [name, { polling }] of this.#states) {
      if (!names.has(name) && !polling) this.#states.delete(name);
    }
  }

  /** Stops taking jobs, waits for running ones, and releases those that do not end in time. */
  async close({ over, cut }: Grace): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const { again } of this.#states.values()) clearTimeout(again);
    const polling = () => [...this.#states.values()].map((state) => state.polling);
    await ended(polling(), over);
    await ended(
      [...this.#running].map(({ done }) => done),
      over,
    );
    this.#isOver = true;
    const left = Map.groupBy(this.#running, ({ feed }) => feed);
    const released = [...left].map(([feed, jobs]) => feed.release(jobs));
    await ended([...polling(), ...released], cut);
  }

  #startPolling(feed: Feed): void {
    const state = this.#of(feed);
    if (state.polling) return;
    state.polling = this.#pollFeed(feed, state).finally(() => {
      state.polling = undefined;
    });
  }

  #of({ name }: Feed): FeedState {
    let state = this.#states.get(name);
    if (!state) {
      state = { polling: undefined, skipped: 0, isLimited: false, notBefore: 0, again: undefined };
      this.#states.set(name, state);
    }
    return state;
  }

  async #pollFeed(feed: Feed, state: FeedState): Promise<void> {
    if (state.skipped > 0) {
      state.skipped -= 1;
      return;
    }
    const since = performance.now();
    try {
      state.isLimited = await this.#takeFrom(feed);
    } catch (error) {
      state.skipped = SKIPPED_POLLS;
      state.isLimited = false;
      const reason = thrownMessage(error);
      this.#options.observe({
        kind: 'state',
        event: { kind: 'events unreachable', source: feed.name, reason },
      });
    }
    const now = performance.now();
    state.notBefore = now + Math.max(PAUSE_MS, PAUSE_RATIO * (now - since));
  }

  /** Takes and starts jobs until there are none, or no slot is free. Returns true in the latter case. */
  async #takeFrom(feed: Feed): Promise<boolean> {
    const { batchSize, slots } = this.#options;
    for (;;) {
      const most = Math.min(batchSize, slots.free);
      if (most <= 0 || slots.isReserved || this.#isClosed) return true;
      const jobs = await feed.take(most, slots);
      if (this.#isOver) {
        await feed.release(jobs);
        return false;
      }
      const ready = jobs.filter(({ isHeld }) => !isHeld);
      if (ready.length < jobs.length) await feed.release(jobs.filter(({ isHeld }) => isHeld));
      // Another feed may have taken the slots meanwhile.
      const refused = ready.filter((job) => !this.#start(feed, job));
      if (refused.length > 0) {
        await feed.release(refused);
        return true;
      }
      if (jobs.length < most) return this.#isLimited();
    }
  }

  /** True when no slot is free for the lane of a running job. */
  #isLimited(): boolean {
    const { slots } = this.#options;
    return [...this.#running].some(({ lane }) => slots.freeFor(lane) <= 0);
  }

  /** Starts a job. Returns false if no slot is free. */
  #start(feed: Feed, { id, lane, isInterrupted, perform }: Job): boolean {
    const { slots, observe } = this.#options;
    if (!slots.begin(lane, isInterrupted)) return false;
    const done = perform()
      .catch((error: unknown) => {
        // Jobs that still run after the end have been released.
        if (!this.#isClosed) observe({ kind: 'unexpected', requestId: id, error });
      })
      .finally(() => {
        this.#running.delete(running);
        slots.end(lane, isInterrupted);
        this.#pollLimited();
      });
    const running = { feed, id, lane, isInterrupted, done };
    this.#running.add(running);
    return true;
  }

  /** Polls limited feeds soon, because a slot is free again. Polling costs a statement, so this waits for a pause. */
  #pollLimited(): void {
    if (this.#isClosed) return;
    for (const [name, state] of this.#states) {
      if (!(state.isLimited || state.polling) || state.again) continue;
      const waitMs = Math.max(PAUSE_MS, state.notBefore - performance.now());
      state.again = setTimeout(() => {
        state.again = undefined;
        const feed = this.#options.feeds().find((one) => one.name === name);
        if (feed && !this.#isClosed) this.#startPolling(feed);
      }, waitMs);
    }
  }
}

/** The work queue: which engines need a pass, and when. It holds keys, not events: ten thousand changes mark an engine once.
 *  A mark lingers shortly, so that changes that arrive together are one pass, but not longer than a limit. An edit lingers less than a
 *  new resource, which others may follow that it needs. A key is processed by one pass at
 *  a time; a pass returns when the next one is due, and after a failure the earliest time for one that a mark starts.
 *  Not here: the pass (engine-pass.ts). */
import type { Timers } from './timers.ts';

export type Requeue = {
  /** The delay until the next pass if nothing is marked. */
  readonly afterMs?: number;
  /** The shortest delay until a pass that a mark starts, unless the mark is urgent. A pass that is due does not wait for it. */
  readonly notBeforeMs?: number;
};

/** Runs a pass. `isMarked` is true when something changed, and false when the pass was only due. Must not throw. */
export type Work = (key: string, isMarked: boolean) => Promise<Requeue>;

export type QueueOptions = {
  readonly lingerMs: number;
  /** The linger of an edit of an existing resource. */
  readonly editLingerMs: number;
  readonly mostLingerMs: number;
};

const LINGER: QueueOptions = { lingerMs: 250, editLingerMs: 50, mostLingerMs: 2000 };

export type Mark = {
  /** True when the pass must not wait for the end of a delay after a failure. */
  readonly isUrgent?: boolean;
  /** True when a single existing resource was edited. */
  readonly isEdit?: boolean;
};

type Entry = {
  /** The time of the first mark since the last pass. */
  markedAt: number | undefined;
  /** The time of the next pass if nothing is marked. */
  dueAt: number | undefined;
  /** The earliest time of a pass that a mark starts, except for urgent marks. */
  notBefore: number;
  isUrgent: boolean;
  readyAt: number;
  isRunning: boolean;
  cancel: () => void;
};

export class Queue {
  readonly #work: Work;
  readonly #timers: Timers;
  readonly #options: QueueOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #running = new Set<Promise<void>>();
  #isOpen = false;

  constructor(work: Work, timers: Timers, options: QueueOptions = LINGER) {
    this.#work = work;
    this.#timers = timers;
    this.#options = options;
  }

  /** The number of keys that are marked or whose pass is running. */
  get depth(): number {
    return [...this.#entries.values()].filter(
      ({ markedAt, isRunning }) => markedAt !== undefined || isRunning,
    ).length;
  }

  /** Starts processing. Earlier marks have been waiting for this. */
  open(): void {
    this.#isOpen = true;
    for (const key of this.#entries.keys()) this.#arm(key);
  }

  /** Stops processing. Resolves when running passes have ended. */
  async close(): Promise<void> {
    this.#isOpen = false;
    for (const entry of this.#entries.values()) entry.cancel();
    await Promise.all(this.#running);
  }

  mark(key: string, { isUrgent = false, isEdit = false }: Mark = {}): void {
    const { lingerMs, editLingerMs, mostLingerMs } = this.#options;
    const now = this.#timers.nowMs();
    const entry = this.#entryOf(key);
    const before = entry.markedAt === undefined ? 0 : entry.readyAt;
    entry.markedAt ??= now;
    const readyAt = Math.max(before, now + (isEdit ? editLingerMs : lingerMs));
    entry.readyAt = Math.min(readyAt, entry.markedAt + mostLingerMs);
    entry.isUrgent ||= isUrgent;
    this.#arm(key);
  }

  /** Removes a key. A running pass is not stopped. */
  forget(key: string): void {
    this.#entries.get(key)?.cancel();
    this.#entries.delete(key);
  }

  #entryOf(key: string): Entry {
    const existing = this.#entries.get(key);
    if (existing) return existing;
    const entry: Entry = {
      markedAt: undefined,
      dueAt: undefined,
      notBefore: 0,
      isUrgent: false,
      readyAt: 0,
      isRunning: false,
      cancel: () => {},
    };
    this.#entries.set(key, entry);
    return entry;
  }

  #arm(key: string): void {
    const entry = this.#entries.get(key);
    entry?.cancel();
    if (!entry || !this.#isOpen || entry.isRunning) return;
    const startAt = startOf(entry);
    if (startAt === undefined) return;
    const wait = Math.max(0, startAt - this.#timers.nowMs());
    entry.cancel = this.#timers.after(wait, () => this.#start(key, entry));
  }

  #start(key: string, entry: Entry): void {
    const run = this.#run(key, entry);
    this.#running.add(run);
    run.finally(() => this.#running.delete(run));
  }

  async #run(key: string, entry: Entry): Promise<void> {
    const isMarked = entry.markedAt !== undefined && markTimeOf(entry) <= this.#timers.nowMs();
    entry.isRunning = true;
    entry.dueAt = undefined;
    if (isMarked) {
      entry.markedAt = undefined;
      entry.isUrgent = false;
    }
    const turn = await this.#work(key, isMarked);
    const now = this.#timers.nowMs();
    entry.isRunning = false;
    if (turn.afterMs !== undefined) entry.dueAt = now + turn.afterMs;
    entry.notBefore = now + (turn.notBeforeMs ?? 0);
    this.#arm(key);
  }
}

function startOf(entry: Entry): number | undefined {
  const { markedAt, readyAt, dueAt } = entry;
  const wanted = [
    ...(markedAt === undefined ? [] : [Math.max(readyAt, markTimeOf(entry))]),
    ...(dueAt === undefined ? [] : [dueAt]),
  ];
  return wanted.length === 0 ? undefined : Math.min(...wanted);
}

/** Returns the earliest time of a pass for the mark. */
function markTimeOf({ isUrgent, notBefore }: Entry): number {
  return isUrgent ? 0 : notBefore;
}

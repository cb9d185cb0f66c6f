/** The work queue: which engines need a pass, and when. It holds keys, not events: ten thousand changes mark an engine once.
 *  A mark lingers shortly, so that changes that arrive together are one pass, but not longer than a limit. An edit lingers less than a
 *  new resource, which others may follow that it needs, and does not wait for it: the pass is then for edits, and may leave the rest to the
 *  next one. A key is processed by one pass at a time; a pass returns when the next one is due, and after a failure the earliest time for one
 *  that a mark starts.
 *  Not here: the pass (engine-pass.ts). */
import type { Timers } from './timers.ts';

export type Requeue = {
  /** The delay until the next pass if nothing is marked. */
  readonly afterMs?: number;
  /** The shortest delay until a pass that a mark starts, unless the mark is urgent. A pass that is due does not wait for it. */
  readonly notBeforeMs?: number;
  /** True when the pass has left changes to the next one, after `afterMs`. */
  readonly isCut?: boolean;
  /** True when it has left all changes but edits. */
  readonly isOfEdits?: boolean;
};

/** Why a pass is started. */
export type Turn = {
  /** True when something changed, and false when the pass was only due. */
  readonly isMarked: boolean;
  /** True when edits need not wait for other changes, which still linger or were left to a later pass. */
  readonly isForEdits: boolean;
};

/** Runs a pass. Must not throw. */
export type Work = (key: string, turn: Turn) => Promise<Requeue>;

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

/** Marks since the last pass: the time of the first one, and the time when they have lingered. */
type Marks = { readonly since: number; readonly readyAt: number };

type Entry = {
  /** The marks of edited resources. */
  edits: Marks | undefined;
  /** The marks of created and deleted resources, and of everything else. */
  others: Marks | undefined;
  /** The time of the next pass if nothing is marked. */
  dueAt: number | undefined;
  /** True when the pass that is due takes what the one before has left. */
  isCut: boolean;
  /** The earliest time of a pass that a mark starts, except for urgent marks. */
  notBefore: number;
  isUrgent: boolean;
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
    return [...this.#entries.values()].filter((entry) => isMarked(entry) || entry.isRunning).length;
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
    const marks = isEdit ? 'edits' : 'others';
    const since = entry[marks]?.since ?? now;
    const readyAt = Math.min(now + (isEdit ? editLingerMs : lingerMs), since + mostLingerMs);
    entry[marks] = { since, readyAt };
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
      edits: undefined,
      others: undefined,
      dueAt: undefined,
      isCut: false,
      notBefore: 0,
      isUrgent: false,
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
    const turn = this.#turnOf(entry);
    const { others, dueAt } = entry;
    entry.isRunning = true;
    entry.dueAt = undefined;
    if (turn.isMarked) entry.edits = undefined;
    if (turn.isMarked && !turn.isForEdits) {
      entry.others = undefined;
      entry.isUrgent = false;
    }
    const requeue = await this.#work(key, turn);
    const now = this.#timers.nowMs();
    entry.isRunning = false;
    entry.notBefore = now + (requeue.notBeforeMs ?? 0);
    if (turn.isForEdits && requeue.isOfEdits) {
      // The rest waits as before.
      entry.dueAt = dueAt;
    } else {
      if (turn.isForEdits && entry.others === others) entry.others = undefined;
      entry.isCut = requeue.isCut === true;
      entry.dueAt = requeue.afterMs === undefined ? undefined : now + requeue.afterMs;
    }
    this.#arm(key);
  }

  #turnOf(entry: Entry): Turn {
    const { edits, others, dueAt, isUrgent, isCut } = entry;
    const now = this.#timers.nowMs();
    const isPast = (at: number | undefined) => at !== undefined && at <= now;
    const isDelayed = markTimeOf(entry) > now;
    const isRestDue = isPast(others?.readyAt) || isPast(dueAt);
    const isForEdits = isPast(edits?.readyAt) && (others !== undefined || isCut) && !isRestDue;
    return { isMarked: isMarked(entry) && !isDelayed, isForEdits: isForEdits && !isDelayed && !isUrgent };
  }
}

function isMarked({ edits, others }: Entry): boolean {
  return edits !== undefined || others !== undefined;
}

function startOf(entry: Entry): number | undefined {
  const { edits, others, dueAt } = entry;
  const marks = [edits, others].filter((one) => one !== undefined);
  const wanted = [
    ...marks.map(({ readyAt }) => Math.max(readyAt, markTimeOf(entry))),
    ...(dueAt === undefined ? [] : [dueAt]),
  ];
  return wanted.length === 0 ? undefined : Math.min(...wanted);
}

/** Returns the earliest time of a pass for the mark. */
function markTimeOf({ isUrgent, notBefore }: Entry): number {
  return isUrgent ? 0 : notBefore;
}

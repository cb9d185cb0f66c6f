/** The readings of databases and remote schemas that are in progress, shared by all requests. A target that accepts connections and never
 *  answers is asked once, however many requests need it; what fails slowly is remembered for a minute, because consecutive drafts, such
 *  as the operator's dry runs, need it again. An answer that comes after the last reader has stopped waiting is reported.
 *  Not here: the requests to targets (gateway.ts), how long a reader waits (target-waits.ts). */

const SLOW_MS = 2000;
const REMEMBERED_MS = 60_000;
const MOST_REMEMBERED = 1000;

/** A request to a target, which has no bound but its own. */
export class TargetReading<T extends object = object> {
  readonly beganMs = performance.now();
  readonly answer: Promise<T>;
  isSettled = false;
  /** True when a reader has gone on without the answer. */
  isLate = false;

  constructor(read: () => Promise<T>) {
    this.answer = read().finally(() => {
      this.isSettled = true;
    });
    // Nobody may be left who waits for it.
    this.answer.catch(() => {});
  }

  get ageMs(): number {
    return performance.now() - this.beganMs;
  }

  /** Resolves with true once the answer is there, with false after `mostMs` at the latest. An answer that needs no I/O is there in any case.
   *  Never rejects. */
  async isAnsweredIn(mostMs: number): Promise<boolean> {
    if (this.isSettled) return true;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = mostMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, Math.max(0, mostMs));
    await Promise.race([this.answer.catch(() => {}), late]);
    clearTimeout(timer);
    return this.isSettled;
  }
}

/** Called with an answer that is no failure and comes late. The key is that of the reading. */
export type LateAnswer = (key: string, answer: object, reading: object) => void;

export class TargetReadings {
  readonly #onLate: LateAnswer;
  readonly #pending = new Map<string, TargetReading>();
  readonly #failed = new Map<string, { readonly reading: TargetReading; readonly untilMs: number }>();

  constructor(onLate: LateAnswer) {
    this.#onLate = onLate;
  }

  /** Returns the reading of this target that is in progress or that has failed slowly, or else begins one. The key identifies the
   *  target as it is configured. An answer with `error` is a failure. `isFresh`: a remembered failure does not count. */
  begin<T extends object>(key: string, read: () => Promise<T>, { isFresh = false } = {}): TargetReading<T> {
    const pending = this.#pending.get(key);
    if (pending) return pending as TargetReading<T>;
    const failed = this.#failed.get(key);
    if (failed && !isFresh && performance.now() < failed.untilMs) return failed.reading as TargetReading<T>;
    this.#failed.delete(key);
    const reading = this.beginOwn(key, read);
    this.#pending.set(key, reading);
    const settled = (answer?: object) => this.#settle(key, reading, answer);
    reading.answer.then(settled, () => settled());
    return reading;
  }

  /** Begins a reading that is not shared: what was asked before now may be out of date. */
  beginOwn<T extends object>(key: string, read: () => Promise<T>): TargetReading<T> {
    const reading = new TargetReading(read);
    const settled = (answer: object) => {
      if (reading.isLate && !('error' in answer)) this.#onLate(key, answer, reading);
    };
    reading.answer.then(settled, () => {});
    return reading;
  }

  #settle(key: string, reading: TargetReading, answer: object | undefined): void {
    this.#pending.delete(key);
    if (!answer || !('error' in answer) || reading.ageMs < SLOW_MS) return;
    const [oldest] = this.#failed.keys();
    if (oldest !== undefined && this.#failed.size >= MOST_REMEMBERED) this.#failed.delete(oldest);
    this.#failed.set(key, { reading, untilMs: performance.now() + REMEMBERED_MS });
  }
}

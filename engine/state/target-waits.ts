/** How long one admin request waits for databases and remote schemas. Requests that may change the document run one after the other, so
 *  none of them waits long in its turn: it leaves the turn, waits beside the others, and begins again with the answers. A request that
 *  has limited its wait (`Prefer: wait=1`) goes on without the answer then, and the target is taken in when it answers.
 *  In: readings. Out: answers, or TargetsPending. Not here: the readings (target-readings.ts), turns (state.ts). */
import type { TargetReading } from './target-readings.ts';

/** The longest wait in one turn, which computes besides. */
const PATIENCE_MS = 250;

/** Thrown by a request that has to wait outside its turn. It is rolled back, and repeated after `TargetWaits.ended`. */
export class TargetsPending extends Error {}

export type TargetRequest<T extends object> = {
  readonly seen: T | undefined;
  readonly begin: () => TargetReading<T>;
  readonly without: (awaited: object) => T;
  readonly staysInTurn: boolean;
};

type Waited = { readonly seen: unknown; readonly reading: TargetReading };

export class TargetWaits {
  readonly #limitMs: number;
  readonly #waited = new Map<string, Waited>();
  /** The wait that is left in this turn; undefined outside turns. Several targets are waited for at the same time. */
  #leftInTurnMs: number | undefined;
  #waiting = 0;
  #since = 0;

  /** `limitMs`: how long a target is waited for since it was asked. */
  constructor(limitMs = Number.POSITIVE_INFINITY) {
    this.#limitMs = limitMs;
  }

  beginTurn(): void {
    this.#leftInTurnMs = PATIENCE_MS;
  }

  /** Returns the answer of the target, or what `without` returns when the request no longer waits for it. Raises what the reading raises.
   *  The request gets the same answer again when it is repeated, unless `seen`, what was known of the target, has changed since. Throws
   *  TargetsPending, unless `staysInTurn`. */
  async answer<T extends object>(
    key: string,
    { seen, begin, without, staysInTurn }: TargetRequest<T>,
  ): Promise<T> {
    const known = this.#waited.get(key);
    const reading = known && known.seen === seen ? (known.reading as TargetReading<T>) : begin();
    this.#waited.set(key, { seen, reading });
    const patienceMs = staysInTurn ? Number.POSITIVE_INFINITY : this.#patienceMs(reading);
    if (await this.#isAnsweredIn(Math.min(patienceMs, this.#limitMs - reading.ageMs), reading)) {
      return reading.answer;
    }
    if (this.#limitMs - reading.ageMs > 0) throw new TargetsPending();
    reading.isLate = true;
    return without(reading);
  }

  /** A target that has been silent for so long is not waited for in another turn. */
  #patienceMs({ ageMs }: TargetReading): number {
    if (this.#leftInTurnMs === undefined) return Number.POSITIVE_INFINITY;
    return Math.min(this.#leftInTurnMs, PATIENCE_MS - ageMs);
  }

  async #isAnsweredIn(mostMs: number, reading: TargetReading): Promise<boolean> {
    if (this.#waiting++ === 0) this.#since = performance.now();
    const isAnswered = await reading.isAnsweredIn(mostMs);
    if (--this.#waiting === 0 && this.#leftInTurnMs !== undefined) {
      this.#leftInTurnMs -= performance.now() - this.#since;
    }
    return isAnswered;
  }

  /** Resolves once the targets have answered that the request has asked, or are waited for no longer. Never rejects. */
  async ended(): Promise<void> {
    const readings = [...this.#waited.values()].map(({ reading }) => reading);
    await Promise.all(readings.map((reading) => reading.isAnsweredIn(this.#limitMs - reading.ageMs)));
  }
}

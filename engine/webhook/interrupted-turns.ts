/** When work that was under way as an engine ended is done again. It may be what ended the engine, so it is done alone: one piece at a
 *  time, if possible while nothing else runs, and nothing else begins for the first seconds of it.
 *  Not here: which work that is (events/event-log.ts, events/scheduled-log.ts, store/action-calls.ts). */

/** The time for which other work does not begin. What ends an engine does so within seconds of an answer; a webhook that hangs must not
 *  delay the others for longer. */
const RESERVED_MS = 5_000;
/** The time after which an interrupted piece no longer waits until nothing else runs, because another webhook may always be slow. */
const WAIT_MS = 60_000;

export class InterruptedTurns {
  /** The time when the current piece began; null if there is none. */
  #beganAt: number | null = null;
  #endedAt = performance.now();

  /** True when an interrupted piece may begin beside `running` other pieces. */
  mayBegin(running: number): boolean {
    if (this.#beganAt !== null) return false;
    return running === 0 || performance.now() - this.#endedAt > WAIT_MS;
  }

  /** True while no other piece may begin. */
  get isReserved(): boolean {
    return this.#beganAt !== null && performance.now() - this.#beganAt < RESERVED_MS;
  }

  /** Begins a piece. Returns false if there is another one. */
  begin(): boolean {
    if (this.#beganAt !== null) return false;
    this.#beganAt = performance.now();
    return true;
  }

  end(): void {
    this.#beganAt = null;
    this.#endedAt = performance.now();
  }
}

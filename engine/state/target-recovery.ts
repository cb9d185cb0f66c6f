/** Asks databases and remote schemas again that have not answered, each with pauses of its own, so that none waits for another.
 *  Not here: which ones these are and what follows from an answer (state.ts), sources whose database answered before (source-watch.ts). */

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

/** A target without an answer. `attempt` returns true when there is one now. */
export type MissingTarget = { readonly key: string; readonly attempt: () => Promise<boolean> };

type Scheduled = { pauseMs: number; timer: NodeJS.Timeout | undefined };

export class TargetRecovery {
  readonly #missing: () => readonly MissingTarget[];
  readonly #scheduled = new Map<string, Scheduled>();
  #isClosed = false;

  constructor(missing: () => readonly MissingTarget[]) {
    this.#missing = missing;
  }

  /** Schedules an attempt for each missing target. Called after each publication. */
  schedule(): void {
    if (this.#isClosed) return;
    const missing = this.#missing();
    const keys = new Set(missing.map(({ key }) => key));
    for (const [key, { timer }] of this.#scheduled) {
      if (keys.has(key)) continue;
      clearTimeout(timer);
      this.#scheduled.delete(key);
    }
    for (const { key } of missing) {
      if (this.#scheduled.has(key)) continue;
      const scheduled = { pauseMs: FIRST_PAUSE_MS, timer: undefined };
      this.#scheduled.set(key, scheduled);
      this.#scheduleOne(key, scheduled);
    }
  }

  /** Asks every missing target now, except those that are being asked. */
  async now(): Promise<void> {
    this.schedule();
    const idle = [...this.#scheduled].filter(([, { timer }]) => timer !== undefined);
    await Promise.all(idle.map(([key, scheduled]) => this.#attempt(key, scheduled)));
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#scheduled.values()) clearTimeout(timer);
    this.#scheduled.clear();
  }

  #scheduleOne(key: string, scheduled: Scheduled): void {
    scheduled.timer = setTimeout(() => void this.#attempt(key, scheduled), scheduled.pauseMs).unref();
    scheduled.pauseMs = Math.min(scheduled.pauseMs * 2, LONGEST_PAUSE_MS);
  }

  async #attempt(key: string, scheduled: Scheduled): Promise<void> {
    clearTimeout(scheduled.timer);
    scheduled.timer = undefined;
    const target = this.#missing().find((missing) => missing.key === key);
    const isBack = target ? await target.attempt().catch(() => false) : true;
    if (this.#scheduled.get(key) !== scheduled) return;
    if (isBack) this.#scheduled.delete(key);
    else this.#scheduleOne(key, scheduled);
    this.schedule();
  }
}

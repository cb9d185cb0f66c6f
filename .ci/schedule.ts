/** Runs stages at the same time as far as the machine and the time allow. In: stages in their order of preference, each with the processor
 *  cores it keeps busy; how many cores there are to share, and the time. Out: each outcome, in the order of the stages.
 *  Not here: the stages (stages.ts). */

export type Outcome = {
  readonly passed: number;
  readonly failed: number;
  /** 1 for a stage that was left out. */
  readonly skipped?: number;
  /** Lines for the summary, such as the tests that failed at first and passed when repeated. */
  readonly notes: readonly string[];
};

export type Stage = {
  readonly name: string;
  /** The number of processor cores the stage keeps busy by itself, on average. */
  readonly cores: number;
  /** Stages start when all of a smaller number have ended. */
  readonly phase: number;
  /** True when the stage measures time and runs after all others of its phase, with nothing beside it. */
  readonly isAlone?: boolean;
  /** The time that it takes on a usual machine. A stage that is a sample is left out if there is less. */
  readonly usualMinutes: number;
  /** True for a stage that repeats with chance, on other versions or under load what others test once. */
  readonly isSample?: boolean;
  readonly run: () => Promise<Outcome>;
};

/** The time that a run has; without a limit, nothing is left out. */
export type TimeLimit = { readonly minutes: number; readonly nowMs: () => number };

/** Returns the outcomes of all stages. A stage that throws counts as one failure. A sample is left out when the time that is left, at the
 *  pace of the stages that have ended, is too short for it. */
export async function runStages(
  stages: readonly Stage[],
  cores: number,
  limit?: TimeLimit,
): Promise<readonly Outcome[]> {
  const outcomes = new Map<Stage, Outcome>();
  const waiting = new Set(stages);
  const running = new Map<Stage, Promise<void>>();
  const clock = new Clock(limit);
  while (waiting.size + running.size > 0) {
    for (const stage of waiting) {
      if (!mayStart(stage, [...running.keys()], [...waiting], cores)) continue;
      waiting.delete(stage);
      const leftOut = clock.leavesOut(stage);
      if (leftOut) {
        outcomes.set(stage, { passed: 0, failed: 0, skipped: 1, notes: [leftOut] });
        continue;
      }
      const measure = clock.measure(stage);
      const done = stage.run().catch(failure);
      running.set(
        stage,
        done.then((outcome) => {
          measure();
          outcomes.set(stage, outcome);
          running.delete(stage);
        }),
      );
    }
    if (running.size > 0) await Promise.race(running.values());
  }
  return stages.map((stage) => outcomes.get(stage)!);
}

/** The time that is left, and how many times as long as on a usual machine the stages have taken. */
class Clock {
  readonly #limit: TimeLimit | undefined;
  readonly #startedMs: number;
  #actualMs = 0;
  #usualMs = 0;

  constructor(limit: TimeLimit | undefined) {
    this.#limit = limit;
    this.#startedMs = this.#nowMs();
  }

  /** Begins to measure a stage. The result ends it. */
  measure({ usualMinutes }: Stage): () => void {
    const startedMs = this.#nowMs();
    return () => {
      this.#actualMs += this.#nowMs() - startedMs;
      this.#usualMs += usualMinutes * 60_000;
    };
  }

  /** Returns why a stage is left out; undefined if it is not. */
  leavesOut({ name, isSample, usualMinutes }: Stage): string | undefined {
    if (!isSample || !this.#limit) return undefined;
    const pace = Math.max(1, this.#actualMs / Math.max(this.#usualMs, 1));
    const left = this.#limit.minutes - (this.#nowMs() - this.#startedMs) / 60_000;
    const needed = usualMinutes * pace;
    if (needed <= left) return undefined;
    return `left out: it needs ${needed.toFixed(0)} minutes on this machine, and ${left.toFixed(0)} are left; .ci/run ${name} runs it`;
  }

  #nowMs(): number {
    return this.#limit?.nowMs() ?? 0;
  }
}

function mayStart(
  stage: Stage,
  running: readonly Stage[],
  waiting: readonly Stage[],
  cores: number,
): boolean {
  const others = [...running, ...waiting].filter((other) => other !== stage);
  if (others.some(({ phase }) => phase < stage.phase)) return false;
  const rivals = waiting.filter(({ phase }) => phase === stage.phase);
  if (stage.isAlone) return running.length === 0 && rivals.every((other) => other.isAlone);
  const busy = running.reduce((sum, other) => sum + other.cores, 0);
  return running.length === 0 || (busy + stage.cores <= cores && !running.some((other) => other.isAlone));
}

function failure(error: unknown): Outcome {
  return { passed: 0, failed: 1, notes: [error instanceof Error ? error.message : String(error)] };
}

/** Runs stages at the same time as far as the machine allows. In: stages in their order of preference, each with the processor cores
 *  it keeps busy, and how many cores there are to share. Out: each outcome, in the order of the stages. Not here: the stages (stages.ts). */

export type Outcome = {
  readonly passed: number;
  readonly failed: number;
  /** Lines for the summary, such as the tests that failed at first and passed when repeated. */
  readonly notes: readonly string[];
};

export type Stage = {
  readonly name: string;
  /** The number of processor cores the stage keeps busy by itself, on average. */
  readonly cores: number;
  /** True when the stage measures time and runs after all others, with nothing beside it. */
  readonly isAlone?: boolean;
  readonly run: () => Promise<Outcome>;
};

/** Returns the outcomes of all stages. A stage that throws counts as one failure. */
export async function runStages(stages: readonly Stage[], cores: number): Promise<readonly Outcome[]> {
  const outcomes = new Map<Stage, Outcome>();
  const waiting = new Set(stages);
  const running = new Map<Stage, Promise<void>>();
  while (waiting.size + running.size > 0) {
    for (const stage of waiting) {
      if (!mayStart(stage, [...running.keys()], [...waiting], cores)) continue;
      waiting.delete(stage);
      const done = stage.run().catch(failure);
      running.set(
        stage,
        done.then((outcome) => {
          outcomes.set(stage, outcome);
          running.delete(stage);
        }),
      );
    }
    await Promise.race(running.values());
  }
  return stages.map((stage) => outcomes.get(stage)!);
}

function mayStart(
  stage: Stage,
  running: readonly Stage[],
  waiting: readonly Stage[],
  cores: number,
): boolean {
  if (stage.isAlone) return running.length === 0 && waiting.every((other) => other.isAlone);
  const busy = running.reduce((sum, other) => sum + other.cores, 0);
  return running.length === 0 || (busy + stage.cores <= cores && !running.some((other) => other.isAlone));
}

function failure(error: unknown): Outcome {
  return { passed: 0, failed: 1, notes: [error instanceof Error ? error.message : String(error)] };
}

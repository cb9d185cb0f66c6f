/** Tests which stages of continuous integration run at the same time. */
import { expect, test } from 'vitest';
import { type Outcome, runStages, type Stage } from './schedule.ts';

const OUTCOME: Outcome = { passed: 1, failed: 0, notes: [] };

/** Returns stages that last `turns` turns of the event loop, and a record of the stages that ran at the same time. */
function recorded(
  stages: readonly (Pick<Stage, 'name' | 'cores'> & Partial<Stage> & { readonly turns?: number })[],
) {
  const running = new Set<string>();
  const together: string[] = [];
  const run = async (name: string, turns: number) => {
    running.add(name);
    together.push([...running].join(' + '));
    for (let i = 0; i < turns; i++) await new Promise((next) => setImmediate(next));
    running.delete(name);
    return OUTCOME;
  };
  const usual = { phase: 1, usualMinutes: 1 };
  return {
    together,
    stages: stages.map((one) => ({ ...usual, ...one, run: () => run(one.name, one.turns ?? 1) })),
  };
}

test('stages run at the same time while cores are free, in the order of the table', async () => {
  const { stages, together } = recorded([
    { name: 'long', cores: 0.5, turns: 10 },
    { name: 'large', cores: 2 },
    { name: 'medium', cores: 1 },
    { name: 'small', cores: 0.5 },
  ]);
  expect(await runStages(stages, 2.5)).toEqual([OUTCOME, OUTCOME, OUTCOME, OUTCOME]);
  expect(together).toEqual(['long', 'long + large', 'long + medium', 'long + medium + small']);
});

test('a stage that needs more cores than the machine has runs by itself', async () => {
  const { stages, together } = recorded([
    { name: 'large', cores: 4 },
    { name: 'small', cores: 1 },
  ]);
  await runStages(stages, 2);
  expect(together).toEqual(['large', 'small']);
});

test('a stage that measures time runs last and by itself', async () => {
  const { stages, together } = recorded([
    { name: 'timed', cores: 1, isAlone: true },
    { name: 'a', cores: 1, turns: 5 },
    { name: 'b', cores: 1 },
  ]);
  await runStages(stages, 4);
  expect(together).toEqual(['a', 'a + b', 'timed']);
});

test('a stage that throws counts as one failure, and the other stages still run', async () => {
  const broken: Stage = {
    ...{ name: 'broken', phase: 1, cores: 1, usualMinutes: 1 },
    run: () => Promise.reject(new Error('no cluster')),
  };
  const { stages } = recorded([{ name: 'other', cores: 1 }]);
  expect(await runStages([broken, ...stages], 2)).toEqual([
    { passed: 0, failed: 1, notes: ['no cluster'] },
    OUTCOME,
  ]);
});

test('the stages of a phase wait for those before it', async () => {
  const { stages, together } = recorded([
    { name: 'tests', cores: 1, phase: 2 },
    { name: 'samples', cores: 1, phase: 3, turns: 5 },
    { name: 'timed', cores: 1, phase: 3, isAlone: true },
    { name: 'stories', cores: 1, phase: 1, turns: 5 },
  ]);
  await runStages(stages, 4);
  expect(together).toEqual(['stories', 'tests', 'samples', 'timed']);
});

test('a sample for which the time does not suffice, at the pace of the stages before it, is left out and counted', async () => {
  let nowMs = 0;
  const { stages, together } = recorded([
    { name: 'tests', cores: 1, usualMinutes: 10 },
    { name: 'long', cores: 1, phase: 2, usualMinutes: 16, isSample: true },
    { name: 'short', cores: 1, phase: 2, usualMinutes: 14, isSample: true },
    { name: 'last', cores: 1, phase: 2, usualMinutes: 1, isSample: true },
  ]);
  const [tests, long, short, last] = stages;
  const lasting = (stage: Stage, minutes: number): Stage => ({
    ...stage,
    run: () => {
      nowMs += minutes * 60_000;
      return stage.run();
    },
  });
  const given = [lasting(tests!, 20), long!, lasting(short!, 30), last!];
  const outcomes = await runStages(given, 1, { minutes: 50, nowMs: () => nowMs });
  expect(together).toEqual(['tests', 'short']);
  expect(outcomes).toMatchObject([{ passed: 1 }, { skipped: 1 }, { passed: 1 }, { skipped: 1 }]);
  expect(outcomes[1]!.notes).toEqual([
    'left out: it needs 32 minutes on this machine, and 30 are left; .ci/run long runs it',
  ]);
  expect(await runStages(given, 1)).toEqual([OUTCOME, OUTCOME, OUTCOME, OUTCOME]);
});

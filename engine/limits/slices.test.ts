/** Tests how long computations share the event loop: at most one slice in a turn, in order, and with their errors apart. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Steps } from '../metadata/steps.ts';
import { inOrder, inSlices } from './slices.ts';

/** Longer than a slice takes on its own. */
const STEP_MS = 2;
/** A slice of 5 ms ends with the step in which it is over. The rest of a turn may begin another one. */
const MOST_STEPS_IN_TURN = 6;

let turn = 0;
let isCounting = false;

beforeEach(() => {
  turn = 0;
  isCounting = true;
  const count = () => {
    turn++;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
});
afterEach(() => {
  isCounting = false;
});

/** Computes for `count` steps, and notes the turn of each. */
function* working(count: number, turns: number[]): Steps<number> {
  for (let i = 0; i < count; i++) {
    const until = performance.now() + STEP_MS;
    while (performance.now() < until);
    turns.push(turn);
    yield;
  }
  return count;
}

function mostIn(turns: readonly number[]): number {
  return Math.max(...[...Map.groupBy(turns, (each) => each).values()].map(({ length }) => length));
}

test('a short computation is finished at once', () => {
  let isDone = false;
  // biome-ignore lint/correctness/useYield: it has no second step.
  const steps = function* (): Steps<void> {
    isDone = true;
  };
  void inSlices(steps());
  expect(isDone).toBe(true);
});

test('a long computation leaves turns of the event loop to others', async () => {
  const turns: number[] = [];
  expect(await inSlices(working(40, turns))).toBe(40);
  expect(mostIn(turns)).toBeLessThanOrEqual(MOST_STEPS_IN_TURN);
});

test('many computations have no more of a turn together, and none waits for another to end', async () => {
  const turns: number[] = [];
  const each = Array.from({ length: 10 }, (): number[] => []);
  const done = each.map((own) => inSlices(working(8, own)).then(() => turns.push(...own)));
  await Promise.all(done);
  expect(mostIn(turns)).toBeLessThanOrEqual(MOST_STEPS_IN_TURN);
  const [firstEnd, lastBegin] = [
    Math.min(...each.map((own) => own.at(-1)!)),
    Math.max(...each.map(([one]) => one!)),
  ];
  expect(lastBegin).toBeLessThanOrEqual(firstEnd);
});

test('a computation that throws rejects, and the others go on', async () => {
  const failing = function* (): Steps<never> {
    yield* working(5, []);
    throw new Error('of a step');
  };
  const others = [inSlices(working(10, [])), inSlices(failing()), inSlices(working(10, []))];
  expect(await Promise.allSettled(others)).toMatchObject([
    { value: 10 },
    { reason: new Error('of a step') },
    { value: 10 },
  ]);
});

test('computations in order begin when the previous one has ended, even with an error', async () => {
  const run = inOrder();
  const events: string[] = [];
  const noting = function* (name: string, fails = false): Steps<void> {
    events.push(`${name} begins`);
    yield* working(5, []);
    events.push(`${name} ends`);
    if (fails) throw new Error(name);
  };
  const [one, two, three] = [run(() => noting('1', true)), run(() => noting('2')), run(() => noting('3'))];
  await expect(one).rejects.toThrow('1');
  await Promise.all([two, three]);
  expect(events).toEqual(['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends']);
});

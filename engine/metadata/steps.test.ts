/** Tests that a computation with several callers runs once, whichever of them runs its steps. */
import { expect, test } from 'vitest';
import { finish, flatMapped, SharedSteps, type Steps } from './steps.ts';

function counting(count: number, fails = () => false) {
  const runs = { begun: 0, steps: 0 };
  const shared = new SharedSteps(function* (): Steps<object> {
    runs.begun++;
    for (let i = 0; i < count; i++) {
      runs.steps++;
      if (fails()) throw new Error('of a step');
      yield;
    }
    return {};
  });
  return { runs, shared };
}

test('two callers share the steps and the result', () => {
  const { runs, shared } = counting(4);
  const [one, two] = [shared.steps(), shared.steps()];
  one.next();
  two.next();
  one.next();
  expect(finish(two)).toBe(finish(one));
  expect(runs).toEqual({ begun: 1, steps: 4 });
});

test('a caller that cannot wait runs what is left', () => {
  const { runs, shared } = counting(4);
  const slow = shared.steps();
  slow.next();
  expect(shared.isFinished).toBe(false);
  const value = shared.finish();
  expect(shared.isFinished).toBe(true);
  expect(finish(slow)).toBe(value);
  expect(runs).toEqual({ begun: 1, steps: 4 });
});

test('after an error the next caller begins anew', () => {
  let isBroken = true;
  const { runs, shared } = counting(2, () => isBroken);
  expect(() => shared.finish()).toThrow('of a step');
  isBroken = false;
  expect(shared.finish()).toEqual({});
  expect(runs.begun).toBe(2);
});

test('each item of a list is a step', () => {
  const steps = flatMapped([1, 2, 3], (item) => [item, -item]);
  for (let i = 0; i < 3; i++) expect(steps.next().done).toBe(false);
  expect(steps.next()).toEqual({ done: true, value: [1, -1, 2, -2, 3, -3] });
});

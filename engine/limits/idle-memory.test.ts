/** Tests when memory is returned to the system, and that a collection collects. */
import { expect, test } from 'vitest';
import { collectAll, IdleMemory } from './idle-memory.ts';

const MB = 2 ** 20;

/** Returns the number of collections after each check, for the resident memory and the utilization at each. A collection leaves 110 MB. */
function collections(
  readings: readonly (readonly [residentMb: number, utilization: number])[],
): readonly number[] {
  let [residentMb, utilization, count] = [100, 0, 0];
  const idle = new IdleMemory({
    residentBytes: () => residentMb * MB,
    utilization: () => utilization,
    collect: () => {
      count++;
      residentMb = 110;
    },
  });
  return readings.map((reading) => {
    [residentMb, utilization] = reading;
    idle.check();
    return count;
  });
}

test('memory is returned once the process is idle after a growth', () => {
  expect(
    collections([
      [400, 0.9],
      [400, 0.1],
      [400, 0.01],
      [110, 0.01],
    ]),
  ).toEqual([0, 0, 1, 1]);
});

test('memory that a collection did not return is in use, and does not count as growth', () => {
  expect(
    collections([
      [300, 0],
      [157, 0],
      [159, 0],
    ]),
  ).toEqual([1, 1, 2]);
});

test('a small growth is not worth a collection, and neither is memory that was in use from the start', () => {
  expect(
    collections([
      [140, 0],
      [100, 0],
      [147, 0],
    ]),
  ).toEqual([0, 0, 0]);
});

test('growth counts from the least memory since the last collection', () => {
  expect(
    collections([
      [60, 0.9],
      [109, 0],
    ]),
  ).toEqual([0, 1]);
});

test('a collection collects what nothing refers to', async () => {
  const garbage = new WeakRef({ text: 'garbage' });
  // A WeakRef keeps its value until the end of the task that created it.
  await new Promise((resolve) => setTimeout(resolve));
  collectAll();
  expect(garbage.deref()).toBeUndefined();
});

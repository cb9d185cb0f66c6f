/** Tests that a computation ends before its live values fill the heap, and that garbage does not end it. */
import { expect, test } from 'vitest';
import type { Steps } from '../metadata/steps.ts';
import { type Heap, withinHeap } from './heap-room.ts';
import { inSlices } from './slices.ts';

const LIMIT = 1000;

/** A heap in which each of 2,000 steps adds live bytes and garbage. */
function heapThat({ live, garbage }: { readonly live: number; readonly garbage: number }) {
  const state = { live: 500, used: 500, collections: 0, steps: 0 };
  const heap: Heap = {
    limitBytes: LIMIT,
    usedBytes: () => state.used,
    collect: () => {
      state.collections++;
      state.used = state.live;
    },
  };
  function* steps(): Steps<string> {
    for (; state.steps < 2000; state.steps++) {
      state.live += live;
      state.used += live + garbage;
      yield;
    }
    return 'done';
  }
  const refuse = (limit: number) => {
    throw new Error(`over ${limit}`);
  };
  return { state, run: () => inSlices(withinHeap(steps(), refuse, heap)) };
}

test('a computation whose live values fit has its result, however much garbage it makes', async () => {
  const { state, run } = heapThat({ live: 0.1, garbage: 1 });
  expect(await run()).toBe('done');
  expect(state.collections).toBeGreaterThan(3);
  expect(state.collections).toBeLessThan(2000 / 64);
});

test('a computation whose live values do not fit ends before the heap is full', async () => {
  const { state, run } = heapThat({ live: 0.5, garbage: 0.5 });
  await expect(run()).rejects.toThrow('over 1000');
  expect(state.live).toBeLessThan(LIMIT * 0.92);
  expect(state.steps).toBeLessThan(1000);
});

test('a computation beside a small heap is measured only', async () => {
  const { state, run } = heapThat({ live: 0.01, garbage: 0.01 });
  expect(await run()).toBe('done');
  expect(state.collections).toBe(0);
});

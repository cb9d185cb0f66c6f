/** Tests the memory of events that arrive: their limit, waiting for room, and events that never end. */
import { beforeEach, expect, test, vi } from 'vitest';
import { MemoryBudget } from '../limits/memory-budget.ts';
import { AnswerBudget } from './answer-memory.ts';
import { EventMemory } from './event-memory.ts';

const KIB = 1024;
/** The bytes of an event count twice, and the first 16 KiB not at all. */
const BUDGET_KIB = 400;
const LIMIT_MS = 1_000;

let memory: MemoryBudget;
let budget: AnswerBudget;
beforeEach(() => {
  vi.useFakeTimers();
  memory = new MemoryBudget(BUDGET_KIB * KIB);
  budget = new AnswerBudget(memory);
  return () => void vi.useRealTimers();
});

function feed() {
  const calls: string[] = [];
  const event = new EventMemory({
    limitMs: LIMIT_MS,
    pause: () => calls.push('pause'),
    resume: () => calls.push('resume'),
    lost: (reason) => calls.push(reason),
    budget,
  });
  return { calls, event };
}

test('small events never count, however many there are', () => {
  const { calls, event } = feed();
  for (let i = 0; i < 1000; i++) {
    event.arrived(8 * KIB);
    event.whole();
  }
  expect([calls, memory.held]).toEqual([[], 0]);
});

test('an event that takes more than half of the memory is given up, and takes nothing then', () => {
  const { calls, event } = feed();
  for (let i = 0; i < 20; i++) event.arrived(10 * KIB);
  expect(calls).toEqual([expect.stringContaining(`more than ${(BUDGET_KIB / 2) * KIB} bytes`)]);
  expect(memory.held).toBe(0);
});

test('events without room wait, and go on when others have arrived', () => {
  const feeds = Array.from({ length: 4 }, feed);
  for (const { event } of feeds) event.arrived(90 * KIB);
  const waiting = feeds.filter(({ calls }) => calls.includes('pause'));
  expect(waiting.length).toBeGreaterThan(0);
  expect(memory.held).toBeLessThanOrEqual(memory.mostBytes);
  for (const { event } of feeds.filter((one) => !waiting.includes(one))) event.whole();
  vi.advanceTimersByTime(100);
  for (const { calls, event } of waiting) {
    expect([calls, event.isPaused]).toEqual([['pause', 'resume'], false]);
    event.whole();
  }
  expect(memory.held).toBe(0);
});

test('an event that arrives while it waits for room goes on', () => {
  const [one, other] = [feed(), feed()];
  const third = feed();
  for (const { event } of [one, other, third]) event.arrived(95 * KIB);
  const { calls, event } = [one, other, third].find((each) => each.event.isPaused)!;
  event.whole();
  expect([calls, event.isPaused]).toEqual([['pause', 'resume'], false]);
});

test('an event that keeps memory and does not end is given up', () => {
  const { calls, event } = feed();
  event.arrived(50 * KIB);
  expect(memory.held).toBeGreaterThan(0);
  vi.advanceTimersByTime(LIMIT_MS);
  expect([calls, memory.held]).toEqual([['an event takes longer than 1 s'], 0]);
  const small = feed();
  small.event.arrived(2 * KIB);
  vi.advanceTimersByTime(10 * LIMIT_MS);
  expect(small.calls).toEqual([]);
});

test('signs of life are no part of an event, also within one', () => {
  const { calls, event } = feed();
  for (let i = 0; i < 100_000; i++) {
    event.arrived(6);
    event.ignore(6);
  }
  event.arrived(8 * KIB);
  expect([calls, memory.held]).toEqual([[], 0]);
});

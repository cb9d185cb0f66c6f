/** Tests the budget of memory: what fits, what is refused, and that everything is released. */
import { expect, test } from 'vitest';
import { Holding, MemoryBudget, memoryBytes } from './memory-budget.ts';

const KIB = 1024;

test('bytes are held up to the limit, and what does not fit holds nothing', () => {
  const budget = new MemoryBudget(100 * KIB);
  const [one, other] = [new Holding(budget), new Holding(budget)];
  one.hold(60 * KIB);
  expect(() => other.hold(41 * KIB)).toThrow('too many bytes of answers are in memory');
  expect([budget.held, other.bytes]).toEqual([60 * KIB, 0]);
  other.hold(40 * KIB);
  one.release();
  one.release();
  expect(budget.held).toBe(40 * KIB);
  other.release();
  expect(budget.held).toBe(0);
});

test('small answers are not counted, and are served while the budget is used up', () => {
  const budget = new MemoryBudget(32 * KIB);
  const large = new Holding(budget);
  large.hold(32 * KIB);
  const small = new Holding(budget);
  for (let i = 0; i < 16; i++) small.hold(KIB);
  expect(budget.held).toBe(32 * KIB);
  expect(() => small.hold(1)).toThrow('too many bytes of answers');
  large.release();
  small.hold(1);
  expect(budget.held).toBe(16 * KIB + 1);
});

test('any sequence of growth and release leaves nothing held', () => {
  const budget = new MemoryBudget(1000 * KIB);
  for (let seed = 1; seed < 200; seed++) {
    const holdings = Array.from({ length: 5 }, () => new Holding(budget));
    for (let step = 0; step < 40; step++) {
      const bytes = (seed * 7919 * (step + 1)) % (300 * KIB);
      try {
        holdings[(seed + step) % 5]!.hold(bytes);
      } catch {}
      expect(budget.held).toBeLessThanOrEqual(budget.mostBytes);
    }
    for (const holding of holdings) holding.release();
    expect(budget.held).toBe(0);
  }
});

test('what arrives after the release is not held', () => {
  const budget = new MemoryBudget(100 * KIB);
  const holding = new Holding(budget);
  holding.hold(50 * KIB);
  holding.release();
  holding.hold(50 * KIB);
  expect(budget.held).toBe(0);
});

test('the budget is a share of the memory of the container', () => {
  expect(memoryBytes(512 * KIB * KIB)).toBe(Math.floor((512 * KIB * KIB) / 6));
});

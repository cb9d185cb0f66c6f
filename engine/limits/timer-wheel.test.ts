/** When timers expire, and what adding, cancelling and throwing do meanwhile. */
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { TimerWheel, WheelTimer } from './timer-wheel.ts';

const TICK_MS = 25;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

class Recorded extends WheelTimer {
  readonly #then: () => void;
  readonly times: number[] = [];

  constructor(then = () => {}) {
    super();
    this.#then = then;
  }

  expire(): void {
    this.times.push(performance.now());
    this.#then();
  }
}

test('a timer expires once, never early and at most one tick late, after milliseconds as after hours', () => {
  const wheel = new TimerWheel(TICK_MS);
  const delays = [0, 1, 24, 25, 26, 1000, 12_799, 12_800, 12_801, 60_000, 10 * 3_600_000];
  const added = delays.flatMap((ms) =>
    [0, 7, 13].map((laterMs) => {
      vi.advanceTimersByTime(laterMs);
      const timer = new Recorded();
      wheel.add(timer, ms);
      return { timer, ms, from: performance.now() };
    }),
  );
  vi.advanceTimersByTime(10 * 3_600_000 + 1000);
  for (const { timer, ms, from } of added) {
    expect(timer.times).toHaveLength(1);
    const late = timer.times[0]! - from - ms;
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThanOrEqual(TICK_MS + 1);
  }
});

test('a cancelled timer does not expire, and cancelling again or after the end has no effect', () => {
  const wheel = new TimerWheel(TICK_MS);
  const [one, two, three] = [new Recorded(), new Recorded(), new Recorded()];
  for (const timer of [one, two, three]) wheel.add(timer, 100);
  two.cancel();
  two.cancel();
  vi.advanceTimersByTime(200);
  one.cancel();
  expect([one, two, three].map(({ times }) => times.length)).toEqual([1, 0, 1]);
  expect([one, two, three].map(({ isWaiting }) => isWaiting)).toEqual([false, false, false]);
});

test('a timer that is added again is moved, and expires once', () => {
  const wheel = new TimerWheel(TICK_MS);
  const timer = new Recorded();
  wheel.add(timer, 100);
  vi.advanceTimersByTime(75);
  wheel.add(timer, 100);
  vi.advanceTimersByTime(75);
  expect(timer.times).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(timer.times).toHaveLength(1);
});

test('an expiring timer may add itself and others, and cancel those that are due with it', () => {
  const wheel = new TimerWheel(TICK_MS);
  const victim = new Recorded();
  const late = new Recorded();
  const repeated: Recorded = new Recorded(() => {
    victim.cancel();
    if (repeated.times.length < 3) wheel.add(repeated, 0);
    else wheel.add(late, 512 * TICK_MS);
  });
  wheel.add(repeated, 50);
  wheel.add(victim, 50);
  vi.advanceTimersByTime(50 + 2 * TICK_MS + 3);
  expect(victim.times).toEqual([]);
  expect(repeated.times).toHaveLength(3);
  vi.advanceTimersByTime(512 * TICK_MS + TICK_MS);
  expect(late.times).toHaveLength(1);
});

test('a timer that throws does not stop others, and its error is uncaught', async () => {
  const wheel = new TimerWheel(TICK_MS);
  const failing = new Recorded(() => {
    throw new Error('broken');
  });
  const after = new Recorded();
  const later = new Recorded();
  wheel.add(failing, 50);
  wheel.add(after, 50);
  wheel.add(later, 100);
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
  vi.advanceTimersByTime(200);
  expect(await uncaught).toMatchObject({ message: 'broken' });
  for (const listener of listeners) process.on('uncaughtException', listener);
  expect([after, later].map(({ times }) => times.length)).toEqual([1, 1]);
});

test('after the event loop was blocked, everything that is due expires at once, and nothing else', () => {
  vi.useRealTimers();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
  const armed: (() => void)[] = [];
  const timeout = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((tick: () => void) => {
    armed.push(tick);
    return { unref: () => {} };
  }) as never);
  const wheel = new TimerWheel(TICK_MS);
  const due = [10, 100, 13_000, 99_990].map((ms) => ({ timer: new Recorded(), ms }));
  const early = [100_050, 120_000].map((ms) => ({ timer: new Recorded(), ms }));
  for (const { timer, ms } of [...due, ...early]) wheel.add(timer, ms);
  clock.mockReturnValue(101_000);
  armed.shift()!();
  expect(due.map(({ timer }) => timer.times.length)).toEqual([1, 1, 1, 1]);
  expect(early.map(({ timer }) => timer.times.length)).toEqual([0, 0]);
  clock.mockReturnValue(101_050);
  armed.shift()!();
  expect(early.map(({ timer }) => timer.times.length)).toEqual([1, 0]);
  clock.mockRestore();
  timeout.mockRestore();
});

test('one Node timer serves all, only while timers wait, and the wheel starts again afterwards', () => {
  const wheel = new TimerWheel(TICK_MS);
  expect(vi.getTimerCount()).toBe(0);
  const timers = Array.from({ length: 10_000 }, () => new Recorded());
  for (const [i, timer] of timers.entries()) wheel.add(timer, i);
  expect(vi.getTimerCount()).toBe(1);
  for (const timer of timers) timer.cancel();
  vi.advanceTimersByTime(TICK_MS);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(3_600_000);
  const again = new Recorded();
  wheel.add(again, 50);
  vi.advanceTimersByTime(75);
  expect(again.times).toHaveLength(1);
});

test('a waiting timer does not keep the process running', () => {
  const program = `
    import { TimerWheel, WheelTimer } from './engine/limits/timer-wheel.ts';
    class Timer extends WheelTimer { expire() { console.log('expired'); } }
    new TimerWheel(25).add(new Timer(), 60_000);
  `;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { timeout: 30_000 });
  expect(String(output)).toBe('');
});

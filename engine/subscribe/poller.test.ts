/** Who is told what, and how often is asked: pollers alone, with answers given by hand. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EngineError } from '../errors/engine-error.ts';
import { Poller, type QueryOutcome, type Values } from './poller.ts';
import { Turns } from './turns.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const row = (text: string): QueryOutcome => ({ kind: 'row', row: [text] });

/** A poller, the questions it has asked, and a way to answer the oldest that is open. */
function pollerUnderTest() {
  const asked: Values[] = [];
  const open: ((outcome: QueryOutcome) => void)[] = [];
  const poller = new Poller({
    query: (values) => {
      asked.push(values);
      return new Promise((resolve) => open.push(resolve));
    },
    intervalMs: 100,
    beforeRound: () => {},
  });
  const answer = async (outcome: QueryOutcome) => {
    open.shift()!(outcome);
    await vi.advanceTimersByTimeAsync(0);
  };
  const nextRound = () => vi.advanceTimersByTimeAsync(100);
  return { poller, asked, answer, nextRound };
}

test('a watcher is told the first outcome, and then only others', async () => {
  const { poller, answer, nextRound } = pollerUnderTest();
  const told: QueryOutcome[] = [];
  poller.watch([], (outcome) => told.push(outcome));
  await answer(row('a'));
  await nextRound();
  await answer(row('a'));
  expect(told).toEqual([row('a')]);
  await nextRound();
  await answer(row('b'));
  expect(told).toEqual([row('a'), row('b')]);
});

test('watchers with the same values are one question a round, others one each', async () => {
  const { poller, asked, answer, nextRound } = pollerUnderTest();
  poller.watch(['1'], () => {});
  await answer(row('a'));
  poller.watch(['1'], () => {});
  await answer(row('a'));
  poller.watch(['2'], () => {});
  await answer(row('b'));
  asked.length = 0;
  await nextRound();
  expect(asked).toEqual([['1'], ['2']]);
});

test('a newcomer is not told what was asked before it came', async () => {
  const { poller, asked, answer } = pollerUnderTest();
  const [first, second]: [QueryOutcome[], QueryOutcome[]] = [[], []];
  poller.watch([], (outcome) => first.push(outcome));
  poller.watch([], (outcome) => second.push(outcome));
  await answer(row('old'));
  expect([first, second]).toEqual([[row('old')], []]);
  expect(asked).toHaveLength(2);
  await answer(row('old'));
  expect([first, second]).toEqual([[row('old')], [row('old')]]);
});

test('a question that is still open is not asked again', async () => {
  const { poller, asked, nextRound } = pollerUnderTest();
  poller.watch([], () => {});
  await nextRound();
  await nextRound();
  expect(asked).toHaveLength(1);
});

test('a failure is told once, and so is the recovery', async () => {
  const { poller, answer, nextRound } = pollerUnderTest();
  const told: string[] = [];
  poller.watch([], (outcome) => told.push(outcome.kind));
  const failure = (): QueryOutcome => ({
    kind: 'failure',
    error: new EngineError('unexpected', { text: 'gone' }),
  });
  await answer(row('a'));
  for (const outcome of [failure(), failure(), row('a')]) {
    await nextRound();
    await answer(outcome);
  }
  expect(told).toEqual(['row', 'failure', 'row']);
});

test('who has left hears nothing, and when all have nothing is asked', async () => {
  const { poller, asked, answer, nextRound } = pollerUnderTest();
  const told: QueryOutcome[] = [];
  const leave = poller.watch([], (outcome) => told.push(outcome));
  leave();
  await answer(row('a'));
  await nextRound();
  expect([told, asked.length, poller.isIdle, vi.getTimerCount()]).toEqual([[], 1, true, 0]);
});

test('no more than so many things happen at once, in the order they came', async () => {
  const turns = new Turns(2);
  const ends: (() => void)[] = [];
  const begun: number[] = [];
  const all = [0, 1, 2, 3].map((i) =>
    turns.take(() => {
      begun.push(i);
      return new Promise<void>((resolve) => ends.push(resolve));
    }),
  );
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual([0, 1]);
  ends[0]!();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual([0, 1, 2]);
  for (const i of [1, 2]) ends[i]!();
  await vi.advanceTimersByTimeAsync(0);
  ends[3]!();
  await Promise.all(all);
});

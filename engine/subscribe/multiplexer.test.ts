/** Who is asked with whom, and what becomes of the others when one fails: answers given by hand. */
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { EngineError } from '../errors/engine-error.ts';
import { Multiplexer } from './multiplexer.ts';
import type { QueryOutcome, Values } from './poller.ts';

const failure: QueryOutcome = { kind: 'failure', error: new EngineError('unexpected', {}) };
const rowOf = ([value]: Values): [string] => [`row of ${String(value)}`];
const told = (...values: string[]): QueryOutcome[] =>
  values.map((value) => ({ kind: 'row', row: rowOf([value]) }));

/** A multiplexer over values of which some are bad, and the statements it has asked. */
function multiplexerUnderTest({ most = 100, bad = new Set<string>(), isFailingTogether = false } = {}) {
  const statements: string[] = [];
  const multiplexer = new Multiplexer({
    query: async (values) => {
      statements.push(String(values[0]));
      return bad.has(String(values[0])) ? failure : { kind: 'row', row: rowOf(values) };
    },
    runForMany: async (each) => {
      statements.push(each.map(([value]) => value).join('+'));
      if (isFailingTogether || each.some(([value]) => bad.has(String(value)))) throw new Error('failed');
      return each.map(rowOf);
    },
    most,
  });
  /** What a cohort asks with is the same array each time. */
  const cohorts = new Map<string, Values>();
  const cohort = (value: string) => {
    const values = cohorts.get(value) ?? [value];
    cohorts.set(value, values);
    return values;
  };
  const round = async (...all: string[]) => {
    statements.length = 0;
    const outcomes = await Promise.all(
      all.map((value) => multiplexer.query(cohort(value), new AbortController().signal)),
    );
    return { outcomes, statements: [...statements] };
  };
  return { multiplexer, round, bad };
}

test('those who ask in one moment are one statement, and each is told its own row', async () => {
  const { round } = multiplexerUnderTest();
  expect(await round('a', 'b', 'c')).toEqual({ outcomes: told('a', 'b', 'c'), statements: ['a+b+c'] });
});

test('who asks alone is asked by the plain statement', async () => {
  const { round } = multiplexerUnderTest();
  expect(await round('a')).toEqual({ outcomes: told('a'), statements: ['a'] });
});

test('a statement asks for so many at the most', async () => {
  const { round } = multiplexerUnderTest({ most: 2 });
  const { outcomes, statements } = await round('a', 'b', 'c', 'd', 'e');
  expect(outcomes).toEqual(told('a', 'b', 'c', 'd', 'e'));
  expect(statements).toEqual(['a+b', 'c+d', 'e']);
});

test('where each is to be asked alone, each is', async () => {
  const { round } = multiplexerUnderTest({ most: 1 });
  expect((await round('a', 'b')).statements).toEqual(['a', 'b']);
});

test('the failure of one is not that of the others, and it is asked alone until it is well', async () => {
  const { round, bad } = multiplexerUnderTest({ bad: new Set(['b']) });
  const [a, c] = told('a', 'c');
  expect(await round('a', 'b', 'c')).toEqual({
    outcomes: [a, failure, c],
    statements: ['a+b+c', 'a', 'b', 'c'],
  });
  expect(await round('a', 'b', 'c')).toEqual({ outcomes: [a, failure, c], statements: ['b', 'a+c'] });
  bad.clear();
  expect((await round('a', 'b', 'c')).statements).toEqual(['b', 'a+c']);
  expect((await round('a', 'b', 'c')).statements).toEqual(['a+b+c']);
});

test('where all are well alone and fail together, they are asked alone, and together again later', async () => {
  const { round } = multiplexerUnderTest({ isFailingTogether: true });
  expect(await round('a', 'b')).toEqual({ outcomes: told('a', 'b'), statements: ['a+b', 'a', 'b'] });
  for (let i = 0; i < 99; i++) expect((await round('a', 'b')).statements).toEqual(['a', 'b']);
  expect((await round('a', 'b')).statements).toEqual(['a+b', 'a', 'b']);
});

test('a round leaves nothing behind on the signals of its cohorts, which last as long as their live queries', async () => {
  const { multiplexer } = multiplexerUnderTest();
  const signals = [new AbortController().signal, new AbortController().signal];
  for (let i = 0; i < 3; i++)
    await Promise.all(signals.map((signal, j) => multiplexer.query([`${j}`], signal)));
  expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual([0, 0]);
});

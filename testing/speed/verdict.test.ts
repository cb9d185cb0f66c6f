/** Tests which figures fail the speed measurement, which are measured again, and how they are printed. */
import { describe, expect, test } from 'vitest';
import type { Counts } from './counts.ts';
import { tableOf } from './table.ts';
import { lowerBound, timingOf } from './timing.ts';
import { bestOf, namesToRepeat, type Result, type Results, regressionsIn } from './verdict.ts';

const COST = { own: 80, postgres: 40, p50: 1, p99: 3 };
const COUNTS: Counts = { statements: 1, writes: 2, errors: 0, allocated: 40_000, retained: 0 };
const NAMES = ['rows', 'key', 'filters', 'levels', 'search', 'update'];

function result(ratio = 0.8, counts: Partial<Counts> = {}): Result {
  return {
    title: 'a request',
    ratio,
    ratioAtLeast: ratio,
    engine: COST,
    byHand: COST,
    counts: { ...COUNTS, ...counts },
  };
}

/** Returns results that equal the baseline, except for those given. */
function results(changed: Results = {}): Results {
  return { ...Object.fromEntries(NAMES.map((name) => [name, result()])), ...changed };
}

const BASELINE = results();
const found = (now: Results) => regressionsIn(now, BASELINE).map(({ of, what }) => `${of}: ${what}`);

describe('the verdict', () => {
  test('passes what equals the baseline, what is better, and what is worse within the limits', () => {
    expect(found(results())).toEqual([]);
    expect(found(results({ key: result(0.4, { statements: 0, writes: 1, allocated: 20_000 }) }))).toEqual([]);
    const withinLimits = { allocated: 41_000, retained: 20_000 };
    expect(found(results({ key: result(0.9, withinLimits) }))).toEqual([]);
  });

  test('fails a single workload whose CPU is more than 15 % above the baseline', () => {
    const regressions = regressionsIn(results({ key: result(0.93) }), BASELINE);
    expect(regressions).toEqual([
      {
        of: 'key',
        what: 'CPU',
        message: 'CPU beside the server written by hand: 0.93 instead of 0.80, 16 % more, limit 15 %',
      },
    ]);
  });

  test('passes a single workload whose CPU varies so much that the limit may not be exceeded', () => {
    expect(found(results({ key: { ...result(0.95), ratioAtLeast: 0.9 } }))).toEqual([]);
    expect(found(results({ key: { ...result(0.99), ratioAtLeast: 0.93 } }))).toEqual(['key: CPU']);
  });

  test('fails all when the geometric mean of CPU is more than 8 % above the baseline', () => {
    const worse = (ratio: number) => Object.fromEntries(NAMES.map((name) => [name, result(ratio)]));
    expect(found(worse(0.8 * 1.09))).toEqual(['all: CPU']);
    expect(found(worse(0.8 * 1.07))).toEqual([]);
  });

  test('passes a geometric mean whose ratios vary so much that the limit may not be exceeded', () => {
    const varying = (ratioAtLeast: number) =>
      Object.fromEntries(NAMES.map((name) => [name, { ...result(0.8 * 1.1), ratioAtLeast }]));
    expect(found(varying(0.8))).toEqual([]);
    expect(found(varying(0.86))).toEqual(['all: CPU']);
  });

  test('has no mean of fewer than five workloads', () => {
    expect(found({ key: result(0.8 * 1.1), rows: result(0.8 * 1.1) })).toEqual([]);
  });

  test.each(['statements', 'writes', 'errors'] as const)('fails one more of %s in a request', (what) => {
    expect(found(results({ key: result(0.8, { [what]: 3 }) }))).toEqual([`key: ${what}`]);
  });

  test('does not compare the writes of a response that is sent in pieces', () => {
    expect(found(results({ key: result(0.8, { writes: null }) }))).toEqual([]);
  });

  test('allows more bytes for a response that is sent in pieces', () => {
    const pieces = (allocated: number) => ({ ...result(0.8, { writes: null, allocated }) });
    const baseline = results({ key: pieces(40_000) });
    const worse = (allocated: number) => regressionsIn(results({ key: pieces(allocated) }), baseline);
    expect(worse(50_000)).toEqual([]);
    expect(worse(57_000).map(({ what }) => what)).toEqual(['allocated']);
  });

  test('fails bytes that requests retain, and bytes that they allocate', () => {
    expect(found(results({ key: result(0.8, { retained: 60_000 }) }))).toEqual(['key: retained']);
    expect(found(results({ key: result(0.8, { allocated: 46_500 }) }))).toEqual(['key: allocated']);
    const all = Object.fromEntries(NAMES.map((name) => [name, result(0.8, { allocated: 43_500 })]));
    expect(found(all)).toEqual(['all: allocated']);
  });

  test('fails a workload that is not in the baseline', () => {
    expect(found(results({ action: result() }))).toEqual(['action: baseline']);
  });
});

describe('a further try', () => {
  const regressions = regressionsIn(
    results({ key: result(0.95), rows: result(0.8, { errors: 1 }) }),
    BASELINE,
  );

  test('repeats what failed, CPU and counts apart', () => {
    expect(namesToRepeat(regressions, NAMES, false)).toEqual(['key']);
    expect(namesToRepeat(regressions, NAMES, true)).toEqual(['rows']);
  });

  test('repeats everything when the mean failed', () => {
    expect(namesToRepeat([{ of: 'all', what: 'CPU', message: '' }], NAMES, false)).toEqual(NAMES);
  });

  test('keeps the better CPU and the least of each count, whichever try they are from', () => {
    const first = results({ key: result(0.95, { allocated: 40_000, retained: 900 }) });
    const second = { key: result(0.82, { allocated: 41_000, retained: 0 }) };
    expect(bestOf(first, second)).toEqual(results({ key: result(0.82, { retained: 0 }) }));
    expect(bestOf(second, first)['key']!.ratio).toBe(0.82);
  });
});

test('the ratio is the median of paired rounds, so that a slow round of one server does not count', () => {
  const cost = (own: number) => ({ ...COST, own, postgres: 0 });
  const pairs = [
    [80, 100],
    [160, 200],
    [900, 100],
    [8, 10],
    [80, 800],
  ] as const;
  const samples = pairs.map(([engine, byHand]) => ({ engine: cost(engine), byHand: cost(byHand) }));
  expect(timingOf(samples).ratio).toBe(0.8);
});

test('the lower bound of a median is close to it for many values, and the least of few', () => {
  expect(lowerBound([3, 1, 2])).toBe(1);
  expect(lowerBound(Array.from({ length: 12 }, (_, i) => i))).toBe(2);
  expect(lowerBound(Array.from({ length: 1000 }, (_, i) => i))).toBe(469);
});

test('the table has each workload beside its baseline, and the mean', () => {
  const lines = tableOf({ key: result(0.88, { statements: 2 }), rows: result() }, BASELINE).split('\n');
  const [head, key, rows, mean] = lines.map((line) => line.split(/ {2,}/));
  expect(head!.slice(5, 9)).toEqual(['×', 'baseline', 'change', 'statements']);
  expect(key!.slice(0, 9)).toEqual(['key', '80', '40', '80', '40', '0.88', '0.80', '+10 %', '1 → 2']);
  expect(rows!.slice(5, 9)).toEqual(['0.80', '0.80', '0 %', '1']);
  expect(mean!.slice(0, 4)).toEqual(['geometric mean', '0.84', '0.80', '+5 %']);
});

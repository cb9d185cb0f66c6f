/** Compares results with the baseline. In: results of a run, those that are committed. Out: what is worse than its limit, and the names of
 *  what must be measured again to be sure. Not here: how results are measured (timing.ts, counts.ts), how they are printed (table.ts). */
import type { Counts } from './counts.ts';
import type { Timing } from './timing.ts';

export type Result = Timing & { readonly title: string; readonly counts?: Counts | undefined };
export type Results = Readonly<Record<string, Result>>;

export type Regression = {
  /** The name of a workload, or `all` for the geometric mean. */
  readonly of: string;
  readonly what: 'CPU' | keyof Counts | 'baseline';
  readonly message: string;
};

/** The most by which CPU may exceed the baseline: the geometric mean of all workloads, and a single one. */
const MOST_OF_ALL = 1.08;
const MOST_OF_ONE = 1.15;
/** Allocated bytes vary by some hundredths with what is compiled when. */
const MOST_ALLOCATED_OF_ALL = 1.08;
const MOST_ALLOCATED_OF_ONE = 1.15;
/** A long response is sent in as many pieces as it arrives in, which a busy machine decides, and each piece allocates. */
const MOST_ALLOCATED_IN_PIECES = 1.4;
/** Bytes retained of a thousand requests, above the baseline: a closure for each request is 60,000. */
const MOST_RETAINED = 30_000;
/** Fewer workloads have no mean that is steadier than each of them. */
const LEAST_FOR_MEAN = 5;

const CPU = 'CPU beside the server written by hand';
const ALLOCATED = 'bytes allocated by a request';
const EXACT = { statements: 'statements', writes: 'socket writes', errors: 'errors constructed' } as const;

export function regressionsIn(now: Results, baseline: Results): readonly Regression[] {
  const each = Object.entries(now).flatMap(([name, result]) => {
    const before = baseline[name];
    return before === undefined
      ? [{ of: name, what: 'baseline', message: 'is not in the baseline' } as const]
      : [...cpuOfOne(name, result, before), ...countsOfOne(name, result.counts, before.counts)];
  });
  const names = Object.keys(now).filter((name) => baseline[name] !== undefined);
  return names.length < LEAST_FOR_MEAN ? each : [...meanOfAll(now, baseline, names), ...each];
}

/** Returns the names of the workloads whose CPU decides whether the regressions are real; those of counts, if `isCounted`. */
export function namesToRepeat(
  regressions: readonly Regression[],
  names: readonly string[],
  isCounted: boolean,
): readonly string[] {
  const relevant = regressions.filter(({ what }) => what !== 'baseline' && isCounted === (what !== 'CPU'));
  if (relevant.some(({ of }) => of === 'all')) return names;
  return names.filter((name) => relevant.some(({ of }) => of === name));
}

/** Returns the better figure of each kind: other work on the machine makes a figure worse, hardly ever better. */
export function bestOf(first: Results, second: Results): Results {
  const merged = Object.entries(second).map(([name, result]) => {
    const before = first[name];
    if (before === undefined) return [name, result] as const;
    const timing = result.ratio < before.ratio ? result : before;
    const ratioAtLeast = Math.min(result.ratioAtLeast, before.ratioAtLeast);
    return [name, { ...timing, ratioAtLeast, counts: leastOf(before.counts, result.counts) }] as const;
  });
  return { ...first, ...Object.fromEntries(merged) };
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

function cpuOfOne(name: string, now: Result, before: Result): readonly Regression[] {
  // On a busy machine a figure varies by more than its limit: it is worse when it is very likely to be.
  if (now.ratioAtLeast <= before.ratio * MOST_OF_ONE) return [];
  const message = exceeded(CPU, now.ratio, before.ratio, MOST_OF_ONE, hundredths)!;
  return [{ of: name, what: 'CPU', message }];
}

function countsOfOne(
  name: string,
  now: Counts | undefined,
  before: Counts | undefined,
): readonly Regression[] {
  if (!now || !before) return [];
  const found: Regression[] = [];
  for (const [what, noun] of Object.entries(EXACT) as [keyof typeof EXACT, string][]) {
    const [is, was] = [now[what], before[what]];
    if (is === null || was === null || is <= was) continue;
    found.push({ of: name, what, message: `${noun} of a request: ${is} instead of ${was}` });
  }
  const allocated =
    now.allocated !== null &&
    before.allocated !== null &&
    exceeded(ALLOCATED, now.allocated, before.allocated, mostAllocated(before), String);
  if (allocated) found.push({ of: name, what: 'allocated', message: allocated });
  if (now.retained > before.retained + MOST_RETAINED) {
    const message = `bytes retained of a thousand requests: ${now.retained} instead of ${before.retained}, limit ${before.retained + MOST_RETAINED}`;
    found.push({ of: name, what: 'retained', message });
  }
  return found;
}

function mostAllocated({ writes }: Counts): number {
  return writes === null ? MOST_ALLOCATED_IN_PIECES : MOST_ALLOCATED_OF_ONE;
}

function meanOfAll(now: Results, baseline: Results, names: readonly string[]): readonly Regression[] {
  const found: Regression[] = [];
  const ratio = (results: Results) => geometricMean(names.map((name) => results[name]!.ratio));
  const isLikely =
    ratio(now) * shareOfLowerBound(names.map((name) => now[name]!)) > ratio(baseline) * MOST_OF_ALL;
  const cpu = exceeded(CPU, ratio(now), ratio(baseline), MOST_OF_ALL, hundredths);
  if (cpu && isLikely) found.push({ of: 'all', what: 'CPU', message: cpu });
  const counted = names.filter((name) => now[name]!.counts?.allocated && baseline[name]!.counts?.allocated);
  const bytes = (results: Results) => geometricMean(counted.map((name) => results[name]!.counts!.allocated!));
  const allocated =
    counted.length > 0 &&
    exceeded(ALLOCATED, bytes(now), bytes(baseline), MOST_ALLOCATED_OF_ALL, (value) => value.toFixed(0));
  if (allocated) found.push({ of: 'all', what: 'allocated', message: allocated });
  return found;
}

/** Returns the lower bound of the confidence interval of the geometric mean, as a share of the mean: errors of single ratios are independent
 *  and partly cancel, so that the square root of the sum of their squares counts. */
function shareOfLowerBound(results: readonly Result[]): number {
  const squares = results.map(({ ratio, ratioAtLeast }) => Math.log(ratio / ratioAtLeast) ** 2);
  return Math.exp(-Math.sqrt(squares.reduce((sum, square) => sum + square, 0)) / results.length);
}

/** Returns a message when a figure exceeds its baseline by more than the factor. */
function exceeded(
  what: string,
  now: number,
  before: number,
  most: number,
  print: (value: number) => string,
): string | null {
  if (now <= before * most) return null;
  const percent = (factor: number) => `${Math.round((factor - 1) * 100)} %`;
  return `${what}: ${print(now)} instead of ${print(before)}, ${percent(now / before)} more, limit ${percent(most)}`;
}

function hundredths(ratio: number): string {
  return ratio.toFixed(2);
}

function leastOf(first: Counts | undefined, second: Counts | undefined): Counts | undefined {
  if (!first || !second) return first ?? second;
  const least = (one: number | null, other: number | null) =>
    one === null || other === null ? null : Math.min(one, other);
  return {
    statements: Math.min(first.statements, second.statements),
    writes: least(first.writes, second.writes),
    errors: Math.min(first.errors, second.errors),
    allocated: least(first.allocated, second.allocated),
    retained: Math.min(first.retained, second.retained),
  };
}

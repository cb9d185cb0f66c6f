/** Prints results beside the baseline. In: results of a run, those that are committed. Out: a table as text. */
import { geometricMean, type Result, type Results } from './verdict.ts';

type Column = {
  readonly head: string;
  readonly cell: (result: Result, before: Result | undefined) => string;
};

const COLUMNS: readonly Column[] = [
  { head: 'engine µs', cell: ({ engine }) => engine.own.toFixed(0) },
  { head: 'Postgres', cell: ({ engine }) => engine.postgres.toFixed(0) },
  { head: 'by hand µs', cell: ({ byHand }) => byHand.own.toFixed(0) },
  { head: 'Postgres', cell: ({ byHand }) => byHand.postgres.toFixed(0) },
  { head: '×', cell: ({ ratio }) => ratio.toFixed(2) },
  { head: 'baseline', cell: (_, before) => before?.ratio.toFixed(2) ?? '-' },
  { head: 'change', cell: ({ ratio }, before) => (before ? change(ratio, before.ratio) : '-') },
  {
    head: 'statements',
    cell: ({ counts }, before) => beside(counts?.statements, before?.counts?.statements),
  },
  { head: 'writes', cell: ({ counts }, before) => beside(counts?.writes, before?.counts?.writes) },
  { head: 'errors', cell: ({ counts }, before) => beside(counts?.errors, before?.counts?.errors) },
  { head: 'bytes', cell: ({ counts }) => String(counts?.allocated ?? '-') },
  {
    head: 'change',
    cell: ({ counts }, before) =>
      counts?.allocated && before?.counts?.allocated
        ? change(counts.allocated, before.counts.allocated)
        : '-',
  },
  { head: 'retained', cell: ({ counts }) => String(counts?.retained ?? '-') },
  { head: 'p99 ms', cell: ({ engine, byHand }) => `${engine.p99.toFixed(1)} / ${byHand.p99.toFixed(1)}` },
];

const LEGEND = `Microseconds of CPU for one request, of the server and of Postgres; × is engine and Postgres beside the server written by hand
and Postgres. Counted for the engine: statements, socket writes and errors of a request, bytes that a request allocates, and bytes that
remain of a thousand. Milliseconds of the slowest hundredth (engine / by hand) have no limit: they depend on what else the machine does.`;

export function tableOf(now: Results, baseline: Results): string {
  const names = Object.keys(now);
  const rows = names.map((name) => [name, ...COLUMNS.map(({ cell }) => cell(now[name]!, baseline[name]))]);
  const inBoth = names.filter((name) => baseline[name] !== undefined);
  const mean = (results: Results, of: readonly string[]) =>
    geometricMean(of.map((name) => results[name]!.ratio));
  const last = COLUMNS.map(() => '');
  last[4] = mean(now, names).toFixed(2);
  if (inBoth.length > 0) {
    last[5] = mean(baseline, inBoth).toFixed(2);
    last[6] = change(mean(now, inBoth), mean(baseline, inBoth));
  }
  const lines = [['', ...COLUMNS.map(({ head }) => head)], ...rows, ['geometric mean', ...last]];
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const text = lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
  return `${text.join('\n')}\n\n${LEGEND}`;
}

function change(now: number, before: number): string {
  const percent = Math.round((now / before - 1) * 100);
  return percent > 0 ? `+${percent} %` : `${percent} %`;
}

function beside(now: number | null | undefined, before: number | null | undefined): string {
  if (now === null || now === undefined) return '-';
  return before === undefined || before === null || before === now ? String(now) : `${before} → ${now}`;
}

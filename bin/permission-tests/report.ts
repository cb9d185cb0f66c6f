/** Prints the results of PermissionTests: for people, as JSON, as JUnit XML and as TAP version 14. In: results. Out: text.
 *  Not here: running the tests (run-tests.ts). */
import { paint } from '../../operator/folder/paint.ts';
import { type Coverage, coverageAsJson, printCoverage } from './coverage.ts';
import { type MutationResult, mutationsAsJson, printMutations } from './mutate.ts';
import type { TestResult } from './run-tests.ts';

export type TestReport = {
  readonly results: readonly TestResult[];
  /** Present when it was requested. */
  readonly coverage?: Coverage;
  /** Present when they were requested and all tests passed. */
  readonly mutations?: readonly MutationResult[];
};

/** The formats of `-o`, in the order of the help. */
export const FORMATS = {
  text: textReport,
  json: jsonReport,
  junit: junitReport,
  tap: tapReport,
} as const satisfies Record<string, (report: TestReport) => string>;
export type Format = keyof typeof FORMATS;

export function isPassed({ differences }: TestResult): boolean {
  return differences.length === 0;
}

/** Returns the coverage and the unnoticed permissions as text for formats that have no part for them; empty for the others. */
export function printNotes(report: TestReport, format: Format): string {
  return format === 'junit' || format === 'tap' ? extrasOf(report) : '';
}

function extrasOf({ coverage, mutations }: TestReport): string {
  const parts = [coverage && printCoverage(coverage), mutations && printMutations(mutations)];
  return parts
    .filter((part) => part !== undefined)
    .map((part) => `\n${part}`)
    .join('');
}

function textReport({ results, ...rest }: TestReport): string {
  const width = Math.max(0, ...results.map(({ test }) => test.name.length));
  const lines = results.flatMap((result) => {
    const { test, differences, notes = [] } = result;
    const sign = isPassed(result) ? paint('green', 'ok  ') : paint('red', 'FAIL');
    const position = paint('dim', test.position);
    return [
      `${sign}  ${test.name.padEnd(width)}  ${position}`,
      ...[...differences, ...notes].map((text) => `      ${text}`),
    ];
  });
  return [...lines, paint('bold', countsOf(results)), extrasOf({ results, ...rest })].join('\n');
}

function countsOf(results: readonly TestResult[]): string {
  const failed = results.filter((result) => !isPassed(result)).length;
  const tests = results.length === 1 ? '1 test' : `${results.length} tests`;
  return failed === 0 ? `${tests} passed.` : `${failed} of ${tests} failed.`;
}

function jsonReport({ results, coverage, mutations }: TestReport): string {
  const tests = results.map((result) => ({
    name: result.test.name,
    place: result.test.position,
    role: result.test.spec.role,
    passed: isPassed(result),
    differences: result.differences,
    durationMs: Math.round(result.durationMs),
    ...(result.notes ? { notes: result.notes } : {}),
  }));
  const passed = results.filter(isPassed).length;
  const report = {
    passed,
    failed: results.length - passed,
    tests,
    ...(coverage ? { coverage: coverageAsJson(coverage) } : {}),
    ...(mutations ? { mutations: mutationsAsJson(mutations) } : {}),
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}

function junitReport({ results }: TestReport): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(3);
  const failed = results.filter((result) => !isPassed(result)).length;
  const total = results.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const cases = results.map((result) => {
    const { test, differences, durationMs, notes } = result;
    const open = `    <testcase name="${xml(test.name)}" classname="${xml(test.spec.role)}" file="${xml(test.position)}" time="${seconds(durationMs)}"`;
    if (notes) return `${open}><system-out>${xml(notes.join('\n'))}</system-out></testcase>`;
    if (isPassed(result)) return `${open}/>`;
    const [first = ''] = differences;
    const failure = `      <failure message="${xml(first)}">${xml(differences.join('\n'))}</failure>`;
    return [`${open}>`, failure, '    </testcase>'].join('\n');
  });
  const counts = `tests="${results.length}" failures="${failed}" time="${seconds(total)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="PermissionTest" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

/** Escapes a text for XML 1.0, which cannot contain other control characters at all. */
function xml(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0, 2.2
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '�')
      .replace(/[&<>"\n]/g, (character) => ENTITIES[character]!)
  );
}

function tapReport({ results }: TestReport): string {
  const lines = results.flatMap((result, i) => {
    const description = `${i + 1} - ${result.test.name.replaceAll('#', '\\#')}`;
    const notes = (result.notes ?? []).map((note) => `# ${note.replaceAll('\n', ' ')}`);
    if (isPassed(result)) return [`ok ${description}`, ...notes];
    return [
      `not ok ${description}`,
      '  ---',
      `  at: ${JSON.stringify(result.test.position)}`,
      '  differences:',
      ...result.differences.map((text) => `    - ${JSON.stringify(text)}`),
      '  ...',
    ];
  });
  return ['TAP version 14', `1..${results.length}`, ...lines, ''].join('\n');
}

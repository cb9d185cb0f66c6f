/** Tests that steps of one shape share their text and have the parameters that they would have by themselves, on random steps. */
import { expect, test } from 'vitest';
import type { Insert, InsertStep } from '../plan/mutation-types.ts';
import { type Leaf, TRUE } from '../resolve/predicate.ts';
import { compile, type Fragment, type Statement, sql } from './fragment.ts';
import { Aliases } from './scope.ts';
import { StepStatements } from './step-statements.ts';
import { constant, int4, named, varchar, variable } from './testing/build.ts';
import { writeOf } from './write.ts';

const TABLES = [named('book'), named('author')];
const COLUMNS = [
  { column: 'title', type: varchar },
  { column: 'author_id', type: int4 },
];

function stepOf(rows: Insert['rows'], table = 0, width = 2): InsertStep {
  const insert: Insert = {
    kind: 'insert',
    table: TABLES[table]!,
    columns: COLUMNS.slice(0, width),
    rows,
    onConflict: null,
    check: TRUE,
  };
  return { insert, keeps: [], isAnswered: false, unlessInserted: null, path: [] };
}

const compose = ({ insert }: InsertStep): Fragment => sql`${writeOf(insert, 't', new Aliases())} returning 1`;

/** The text with the values in place of the parameters, so that statements with other numbers compare as equal. */
function inlined({ text, parameters }: Statement): string {
  return text.replaceAll(/\$(\d+)/g, (_, number) => JSON.stringify(parameters[Number(number) - 1]));
}

/** Returns numbers from 0 below `most`, equal for equal seeds. */
function random(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * most);
  };
}

test('a step has the statement that it would have by itself', () => {
  const next = random(7);
  const statements = new StepStatements();
  const texts = new Map<string, string>();
  for (let i = 0; i < 500; i++) {
    const width = next(3);
    const cell = (column: number): Leaf | 'default' => {
      const type = COLUMNS[column]!.type;
      const kind = next(4);
      if (kind === 0) return 'default';
      // Few values, so that equal ones are in one statement.
      if (kind === 1) return constant(String(next(2)), type);
      return kind === 2
        ? { kind: 'inserted', step: next(2), kept: next(2), type }
        : { ...variable(`v${next(3)}`), type };
    };
    const rows = Array.from({ length: 1 + next(4) }, () => Array.from({ length: width }, (_, c) => cell(c)));
    const step = stepOf(rows, next(2), width);
    const shared = statements.statementOf(step, compose);
    expect(inlined(shared)).toBe(inlined(compile(compose(step))));
    texts.set(shared.text, shared.text);
  }
  expect(texts.size).toBeGreaterThan(20);
});

test('equal objects are composed once, whatever their number of related rows', () => {
  let count = 0;
  const statements = new StepStatements();
  for (let i = 0; i < 1000; i++) {
    const rows = Array.from({ length: 2 + (i % 3) }, (_, r) => [
      constant(`${i} ${r}`, varchar),
      constant('1'),
    ]);
    statements.statementOf(stepOf(rows), (step) => {
      count++;
      return compose(step);
    });
  }
  expect(count).toBe(1);
});

/** Twins of insert.ts: what a step of a nested insert tells, and that values are parameters. */
import { expect, test } from 'vitest';
import type { Insert, InsertStep } from '../plan/mutation-types.ts';
import { TRUE } from '../resolve/predicate.ts';
import { preparePlan } from './plan.ts';
import { compare, constant, int4, mutation, named, varchar, variable } from './testing/build.ts';

const insert = (rows: Insert['rows'], rest: Partial<Insert> = {}): Insert => ({
  kind: 'insert',
  table: named('book'),
  columns: [
    { column: 'title', type: varchar },
    { column: 'author_id', type: int4 },
  ],
  rows,
  onConflict: null,
  check: TRUE,
  ...rest,
});
const step = (of: Insert, rest: Partial<InsertStep> = {}): InsertStep => ({
  insert: of,
  keeps: [],
  isAnswered: false,
  unlessInserted: null,
  path: [],
  ...rest,
});
const author = { kind: 'inserted', step: 0, kept: 0, type: int4 } as const;
const render = (...steps: readonly InsertStep[]) => {
  const output = { kind: 'response', fields: [{ kind: 'affected-rows', alias: 'n' }] } as const;
  const action = { kind: 'nested-insert', table: named('book'), steps } as const;
  const [statement] = preparePlan(mutation('insert_book', { action, output })).statements;
  return statement!;
};
const columns = `insert into "public"."book" as "t0" ("title", "author_id") values`;
const values = `($1::"pg_catalog"."varchar", $2::"pg_catalog"."int4")`;

/** The column of a check. */
const unless = (passes: string) =>
  `case when ${passes} is not false then 0 else (current_user || ': the check of a permission has failed')::int end`;

test('a row tells what is kept of it, itself where it is answered with, and whether it passes', () => {
  const check = compare('author_id', '_gt', constant('0'));
  const { nestedWrites: steps } = render(
    step(insert([[variable('title'), author]], { check }), { keeps: ['id', 'title'], isAnswered: true }),
  );
  expect(steps[0]!.text).toBe(
    `${columns} ${values} returning '1'::text, "t0"."id"::text, "t0"."title"::text, ` +
      `array["t0".*::"public"."book"]::text, ${unless('("t0"."author_id" > $3::"pg_catalog"."int4") is true')}`,
  );
});

test('rows nothing refers to are one statement that counts them, and looks at their check where there is one', () => {
  const rows: Insert['rows'] = [
    [constant('A', varchar), author],
    ['default', author],
  ];
  const check = compare('author_id', '_gt', constant('0'));
  const { nestedWrites: steps } = render(step(insert(rows)), step(insert(rows, { check })));
  const inserted = `${columns} ${values}, (default, $3::"pg_catalog"."int4") returning`;
  expect(steps[0]!.text).toBe(`with "written" as (${inserted} 1) select count(*)::text from "written"`);
  expect(steps[0]!.parameters).toEqual([constant('A', varchar), author, author]);
  expect(steps[1]!.text).toBe(
    `with "written" as (${inserted} ("t0"."author_id" > $4::"pg_catalog"."int4") is true as "check passes") ` +
      `select count(*)::text, ${unless('bool_and("check passes")')} from "written"`,
  );
});

test('equal objects have equal statements, and paths start at the argument', () => {
  const {
    nestedWrites: steps,
    text,
    parameters,
  } = render(
    step(insert([[variable('a'), 'default']]), { path: [0] }),
    step(insert([[variable('b'), 'default']]), { path: [1, 'sequel', 'data'] }),
  );
  expect(steps[0]!.text).toBe(steps[1]!.text);
  expect(steps.map(({ errorPath }) => errorPath.join('.'))).toEqual([
    'selectionSet.insert_book.args.objects.0',
    'selectionSet.insert_book.args.objects.1.sequel.data',
  ]);
  expect(text).toMatch(/^select '\{"n":' \|\| \$1::"pg_catalog"."text" \|\| '\}' from unnest\(\$2/);
  expect(parameters.map(({ kind }) => kind)).toEqual(['affected-rows', 'written']);
});

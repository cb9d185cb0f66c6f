/** Twins of plan.ts: how roots share statements, where failures are reported, and that no plan whatsoever puts a value
 *  into text. */
import '../../testing/seed.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OPERATORS, type OperatorName } from '../catalog/operators.ts';
import { arrayOf } from '../catalog/types.ts';
import type { MutationOutput } from '../plan/mutation-types.ts';
import type { Field, OrderItem, Select } from '../plan/query-types.ts';
import type { Plan, Root } from '../plan/types.ts';
import { type Join, type Leaf, type Predicate, TRUE } from '../resolve/predicate.ts';
import type { Statement } from './fragment.ts';
import { preparePlan, renderRoot } from './plan.ts';
import {
  compare,
  constant,
  int,
  int4,
  mutation,
  named,
  row,
  rows,
  select,
  textType,
} from './testing/build.ts';

const rootOf = (alias: string, source: string): Root => ({
  kind: 'database',
  alias,
  source,
  query: { kind: 'rows', select: select('item', [int('id')]) },
});

describe('the query roots', () => {
  test('of one source are one statement, in column order', () => {
    const plan: Plan = { operation: 'query', roots: [rootOf('a', 'x'), rootOf('b', 'y'), rootOf('c', 'x')] };
    const { statements, template } = preparePlan(plan);
    expect(statements.map(({ source, roots }) => [source, roots])).toEqual([
      ['x', ['a', 'c']],
      ['y', ['b']],
    ]);
    expect(template.slice(1, -1)).toEqual([
      { kind: 'text', text: '{"a":[' },
      { kind: 'column', step: 0, column: 0 },
      { kind: 'text', text: '],"b":[' },
      { kind: 'column', step: 1, column: 0 },
      { kind: 'text', text: '],"c":[' },
      { kind: 'column', step: 0, column: 1 },
      { kind: 'text', text: ']}' },
    ]);
  });

  test('that need no database are text of the template', () => {
    const plan: Plan = { operation: 'query', roots: [{ kind: 'local', alias: 't', json: '"query_root"' }] };
    expect(preparePlan(plan)).toMatchObject({
      statements: [],
      template: [{ text: '{"data":' }, { text: '{"t":"query_root"}' }, { text: '}' }],
    });
  });

  test('are each rendered alone for explain', () => {
    const plan = row('one', select('item', [int('id')]));
    const [root] = plan.roots;
    expect(root?.kind === 'database' && renderRoot(root.query).text).toBe(
      preparePlan(plan).statements[0]!.text,
    );
  });

  test('print equal text for equal plans', () => {
    const [one, two] = [1, 2].map(
      () => preparePlan(rows('a', select('item', [int('id')]))).statements[0]!.text,
    );
    expect(one).toBe(two);
  });
});

test('failures of an insert are reported at its objects, of any other mutation at the request', () => {
  const response: MutationOutput = { kind: 'response', fields: [] };
  const one: MutationOutput = { kind: 'row', select: select('item', [int('id')]) };
  const insert = {
    kind: 'insert',
    table: named('item'),
    columns: [],
    rows: [[]],
    onConflict: null,
    check: TRUE,
  } as const;
  const remove = { kind: 'delete', table: named('item'), where: TRUE } as const;
  const pathOf = (action: typeof insert | typeof remove, output: MutationOutput) =>
    preparePlan(mutation('it', { action, output })).statements[0]!.errorPath;
  expect(pathOf(insert, response)).toEqual(['selectionSet', 'it', 'args', 'objects']);
  expect(pathOf(insert, one)).toEqual(['selectionSet', 'it', 'args', 'object']);
  expect(pathOf(remove, response)).toEqual([]);
});

describe('any plan', () => {
  /** Names full of what would matter if it were not quoted; values with a mark that must never be text. */
  const name = fc
    .string({ unit: fc.constantFrom('a', 'B', '"', "'", ';', '-', '$1', ' ', '\\', '*/', 'é') })
    .map((text) => `n${text}`);
  const value = fc.string().map((text) => `«${text}»`);
  const graphqlName = fc.stringMatching(/^[_A-Za-z][_0-9A-Za-z]{0,8}$/);
  const leaf: fc.Arbitrary<Leaf> = fc.oneof(
    value.map((v) => constant(v, textType)),
    name.map((variable): Leaf => ({ kind: 'session', variable, type: int4 })),
    fc.array(name).map((path): Leaf => ({ kind: 'variable', path, type: arrayOf(textType) })),
  );
  const operator = fc.constantFrom(...(Object.keys(OPERATORS) as OperatorName[]));
  const qualified = fc.record({ schema: name, name });
  const joining: fc.Arbitrary<Join> = fc.record({
    table: qualified,
    mapping: fc.array(fc.tuple(name, name), { minLength: 1, maxLength: 2 }),
    isUnique: fc.boolean(),
  });

  const { predicate, selection } = fc.letrec<{ predicate: Predicate; selection: Select; field: Field }>(
    (tie) => ({
      predicate: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.constant(TRUE),
        fc.tuple(name, operator, leaf).map(([column, op, right]) => compare(column, op, right)),
        fc.tuple(name, fc.constantFrom('row', 'root')).map(([column, scope]): Predicate => {
          return compare(column, '_eq', { kind: 'column', column, scope, type: int4 } as never);
        }),
        fc
          .array(tie('predicate'), { minLength: 1, maxLength: 3 })
          .map((all): Predicate => ({ kind: 'and', all })),
        fc
          .array(tie('predicate'), { minLength: 1, maxLength: 3 })
          .map((any): Predicate => ({ kind: 'or', any })),
        tie('predicate').map((not): Predicate => ({ kind: 'not', not })),
        fc
          .tuple(joining, tie('predicate'))
          .map(([on, where]): Predicate => ({ kind: 'related', join: on, where })),
        fc
          .tuple(qualified, tie('predicate'))
          .map(([table, where]): Predicate => ({ kind: 'exists', table, where })),
      ),
      field: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.record({
          kind: fc.constant('column' as const),
          alias: graphqlName,
          column: name,
          type: fc.constant(textType),
          json: fc.constantFrom('bare' as const, 'quoted' as const, 'stringified' as const),
          isNullable: fc.boolean(),
          path: fc.option(leaf),
        }),
        fc.record({
          kind: fc.constantFrom('object' as const, 'array' as const),
          alias: graphqlName,
          join: joining,
          select: tie('selection'),
        }),
      ) as fc.Arbitrary<Field>,
      selection: fc.record({
        table: qualified,
        fields: fc.array(tie('field'), { minLength: 1, maxLength: 3 }),
        where: tie('predicate'),
        orderBy: fc.array(
          fc.record({
            path: fc.array(fc.record({ join: joining, filter: tie('predicate') }), { maxLength: 2 }),
            column: name,
            direction: fc.constantFrom('asc', 'desc'),
            nulls: fc.constantFrom('first', 'last'),
          }) as fc.Arbitrary<OrderItem>,
          { maxLength: 2 },
        ),
        distinctOn: fc.array(name, { maxLength: 2 }),
        limit: fc.option(fc.nat()),
        offset: fc.option(fc.nat().map(String)),
      }),
    }),
  );

  test('to read has a placeholder for each parameter, and no value in its text', () => {
    fc.assert(
      fc.property(fc.array(selection, { minLength: 1, maxLength: 3 }), (selects) => {
        const roots = selects.map((query, i) => rows(`a${i}`, query).roots[0]!);
        preparePlan({ operation: 'query', roots }).statements.forEach(expectSound);
      }),
    );
  });

  test('to write has a placeholder for each parameter, and no value in its text', () => {
    const rowsOf = (width: number) =>
      fc.array(
        fc.array(fc.oneof(leaf, fc.constant('default' as const)), { minLength: width, maxLength: width }),
        {
          minLength: 1,
          maxLength: 3,
        },
      );
    const insert = fc.array(name, { maxLength: 3 }).chain((columns) =>
      fc.record({
        kind: fc.constant('insert' as const),
        table: qualified,
        columns: fc.constant(columns.map((column) => ({ column, type: textType }))),
        rows: rowsOf(columns.length),
        onConflict: fc.option(
          fc.record({
            target: fc.record({ kind: fc.constant('constraint' as const), name }),
            updateColumns: fc.array(name),
            presets: fc.constant([]),
            where: predicate,
            check: predicate,
          }),
        ),
        check: predicate,
      }),
    );
    const update = fc.record({
      kind: fc.constant('update' as const),
      table: qualified,
      set: fc.array(
        fc.record({
          kind: fc.constantFrom('set' as const, 'increment' as const, 'append' as const),
          column: name,
          type: fc.constant(textType),
          value: leaf,
        }),
        { minLength: 1 },
      ),
      where: predicate,
      check: predicate,
    });
    fc.assert(
      fc.property(fc.oneof(insert, update), selection, (action, query) => {
        const output: MutationOutput = {
          kind: 'response',
          fields: [{ kind: 'returning', alias: 'rows', select: query }],
        };
        preparePlan(mutation('it', { action, output })).statements.forEach((statement) => {
          expectSound(statement);
          if (statement.answer) expectSound(statement.answer);
        });
      }),
    );
  });
});

/** Outside quoted identifiers and literals only the engine's own words are left. */
function expectSound({ text, parameters }: Statement): void {
  const bare = text.replaceAll(/"(?:[^"]|"")*"|'(?:[^']|'')*'/g, '');
  const numbers = [...bare.matchAll(/\$(\d+)/g)].map((match) => Number(match[1]));
  expect(new Set(numbers)).toEqual(new Set(parameters.map((_, i) => i + 1)));
  expect(text).not.toContain('«');
  expect(bare).toMatch(/^[a-z0-9_$\s.,:()[\]|=<>!~*@?&#+*-]*$/);
  expect(bare).not.toMatch(/--|\/\*|;/);
}

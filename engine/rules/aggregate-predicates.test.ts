/** Tests which aggregates of related rows a condition may compare: those for which the role sees a column of their type. `count` takes
 *  any columns, `bool_and` and `bool_or` take Boolean ones, and the others take those of double precision. Reference:
 *  docs/reference/behaviour/operators.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlOutcome, NOTES_OF_OWNER, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
const COLUMNS = {
  flag: 'bool',
  double: 'float8',
  real: 'float4',
  whole: 'int',
  exact: 'numeric',
  words: 'text',
} as const;
type Column = keyof typeof COLUMNS;
const NUMBERS = ['avg', 'corr', 'covar_samp', 'max', 'min', 'stddev_samp', 'sum', 'var_samp'];
const FUNCTIONS: Readonly<Record<string, (column: Column) => boolean>> = {
  bool_and: (column) => column === 'flag',
  bool_or: (column) => column === 'flag',
  count: () => true,
  ...Object.fromEntries(NUMBERS.map((fn) => [fn, (column: Column) => column === 'double'])),
};
const columns = Object.keys(COLUMNS) as Column[];

beforeAll(async () => {
  world = await startWorld({
    sql: `create table owner (id int primary key); create table note (id int primary key, owner_id int references owner,
        ${columns.map((name) => `${name} ${COLUMNS[name]}`).join(', ')});
      insert into owner values (1), (2); insert into note (id, owner_id, flag, double) values (1, 1, true, 1), (2, 2, false, 3)`,
    tables: ['owner', 'note'],
    operations: [
      NOTES_OF_OWNER,
      // One role for each column, one without columns, and one that may not aggregate.
      ...[...columns, 'nothing', 'reader'].flatMap((role) => {
        const own = role === 'nothing' ? [] : role === 'reader' ? '*' : [role];
        return [
          ['pg_create_select_permission', { table: 'owner', role, permission: { columns: '*', filter: {} } }],
          [
            'pg_create_select_permission',
            {
              table: 'note',
              role,
              permission: { columns: own, filter: {}, allow_aggregations: role !== 'reader' },
            },
          ],
        ] as const;
      }),
    ],
  });
});
afterAll(() => world?.close());

async function fieldsOf(type: string, role?: string): Promise<string[] | null> {
  const query = `{ __type(name: "${type}") { inputFields { name } } }`;
  const { data } = await world.engine.graphql<{
    __type: { inputFields: { name: string }[] } | null;
  }>(query, role ? { role } : {});
  return data!.__type?.inputFields.map(({ name }) => name).sort() ?? null;
}

test.each([...columns, 'nothing'])(
  'a role that sees %s compares the aggregates of its type',
  async (role) => {
    const expected = Object.keys(FUNCTIONS).filter((fn) => fn === 'count' || FUNCTIONS[fn]!(role as Column));
    expect(await fieldsOf('note_aggregate_bool_exp', role)).toEqual(expected.sort());
  },
);

test('an administrator compares all of them', async () => {
  expect(await fieldsOf('note_aggregate_bool_exp')).toEqual(Object.keys(FUNCTIONS).sort());
});

test('a role that may not aggregate compares none', async () => {
  expect(await fieldsOf('note_aggregate_bool_exp', 'reader')).toBeNull();
  expect(await fieldsOf('owner_bool_exp', 'reader')).not.toContain('notes_aggregate');
});

describe.each(Object.keys(FUNCTIONS))('%s', (fn) => {
  const argumentsOf = (column: string) =>
    fn === 'count' ? `[${column}]` : fn.startsWith('co') ? `{X: ${column}, Y: ${column}}` : column;
  const send = (column: string) => {
    const condition = `{${fn}: {arguments: ${argumentsOf(column)}, predicate: {_is_null: false}}}`;
    return graphqlOutcome(world.engine, `{ owner(where: {notes_aggregate: ${condition}}) { id } }`);
  };

  test('takes columns of its type and refuses others', async () => {
    for (const column of columns) {
      const outcome = await send(column);
      if (FUNCTIONS[fn]!(column)) expect(outcome).toHaveProperty('data');
      else
        expect(outcome).toMatchObject({
          code: 'validation-failed',
          message: expect.stringContaining('but found') as string,
        });
    }
  });
});

test('the condition holds where the aggregate does', async () => {
  const where = (condition: string) =>
    graphqlOutcome(world.engine, `{ owner(where: {notes_aggregate: {${condition}}}) { id } }`);
  const second = { data: { owner: [{ id: 2 }] } };
  expect(await where('max: {arguments: double, predicate: {_gt: 2}}')).toEqual(second);
  expect(await where('bool_and: {arguments: flag, predicate: {_eq: false}}')).toEqual(second);
  expect(await where('count: {filter: {flag: {_eq: false}}, predicate: {_gt: 0}}')).toEqual(second);
});

test.each([['{}'], ['{count: {predicate: {}}, max: {arguments: double, predicate: {}}}']])(
  '%s names not exactly one',
  async (condition) => {
    expect(
      await graphqlOutcome(world.engine, `{ owner(where: {notes_aggregate: ${condition}}) { id } }`),
    ).toEqual({
      code: 'validation-failed',
      path: '$.selectionSet.owner.args.where.notes_aggregate',
      message: 'exactly one predicate should be specified',
    });
  },
);

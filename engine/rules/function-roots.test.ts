/** Tests the root fields of functions by what they return: a set or one row, each with its aggregate, for queries. Reference:
 *  docs/reference/behaviour/functions.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
const FUNCTIONS = ['one', 'many'] as const;

beforeAll(async () => {
  world = await startWorld({
    sql: `create table note (id int primary key, size int);
      insert into note values (1, 10), (2, 20);
      create function many(low int default 0) returns setof note language sql stable as 'select * from note where id > low';
      create function one(low int default 0) returns note language sql stable
        as 'select * from note where id > low order by id limit 1';
      create function one_written() returns note language sql volatile as 'select * from note limit 1'`,
    tables: ['note'],
    operations: [
      ...[...FUNCTIONS, 'one_written'].map((name) => ['pg_track_function', { function: name }] as const),
      ...['counter', 'reader'].map((role) => {
        const permission = {
          columns: ['id'],
          filter: { id: { _gt: 1 } },
          allow_aggregations: role === 'counter',
        };
        return ['pg_create_select_permission', { table: 'note', role, permission }] as const;
      }),
    ],
  });
});
afterAll(() => world?.close());

const send = (query: string, role?: string) =>
  graphqlOutcome(world.engine, `{ ${query} }`, role ? { role } : {});

describe.each(FUNCTIONS)('%s', (name) => {
  const ids = name === 'one' ? [1] : [1, 2];

  test('has an aggregate over the rows it returns', async () => {
    expect(await send(`${name}_aggregate { aggregate { count } nodes { id } }`)).toEqual({
      data: { [`${name}_aggregate`]: { aggregate: { count: ids.length }, nodes: ids.map((id) => ({ id })) } },
    });
  });

  test('passes arguments, a condition and a limit to both fields', async () => {
    const args = '(args: {low: 1}, where: {size: {_eq: 20}}, limit: 1)';
    expect(await send(`${name}${args} { id } ${name}_aggregate${args} { aggregate { count } }`)).toEqual({
      data: {
        [name]: name === 'one' ? { id: 2 } : [{ id: 2 }],
        [`${name}_aggregate`]: { aggregate: { count: 1 } },
      },
    });
  });

  test.each(['', 'where: {size: {_is_null: true}}', 'limit: 1', 'order_by: {id: asc}, offset: 0'])(
    'counts nothing where it finds nothing: %s',
    async (selected) => {
      const args = `(args: {low: 9}${selected && `, ${selected}`})`;
      const aggregates = 'aggregate { count sum { size } max { id } }';
      expect(await send(`${name}_aggregate${args} { ${aggregates} nodes { id } }`)).toEqual({
        data: {
          [`${name}_aggregate`]: {
            aggregate: { count: 0, sum: { size: null }, max: { id: null } },
            nodes: [],
          },
        },
      });
      expect(await send(`${name}_aggregate${args} { aggregate { count } }`)).toEqual({
        data: { [`${name}_aggregate`]: { aggregate: { count: 0 } } },
      });
    },
  );

  test('shows a role only rows of its filter, and aggregates only if it may aggregate', async () => {
    expect(await send(`${name}_aggregate { aggregate { count } }`, 'counter')).toEqual({
      data: { [`${name}_aggregate`]: { aggregate: { count: ids.filter((id) => id > 1).length } } },
    });
    expect(await send(`${name}_aggregate { aggregate { count } }`, 'reader')).toMatchObject({
      code: 'validation-failed',
      message: `field '${name}_aggregate' not found in type: 'query_root'`,
    });
  });
});

test('a function that writes has no aggregate', async () => {
  for (const type of ['query', 'mutation']) {
    const request = `${type} { one_written_aggregate { aggregate { count } } }`;
    expect(await graphqlOutcome(world.engine, request)).toMatchObject({ code: 'validation-failed' });
  }
});

/** Relationships between sources whose keys are texts of different types: `character(n)` is filled up with spaces, which mean nothing where
 *  values are compared. Every pair of types finds its row. Rule: docs/reference/behaviour/remote-schemas.md, "Remote relationships". */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { type RuleWorld, startWorld } from './testing/rules.ts';

const TYPES = ['char(4)', 'bpchar', 'varchar', 'varchar(4)', 'text', 'code'];
const column = (i: number) => `c${i}`;
const PAIRS = TYPES.flatMap((from, i) => TYPES.map((to, j) => ({ from, to, name: `of_${i}_${j}`, i, j })));
const SQL = `create domain code as char(4);
  create table item (id int primary key, ${TYPES.map((type, i) => `${column(i)} ${type}`).join(', ')});
  insert into item values (1, ${TYPES.map(() => "'ab'").join(', ')}), (2, ${TYPES.map(() => "'abc'").join(', ')}),
    (3, ${TYPES.map(() => 'null').join(', ')});`;

let world: RuleWorld;
const elsewhere = testDatabase();
beforeAll(async () => {
  await elsewhere.sql(SQL);
  const relate = ({ name, i, j }: (typeof PAIRS)[number]) => {
    const to_source = {
      source: 'shop',
      table: 'item',
      relationship_type: 'array',
      field_mapping: { [column(i)]: column(j) },
    };
    return ['pg_create_remote_relationship', { table: 'item', name, definition: { to_source } }] as const;
  };
  const customization = { root_fields: { prefix: 'shop_' }, type_names: { prefix: 'Shop' } };
  world = await startWorld({
    sql: SQL,
    tables: ['item'],
    operations: [
      [
        'pg_add_source',
        { name: 'shop', configuration: { connection_info: { database_url: elsewhere.url } }, customization },
      ],
      ['pg_track_table', { source: 'shop', table: 'item' }],
      ...PAIRS.map(relate),
    ],
  });
});
afterAll(() => world?.close());

test.each(PAIRS)('$from to $to', async ({ name, i }) => {
  const { data, errors } = await world.engine.graphql(
    `{ item(order_by: {id: asc}) { ${column(i)} ${name} { id } ${name}_aggregate { aggregate { count } } } }`,
  );
  expect(errors).toBeUndefined();
  const rows = (data as { item: Record<string, unknown>[] }).item;
  expect(rows.map((row) => row[name])).toEqual([[{ id: 1 }], [{ id: 2 }], expect.toBeOneOf([null, []])]);
  expect(rows.slice(0, 2).map((row) => row[`${name}_aggregate`])).toEqual([
    { aggregate: { count: 1 } },
    { aggregate: { count: 1 } },
  ]);
  // The column itself is as Postgres has it.
  expect(String(rows[0]![column(i)]).trimEnd()).toBe('ab');
});

/** Twin of distribution.ts: the rows of a cluster's catalog, as Citus 13 has them, and the questions to a database that is no cluster. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { distributionsOf, printDistribution } from './distribution.ts';
import { introspect } from './introspect.ts';

const row = (
  table: string,
  method: string,
  replication: string,
  colocation: number,
  column: string | null,
) => ({
  table,
  method,
  replication,
  colocation,
  column,
});

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await database.sql('create table author (id int primary key)');
});
afterAll(() => database.drop());

test('a table is distributed by a column, on one shard, a reference table or local', async () => {
  const rows = [
    row('1', 'h', 's', 2, 'company_id'),
    row('2', 'n', 's', 4, null),
    row('3', 'n', 't', 1, null),
    row('4', 'n', 's', 0, null),
  ];
  const found = await distributionsOf({ query: async () => ({ rows }) });
  expect([...found].map(([oid, distribution]) => [oid, printDistribution(distribution)])).toEqual([
    [1, 'distributed by company_id (colocation 2)'],
    [2, 'on one shard (colocation 4)'],
    [3, 'a reference table'],
  ]);
});

test('a database that is no cluster is not asked for distributions', async () => {
  const texts: string[] = [];
  const catalog = await introspect({
    query: async (text, values) => {
      texts.push(text);
      return { rows: await database.sql(text, values) };
    },
  });
  expect(catalog).not.toHaveProperty('hasCitus');
  expect(catalog.tables.get('public.author') ?? [...catalog.tables.values()][0]).not.toHaveProperty(
    'distribution',
  );
  expect(texts.filter((text) => text.includes('pg_dist_'))).toEqual([]);
});

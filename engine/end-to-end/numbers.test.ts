/** Tests that numbers in metadata mean what was written, from the request to the rows they select. Reference:
 *  docs/reference/behaviour/operators.md. */
import { beforeAll, expect, test } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { testWorld } from '../../testing/world.ts';

const { database, engine } = testWorld(`
  create table account (id int primary key, balance numeric, big bigint, data jsonb);
  insert into account values
    (1, 12345678901234567890, 9007199254740993, '{"n": 12345678901234567890}'),
    (2, 12345678901234567891, 9007199254740992, '{"n": 12345678901234567891}'),
    (3, 1.5, 3, null);
  `);

beforeAll(async () => {
  await engine.admin('pg_track_table', { table: 'account' });
});

/** As text, because this process has no such numbers either. */
async function operation(text: string): Promise<string> {
  const answer = await engine.fetch('/v1/metadata', { method: 'POST', body: text });
  return answer.text();
}

async function rowsWhere(filter: string): Promise<unknown> {
  const args = (permission: string) => `{"table": "account", "role": "user"${permission}}`;
  await operation(`{"type": "pg_drop_select_permission", "args": ${args('')}}`);
  const made = await operation(
    `{"type": "pg_create_select_permission", "args": ${args(`, "permission": {"columns": "*", "filter": ${filter}}`)}}`,
  );
  expect(made).toContain('success');
  const query = '{ account(order_by: {id: asc}) { id } }';
  const { data } = await engine.graphql<{ account: { id: number }[] }>(query, { role: 'user' });
  return data?.account.map(({ id }) => id);
}

test.each([
  ['{"balance": {"_eq": 12345678901234567891}}', [2]],
  ['{"balance": 12345678901234567890}', [1]],
  ['{"balance": {"_in": [12345678901234567890, 15e-1]}}', [1, 3]],
  ['{"balance": {"_lt": 1.50e1}}', [3]],
  ['{"big": {"_eq": 9007199254740993}}', [1]],
  ['{"big": {"_in": [3.0, 9007199254740992]}}', [2, 3]],
  ['{"data": {"_contains": {"n": 12345678901234567891}}}', [2]],
  ['{"id": {"_lte": 2.0}}', [1, 2]],
] as const)('the filter %s selects only the rows %j', async (filter, ids) => {
  expect(await rowsWhere(filter)).toEqual(ids);
});

test('numbers are exported as they were written, also by a replica', async () => {
  const filter =
    '{"_or":[{"balance":{"_eq":12345678901234567890}},{"balance":{"_gt":1.0}},{"balance":{"_lt":1e3}}]}';
  expect(await rowsWhere(filter)).toEqual([1, 2, 3]);
  const exported = await operation('{"type": "export_metadata", "args": {}}');
  expect(exported).toContain(`"filter":${filter}`);
  expect(await operation(`{"type": "replace_metadata", "args": ${exported}}`)).toContain('success');
  expect(await operation('{"type": "export_metadata", "args": {}}')).toBe(exported);
  const replica = await startTestEngine({ databaseUrl: database.url });
  const answer = await replica.fetch('/v1/metadata', {
    method: 'POST',
    body: '{"type": "export_metadata", "args": {}}',
  });
  expect(await answer.text()).toBe(exported);
  await replica.close();
});

test('a number survives the renaming of its column', async () => {
  await rowsWhere('{"balance": {"_eq": 12345678901234567891}}');
  await engine.admin('run_sql', { sql: 'alter table account rename balance to amount' });
  expect(await operation('{"type": "export_metadata", "args": {}}')).toContain(
    '{"amount":{"_eq":12345678901234567891}}',
  );
  const { data } = await engine.graphql('{ account { id } }', { role: 'user' });
  expect(data).toEqual({ account: [{ id: 2 }] });
  await engine.admin('run_sql', { sql: 'alter table account rename amount to balance' });
});

test('values of requests read whole numbers as integers, in every notation', async () => {
  const query =
    'query ($id: Int!, $big: bigint!) { account(where: {id: {_eq: $id}, big: {_eq: $big}}, limit: $id) { id } }';
  const ask = async (variables: string) => {
    const body = `{"query": ${JSON.stringify(query)}, "variables": ${variables}}`;
    return (await engine.fetch('/v1/graphql', { method: 'POST', body })).json();
  };
  expect(await ask('{"id": 1.0, "big": 9007199254740993}')).toEqual({ data: { account: [{ id: 1 }] } });
  expect(await ask('{"id": 3e0, "big": 3.0}')).toEqual({ data: { account: [{ id: 3 }] } });
  expect(await ask('{"id": 1.5, "big": 1}')).toMatchObject({
    errors: [{ extensions: { code: 'parse-failed' } }],
  });
});

/** Twins of explain.ts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { ResolvedSource } from '../resolve/model/source.ts';
import { type ExplainedField, explain } from './explain.ts';
import { openShop, type Shop } from './testing/shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

const explained = (query: string, variables = {}, model = shop.model) =>
  explain(
    { query, variables },
    {
      model,
      session: { role: 'user', variables: { 'x-engine-user-id': '1' }, mayUseBackendOnly: false },
      databases: shop.sources,
    },
  );

test('each root has its statement and plan, as the role would run it', async () => {
  const [a, b, c] = (await explained(
    'query ($n: Int!) { mine: purchase { id } item_by_pk(id: $n) { name } __typename }',
    { n: 1 },
  )) as readonly ExplainedField[];
  expect(a).toMatchObject({ field: 'mine', sql: expect.stringContaining('"customer_id" = $1') });
  expect(a!.plan!.join('\n')).toMatch(/Aggregate[\s\S]*Scan[\s\S]*purchase/);
  expect(b!.plan!.join('\n')).toMatch(/item/);
  expect(c).toEqual({ field: '__typename', sql: null, plan: null });
});

test('a subscription is explained with the values its statement is run with, and no others', async () => {
  const query = 'subscription ($ids: [Int!]) { purchase(where: { id: { _in: $ids } }) { id } }';
  expect(await explained(query, { ids: [1, 2] })).toEqual({
    sql: expect.stringContaining('"customer_id" = $'),
    plan: expect.arrayContaining([expect.stringContaining('Aggregate')]),
    variables: { session: { 'x-engine-user-id': '1' }, query: {}, synthetic: ['{1,2}'], cursor: {} },
  });
});

test('a statement for a cluster is explained with the distributions of the tables that it reads', async () => {
  const table = { schema: 'public', name: 'purchase' };
  const distribution = { kind: 'distributed', column: 'customer_id', colocation: 3 } as const;
  const [[name, source]] = [...shop.model.sources] as [[string, ResolvedSource]];
  const distributions = new Map([[qualifiedKey(table), distribution]]);
  const model = { ...shop.model, sources: new Map([[name, { ...source, distributions }]]) };
  const [field] = (await explained('{ purchase { id } }', {}, model)) as readonly ExplainedField[];
  expect(field!.distributions).toEqual({ purchase: 'distributed by customer_id (colocation 3)' });
});

test('nothing is run', async () => {
  await shop.source.sql(`create sequence touched; create function touch() returns boolean language sql as
    $$ select nextval('touched') > 0 $$; create view watched as select 1 as id where touch()`);
  await explained('{ purchase { id } }');
  expect(await shop.source.sql('select is_called from touched')).toEqual([{ is_called: false }]);
});

test('a mutation is not explained', async () => {
  await expect(explained('mutation { delete_purchase(where: {}) { affected_rows } }')).rejects.toMatchObject({
    message: 'only queries can be explained',
  });
  expect(await shop.source.sql('select count(*)::int as n from purchase')).toEqual([{ n: 2 }]);
});

test('what a role may not see is refused as it is in a query', async () => {
  await expect(explained('{ secret { value } }')).rejects.toThrow(
    `field 'secret' not found in type: 'query_root'`,
  );
});

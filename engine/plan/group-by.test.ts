/** Groups of rows, asked of a real database: keys, aggregates, conditions, order and limits, and what a role does not see. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld, type World } from '../execute/testing/world.ts';

const SCHEMA = `
  create table sale (
    id int primary key, region text, product text not null, amount int not null, doc json, is_secret bool not null);
  insert into sale values
    (1, 'north', 'pen', 10, '1', false), (2, 'north', 'pen', 20, '2', false), (3, 'north', 'ink', 5, null, false),
    (4, 'south', 'pen', 7, null, true), (5, null, 'ink', 1, null, false);`;

const filter = { is_secret: { _eq: false } };
const seller = { columns: ['region', 'amount'], filter, allow_aggregations: true, limit: 2 };
const WORLD = {
  tables: [
    {
      table: { schema: 'public', name: 'sale' },
      select_permissions: [
        { role: 'user', permission: { columns: ['region'], filter: {} } },
        { role: 'seller', permission: seller },
        { role: 'shy', permission: { ...seller, query_root_fields: ['select'] } },
      ],
    },
  ],
};

let world: World;
let plain: World;
beforeAll(async () => {
  world = await openWorld(SCHEMA, WORLD, { stringifyNumericTypes: false, features: ['group_by'] });
  plain = await openWorld(SCHEMA, WORLD);
});
afterAll(() => Promise.all([world.close(), plain.close()]));

const admin = { role: 'admin' };
const ask = async (args: string, fields: string, who: object = admin, variables = {}, head = '') => {
  const { data, errors } = await world.ask(
    `${head}{ asked: sale_group_by(${args}) { ${fields} } }`,
    variables,
    who,
  );
  return errors ? errors[0]! : data!['asked'];
};

test('rows with equal keys are one group, null among them', async () => {
  const fields = 'keys { region } aggregate { count sum { amount } max { product } }';
  expect(await ask('keys: [region], order_by: { keys: { region: asc } }', fields)).toEqual([
    { keys: { region: 'north' }, aggregate: { count: 3, sum: { amount: 35 }, max: { product: 'pen' } } },
    { keys: { region: 'south' }, aggregate: { count: 1, sum: { amount: 7 }, max: { product: 'pen' } } },
    { keys: { region: null }, aggregate: { count: 1, sum: { amount: 1 }, max: { product: 'ink' } } },
  ]);
});

test('several keys make finer groups, none a single one', async () => {
  const order =
    'order_by: [{ aggregate: { count: desc } }, { keys: { region: asc_nulls_first, product: asc } }]';
  const fields = 'keys { region product __typename } aggregate { count }';
  const found = (await ask(`keys: [region, product], ${order}, limit: 2`, fields)) as unknown[];
  expect(found).toEqual([
    { keys: { region: 'north', product: 'pen', __typename: 'sale_group_keys' }, aggregate: { count: 2 } },
    { keys: { region: null, product: 'ink', __typename: 'sale_group_keys' }, aggregate: { count: 1 } },
  ]);
  expect(await ask('keys: []', 'aggregate { count(columns: region) avg { amount } }')).toEqual([
    { aggregate: { count: 4, avg: { amount: 8.6 } } },
  ]);
});

test('where chooses rows, having groups', async () => {
  const of = (args: string) =>
    ask(`keys: region, order_by: { keys: { region: asc } }, ${args}`, 'keys { region }');
  expect(await of('where: { product: { _eq: "pen" } }')).toEqual([
    { keys: { region: 'north' } },
    { keys: { region: 'south' } },
  ]);
  const north = [{ keys: { region: 'north' } }];
  expect(await of('having: { count: { predicate: { _gt: 1 } } }')).toEqual(north);
  expect(await of('having: { sum: { arguments: amount, predicate: { _gte: 35 } } }')).toEqual(north);
  const inks = 'count: { filter: { product: { _eq: "ink" } }, predicate: { _eq: 1 } }';
  expect(await of(`having: { ${inks} }`)).toEqual([...north, { keys: { region: null } }]);
  expect(await of(`having: { _and: [{ ${inks} }, { _not: { count: { predicate: { _lt: 2 } } } }] }`)).toEqual(
    north,
  );
  expect(await of('having: { _or: [] }')).toEqual([]);
  expect(await of('where: { id: { _gt: 100 } }')).toEqual([]);
});

test('values come from variables', async () => {
  const args = 'keys: $k, having: { count: { predicate: { _eq: $n } } }';
  const head = 'query ($k: [sale_group_column!]!, $n: Int) ';
  expect(await ask(args, 'keys { region }', admin, { k: ['region'], n: 3 }, head)).toEqual([
    { keys: { region: 'north' } },
  ]);
});

test('what is no key can be neither shown nor ordered by', async () => {
  const message = "rows are not grouped by 'product'";
  expect(await ask('keys: region', 'keys { product }')).toMatchObject({
    message,
    extensions: {
      code: 'validation-failed',
      path: '$.selectionSet.sale_group_by.selectionSet.keys.selectionSet.product',
    },
  });
  expect(await ask('keys: region, order_by: { keys: { product: asc } }', 'keys { region }')).toMatchObject({
    message,
  });
  // Postgres cannot compare json.
  expect(await ask('keys: doc', 'keys { region }')).toMatchObject({
    message: expect.stringContaining(
      "expected one of the values ['amount', 'id', 'is_secret', 'product', 'region']",
    ),
  });
});

test('a role groups the rows it may see, by columns it may read, and gets no more groups than its limit', async () => {
  const seller = { role: 'seller' };
  const of = (args: string, fields = 'keys { region } aggregate { count }') => ask(args, fields, seller);
  expect(await of('keys: region, order_by: { keys: { region: asc } }')).toEqual([
    { keys: { region: 'north' }, aggregate: { count: 3 } },
    { keys: { region: null }, aggregate: { count: 1 } },
  ]);
  expect(await of('keys: amount, limit: 10', 'keys { amount }')).toHaveLength(2);
  expect(await of('keys: product')).toMatchObject({ message: expect.stringContaining('product') });
  expect(await of('keys: region', 'aggregate { max { product } }')).toMatchObject({
    message: "field 'product' not found in type: 'sale_max_fields'",
  });
  expect(await of('keys: region, where: { is_secret: { _eq: true } }')).toMatchObject({
    message: expect.stringContaining('is_secret'),
  });
});

test('the field is there for who may aggregate, where the feature is on', async () => {
  const message = "field 'sale_group_by' not found in type: 'query_root'";
  for (const role of ['user', 'shy']) {
    expect(await ask('keys: region', 'aggregate { count }', { role })).toMatchObject({ message });
  }
  const off = await plain.ask('{ sale_group_by(keys: region) { aggregate { count } } }', {}, admin);
  expect(off.errors![0]!.message).toBe(message);
});

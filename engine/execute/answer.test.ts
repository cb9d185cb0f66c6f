/** Twins of answer.ts, statements.ts and plan-cache.ts: requests from their text to their text, against a real Postgres. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database, NamedStatement } from '../database/pool.ts';
import { SHARED_BUDGET } from '../limits/cache-budget.ts';
import { roleSchema } from '../schema/role-schemas.ts';
import { answer, buildingSchema } from './answer.ts';
import { cachedPlan, planInTurns } from './plan-cache.ts';
import { bodyText } from './splice.ts';
import { openShop, type Shop } from './testing/shop.ts';

let shop: Shop;
const admin = { role: 'admin' };

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());
beforeEach(() => shop.reset());

const refusal = async (...asked: Parameters<Shop['ask']>) => {
  const { errors } = await shop.ask(...asked);
  return errors?.map(({ message, extensions }) => [extensions.code, extensions.path, message])[0];
};
const purchases = () =>
  shop.source.sql('select customer_id, item_id, amount, note from purchase order by id');

describe('a query', () => {
  test('shows a role its rows and columns, in the order they were asked for', async () => {
    expect(
      await shop.ask('{ purchase { item { name } amount } customer { name } item { id } __typename }'),
    ).toEqual({
      data: {
        purchase: [{ item: { name: 'Pen' }, amount: 2 }],
        customer: [{ name: 'Ada' }],
        item: [{ id: 101 }],
        __typename: 'query_root',
      },
    });
  });

  test('by another user shows other rows, by the same plan', async () => {
    const asBo = { variables: { 'x-engine-user-id': '2' } };
    expect(await shop.ask('{ purchase { amount } }')).toEqual({ data: { purchase: [{ amount: 2 }] } });
    expect(await shop.ask('{ purchase { amount } }', {}, asBo)).toEqual({
      data: { purchase: [{ amount: 1 }] },
    });
  });

  test('without a session variable its filter needs is refused', async () => {
    expect(await refusal('{ purchase { id } }', {}, { variables: {} })).toEqual([
      'not-found',
      '$',
      'missing session variable: "x-engine-user-id"',
    ]);
  });

  test('with a value Postgres does not take is refused with its words', async () => {
    const query = 'query ($id: numeric!) { item(where: { price: { _eq: $id } }) { id } }';
    expect(await refusal(query, { id: "1' or '1'='1" }, admin)).toEqual([
      'data-exception',
      '$',
      `invalid input syntax for type numeric: "1' or '1'='1"`,
    ]);
  });

  test('of introspection alone needs no database', async () => {
    const context = {
      model: shop.model,
      session: { role: 'user', variables: {}, mayUseBackendOnly: false },
      databases: {
        get: () => {
          throw new Error('no database was to be asked');
        },
      },
    };
    expect(await answer({ query: '{ __type(name: "customer") { name } }' }, context)).toBe(
      '{"data":{"__type":{"name":"customer"}}}',
    );
  });

  test('is asked again when its connection has died while it lay idle', async () => {
    await shop.ask('{ item { id } }');
    await shop.source.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'pergola'`);
    expect(await shop.ask('{ item { id } }')).toEqual({ data: { item: [{ id: 101 }] } });
  });
});

describe('a plan is kept', () => {
  const role = () => roleSchema(shop.model, 'admin', false);
  const plan = (query: string, variables?: Record<string, unknown>, operationName?: string) =>
    cachedPlan(role(), { query, variables: variables ?? null, operationName: operationName ?? null }).plan;

  test('for the same text, whatever the values', () => {
    const query = 'query ($id: Int!) { item(where: { id: { _eq: $id } }) { id } }';
    expect(plan(query, { id: 1 })).toBe(plan(query, { id: 2 }));
  });

  test('for each shape of the variables', () => {
    const query = 'query ($where: item_bool_exp) { item(where: $where) { id } }';
    const one = plan(query, { where: { id: { _eq: 1 } } });
    expect(plan(query, { where: { id: { _eq: 9 } } })).toBe(one);
    expect(plan(query, { where: { name: { _eq: 'x' } } })).not.toBe(one);
    expect(plan(query, {})).not.toBe(one);
  });

  test('for each limit, up to a bound', () => {
    const query = 'query ($n: Int) { item(limit: $n) { id } }';
    const one = plan(query, { n: 1 });
    expect(plan(query, { n: 2 })).not.toBe(one);
    expect(plan(query, { n: 1 })).toBe(one);
    const long = `query ($n: Int) { item(limit: $n) { ${Array.from({ length: 300 }, (_, i) => `${`a${i}_`.padEnd(200, 'x')}: id`).join(' ')} } }`;
    const first = plan(long, { n: 0 });
    expect(plan(long, { n: 0 })).toBe(first);
    for (let n = 1; n < 1200; n++) plan(long, { n });
    expect(plan(long, { n: 0 })).not.toBe(first);
    expect(SHARED_BUDGET.bytes).toBeLessThanOrEqual(SHARED_BUDGET.mostBytes);
  });

  test('for each operation of a document', () => {
    const query = 'query A { item { id } } query B { item { name } }';
    expect(plan(query, {}, 'A')).toBe(plan(query, {}, 'A'));
    expect(plan(query, {}, 'B')).not.toBe(plan(query, {}, 'A'));
  });

  test('for the schema of its role, which is built in slices before the first request', async () => {
    const context = {
      model: { ...shop.model },
      session: { role: 'admin', variables: {}, mayUseBackendOnly: false },
    };
    const [building, other] = [buildingSchema(context), buildingSchema(context)];
    expect(building).toBeInstanceOf(Promise);
    const schema = await building;
    expect(schema).toBe(roleSchema(context.model, 'admin', false));
    expect((await other) ?? schema).toBe(schema);
    expect(buildingSchema(context)).toBeNull();
  });

  test('with the text of introspection, as bytes when it is long', async () => {
    const fields = Array.from({ length: 100 }, (_, i) => `f${i}: name`).join(' ');
    const query = `{ __schema { types { ${fields} } } }`;
    const asked = (role: string) => {
      const session = { role, variables: {}, mayUseBackendOnly: false };
      return answer({ query }, { model: shop.model, session, databases: shop.sources });
    };
    const longest = async (body: ReturnType<typeof asked>) =>
      ((await body) as readonly Buffer[]).find(({ length }) => length > 64_000);
    const [body, other] = [asked('admin'), asked('admin')];
    expect(await longest(body)).toBeInstanceOf(Buffer);
    expect(await longest(other)).toBe(await longest(body));
    expect(await longest(asked('admin'))).toBe(await longest(body));
    expect(await longest(asked('user'))).not.toBe(await longest(body));
    const { data } = JSON.parse(bodyText(await body)) as { data: { __schema: { types: unknown[] } } };
    expect(data.__schema.types).toContainEqual(expect.objectContaining({ f99: 'item_bool_exp' }));
  });

  test('apart from those of other roles', () => {
    const user = cachedPlan(roleSchema(shop.model, 'user', false), { query: '{ item { id } }' }).plan;
    expect(plan('{ item { id } }')).not.toBe(user);
  });

  test('and its statement prepared from the second use on', async () => {
    const used: NamedStatement[] = [];
    const databases = {
      get: (name: string): Database => {
        const real = shop.sources.get(name);
        return {
          ...real,
          run: (statement, values) => {
            used.push(statement);
            return real.run(statement, values);
          },
        } as Database;
      },
    };
    const session = { role: 'admin', variables: {}, mayUseBackendOnly: false };
    const request = { query: 'query P { item { id name } }' };
    for (let i = 0; i < 3; i++) await answer(request, { model: shop.model, session, databases });
    expect(used.map(({ name }) => name)).toEqual(['', expect.stringMatching(/^.{32}$/), used[1]!.name]);
  });
});

test('when only values change, no statement is prepared twice', async () => {
  const read = `query ($id: Int, $names: [String!], $price: numeric, $tag: jsonb) {
    item(where: { id: { _eq: $id }, name: { _in: $names }, price: { _gt: $price }, tags: { _contains: $tag } }) {
      id purchases(where: { amount: { _gt: $id } }) { amount } } }`;
  const write =
    'mutation ($id: Int!, $note: String) { update_purchase_by_pk(pk_columns: { id: $id }, _set: { note: $note }) { id } }';
  const ask = async (i: number) => {
    const names = Array.from({ length: i }, (_, n) => `name ${n}`);
    const variables = { id: i, names, price: String(i / 7), tag: { [`key ${i}`]: i } };
    expect(await shop.ask(read, variables, { role: 'admin' })).toHaveProperty('data');
    expect(await shop.ask(write, { id: i, note: `n${i}` }, { role: 'admin' })).toHaveProperty('data');
  };
  const count = () => prepared(shop.sources.get('default'));
  for (let i = 0; i < 3; i++) await ask(i);
  const before = await count();
  expect(before).toBeGreaterThanOrEqual(2);
  for (let i = 3; i < 60; i++) await ask(i);
  expect(await count()).toBe(before);
});

/** Asked one after the other, everything runs on the pool's first connection. */
async function prepared({ run }: Database): Promise<number> {
  const text = `select count(*) from pg_prepared_statements where name <> ''`;
  return Number((await run({ name: '', text }, []))[0]);
}

describe('insert', () => {
  test('fills presets from the session and answers with what the role may read', async () => {
    const query = `mutation { insert_purchase(objects: [{ item_id: 102, amount: 3 }]) {
      affected_rows returning { customer_id amount label item { name } customer { name purchases { amount } } } } }`;
    // The item is out of stock, so the role does not see it.
    expect(await shop.ask(query)).toEqual({
      data: {
        insert_purchase: {
          affected_rows: 1,
          returning: [
            {
              customer_id: 1,
              amount: 3,
              label: 'p3',
              item: null,
              customer: { name: 'Ada', purchases: expect.arrayContaining([{ amount: 2 }, { amount: 3 }]) },
            },
          ],
        },
      },
    });
    expect(await purchases()).toContainEqual({ customer_id: 1, item_id: 102, amount: 3, note: null });
  });

  test('that fails the check is refused and undone', async () => {
    expect(
      await refusal('mutation { insert_purchase_one(object: { item_id: 102, amount: 6 }) { id } }'),
    ).toEqual([
      'permission-error',
      '$.selectionSet.insert_purchase_one.args.object',
      'check constraint of an insert/update permission has failed',
    ]);
    expect(await purchases()).toHaveLength(2);
  });

  test('of one bad row among good ones writes none of them', async () => {
    const query = `mutation { insert_purchase(objects: [{ item_id: 102, amount: 1 }, { amount: 6 }]) { affected_rows } }`;
    expect((await refusal(query))?.[0]).toBe('permission-error');
    expect(await purchases()).toHaveLength(2);
  });

  test('that violates a constraint says which', async () => {
    const query = 'mutation { insert_item(objects: [{ name: "Pen" }]) { affected_rows } }';
    expect(await refusal(query, {}, admin)).toEqual([
      'constraint-violation',
      '$.selectionSet.insert_item.args.objects',
      'Uniqueness violation. duplicate key value violates unique constraint "item_name_key"',
    ]);
  });

  test('of rows with different columns, of an empty row, of no row', async () => {
    const query = `mutation ($rows: [item_insert_input!]!) { insert_item(objects: $rows) { affected_rows returning { name price } } }`;
    expect(await shop.ask(query, { rows: [{ name: 'A', price: 3 }, { name: 'B' }] }, admin)).toEqual({
      data: {
        insert_item: {
          affected_rows: 2,
          returning: [
            { name: 'A', price: 3 },
            { name: 'B', price: 1 },
          ],
        },
      },
    });
    expect((await refusal(query, { rows: [{}] }, admin))?.[0]).toBe('constraint-violation');
    expect(await shop.ask(query, { rows: [] }, admin)).toEqual({
      data: { insert_item: { affected_rows: 0, returning: [] } },
    });
  });

  test('of 20,000 rows from one variable', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => ({ name: `bulk ${i}`, price: i }));
    const query = 'mutation ($rows: [item_insert_input!]!) { insert_item(objects: $rows) { affected_rows } }';
    expect(await shop.ask(query, { rows }, admin)).toEqual({
      data: { insert_item: { affected_rows: 20_000 } },
    });
  });

  test('of more values than one statement carries keeps defaults, order and unity', async () => {
    const rows = Array.from({ length: 40_000 }, (_, i) =>
      i % 2 === 0 ? { name: `y${i}` } : { name: `y${i}`, price: i },
    );
    const query = `mutation ($rows: [item_insert_input!]!) {
      insert_item(objects: $rows) { affected_rows returning { name price } } }`;
    const { data } = await shop.ask(query, { rows }, admin);
    const { affected_rows, returning } = data!['insert_item'] as {
      affected_rows: number;
      returning: { name: string; price: number }[];
    };
    expect(affected_rows).toBe(40_000);
    expect(returning.map(({ name }) => name)).toEqual(rows.map(({ name }) => name));
    expect([returning[0]!.price, returning[39_999]!.price]).toEqual([1, 39_999]);
    const again = rows.map((row, i) => (i === 39_999 ? row : { ...row, name: `z${i}` }));
    expect(await refusal(query, { rows: again }, admin)).toEqual([
      'constraint-violation',
      '$.selectionSet.insert_item.args.objects',
      'Uniqueness violation. duplicate key value violates unique constraint "item_name_key"',
    ]);
    expect(await shop.source.sql('select count(*)::int as n from item')).toEqual([{ n: 40_002 }]);
  });

  test('of a generated column, or an identity that is always generated, is no field of the input', async () => {
    for (const field of ['id: 5', 'label: "x"']) {
      const query = `mutation { insert_purchase_one(object: { customer_id: 1, ${field} }) { id } }`;
      expect((await refusal(query, {}, admin))?.[0]).toBe('validation-failed');
    }
  });

  test('of a preset or hidden column is no field of the input', async () => {
    const query = 'mutation { insert_purchase_one(object: { customer_id: 2, item_id: 102 }) { id } }';
    expect(await refusal(query)).toEqual([
      'validation-failed',
      expect.any(String),
      `field 'customer_id' not found in type: 'purchase_insert_input'`,
    ]);
  });

  test('without a select permission tells only how many', async () => {
    const clerk = { role: 'clerk' };
    expect(
      await shop.ask('mutation { insert_item(objects: { name: "Cap" }) { affected_rows } }', {}, clerk),
    ).toEqual({
      data: { insert_item: { affected_rows: 1 } },
    });
    expect(await shop.source.sql(`select stock from item where name = 'Cap'`)).toEqual([{ stock: 5 }]);
    const returning = 'mutation { insert_item(objects: { name: "Hat" }) { returning { id } } }';
    expect((await refusal(returning, {}, clerk))?.[2]).toBe(
      `field 'returning' not found in type: 'item_mutation_response'`,
    );
    const one = 'mutation { insert_item_one(object: { name: "Hat" }) { id } }';
    expect((await refusal(one, {}, clerk))?.[2]).toBe(
      `field 'insert_item_one' not found in type: 'mutation_root'`,
    );
  });

  test('by a backend-only permission is there for backends only', async () => {
    const query = 'mutation { insert_item(objects: { name: "Imported" }) { affected_rows } }';
    expect((await refusal(query, {}, { role: 'importer' }))?.[2]).toBe('no mutations exist');
    expect(await shop.ask(query, {}, { role: 'importer', mayUseBackendOnly: true })).toEqual({
      data: { insert_item: { affected_rows: 1 } },
    });
  });
});

describe('an upsert', () => {
  const upsert = (amount: number, update = '[amount]', where = '') => `mutation {
    insert_purchase(objects: { item_id: 101, amount: ${amount} },
      on_conflict: { constraint: purchase_customer_id_item_id_key, update_columns: ${update} ${where} })
    { affected_rows returning { amount note } } }`;

  test('updates the row that is there, with the presets and the check of updates', async () => {
    expect(await shop.ask(upsert(4))).toEqual({
      data: { insert_purchase: { affected_rows: 1, returning: [{ amount: 4, note: 'changed' }] } },
    });
    expect((await refusal(upsert(9)))?.[0]).toBe('permission-error');
    // More than an insert may, not more than an update may.
    expect((await shop.ask(upsert(7))).errors).toBeUndefined();
  });

  test('leaves it where no column is to be updated', async () => {
    expect(await shop.ask(upsert(4, '[]'))).toEqual({
      data: { insert_purchase: { affected_rows: 0, returning: [] } },
    });
  });

  test('leaves it where its condition does not hold', async () => {
    const query = upsert(4, '[amount]', ', where: { amount: { _gt: 100 } }');
    expect(await shop.ask(query)).toEqual({ data: { insert_purchase: { affected_rows: 0, returning: [] } } });
  });

  test('updates no column for a role that may not update', async () => {
    const query =
      'mutation { insert_item(objects: { name: "Z" }, on_conflict: { constraint: item_pkey, update_columns: [name] }) { affected_rows } }';
    expect((await refusal(query, {}, { role: 'importer', mayUseBackendOnly: true }))?.[2]).toBe(
      `expected one of the values ['_PLACEHOLDER'] for type 'item_update_column', but found 'name'`,
    );
  });
});

describe('update', () => {
  test('touches only rows the role may update, whatever it asks for', async () => {
    const query =
      'mutation { update_purchase(where: {}, _set: { amount: 3 }) { affected_rows returning { amount note } } }';
    expect(await shop.ask(query)).toEqual({
      data: { update_purchase: { affected_rows: 1, returning: [{ amount: 3, note: 'changed' }] } },
    });
    expect(await purchases()).toContainEqual({ customer_id: 2, item_id: 101, amount: 1, note: null });
  });

  test('that fails the check is refused and undone', async () => {
    const query = 'mutation { update_purchase(where: {}, _inc: { amount: 50 }) { affected_rows } }';
    expect(await refusal(query)).toEqual([
      'permission-error',
      '$',
      'check constraint of an insert/update permission has failed',
    ]);
    expect((await purchases()).map(({ amount }) => amount)).toEqual([2, 1]);
  });

  test('by key answers with the row, or null', async () => {
    const query =
      'mutation ($id: Int!) { update_item_by_pk(pk_columns: { id: $id }, _inc: { stock: -1 }) { name stock } }';
    expect(await shop.ask(query, { id: 101 }, admin)).toEqual({
      data: { update_item_by_pk: { name: 'Pen', stock: 9 } },
    });
    expect(await shop.ask(query, { id: 9 }, admin)).toEqual({ data: { update_item_by_pk: null } });
  });

  test('of jsonb: append, prepend, delete key, element and path', async () => {
    const query = (operator: string) =>
      `mutation { update_item_by_pk(pk_columns: { id: 101 }, ${operator}) { tags } }`;
    const tags = async (operator: string) =>
      ((await shop.ask(query(operator), {}, admin)).data!['update_item_by_pk'] as { tags: unknown }).tags;
    expect(await tags('_set: { tags: { a: [1, 2], b: { c: 1 } } }')).toEqual({ a: [1, 2], b: { c: 1 } });
    expect(await tags('_append: { tags: { d: 4 } }')).toEqual({ a: [1, 2], b: { c: 1 }, d: 4 });
    expect(await tags('_prepend: { tags: { d: 5, e: 6 } }')).toEqual({ a: [1, 2], b: { c: 1 }, d: 4, e: 6 });
    expect(await tags('_delete_key: { tags: "d" }')).toEqual({ a: [1, 2], b: { c: 1 }, e: 6 });
    expect(await tags('_delete_at_path: { tags: ["b", "c"] }')).toEqual({ a: [1, 2], b: {}, e: 6 });
    expect(await tags('_set: { tags: [1, 2, 3] }')).toEqual([1, 2, 3]);
    expect(await tags('_delete_elem: { tags: 0 }')).toEqual([2, 3]);
  });

  test('of a column by two operators is refused', async () => {
    const query =
      'mutation { update_item(where: {}, _set: { stock: 1 }, _inc: { stock: 1 }) { affected_rows } }';
    expect(await refusal(query, {}, admin)).toEqual([
      'validation-failed',
      '$.selectionSet.update_item.args',
      "Column found in multiple operators: ['stock'].",
    ]);
  });

  test('without an operator is refused', async () => {
    expect(await refusal('mutation { update_item(where: {}) { affected_rows } }', {}, admin)).toEqual([
      'validation-failed',
      '$.selectionSet.update_item.args',
      'at least any one of _append, _delete_at_path, _delete_elem, _delete_key, _inc, _prepend, _set is expected',
    ]);
  });

  test('of no column writes nothing', async () => {
    const query = `mutation ($none: item_set_input!) {
      some: update_item(where: {}, _set: $none) { affected_rows returning { id } }
      one: update_item_by_pk(pk_columns: { id: 101 }, _inc: {}, _set: $none) { id }
      each: update_item_many(updates: [
        { where: { id: { _eq: 101 } }, _set: {} }, { where: { id: { _eq: 101 } }, _set: { stock: 7 } }
      ]) { affected_rows } }`;
    expect(await shop.ask(query, { none: {} }, admin)).toEqual({
      data: {
        some: { affected_rows: 0, returning: [] },
        one: null,
        each: [{ affected_rows: 0 }, { affected_rows: 1 }],
      },
    });
  });

  test('of no column writes what the permission presets', async () => {
    const query = 'mutation { update_purchase(where: {}, _set: {}) { returning { note } } }';
    expect(await shop.ask(query)).toEqual({
      data: { update_purchase: { returning: [{ note: 'changed' }] } },
    });
  });

  test('without a condition is refused: everything must be said', async () => {
    expect(
      (await refusal('mutation { update_item(_set: { stock: 1 }) { affected_rows } }', {}, admin))?.[0],
    ).toBe('validation-failed');
  });

  test('of many in order, all or none', async () => {
    const query = `mutation ($updates: [item_updates!]!) { update_item_many(updates: $updates) { affected_rows returning { stock } } }`;
    const updates = [
      { where: { id: { _eq: 101 } }, _inc: { stock: 1 } },
      { where: { stock: { _eq: 11 } }, _inc: { stock: 1 } },
    ];
    expect(await shop.ask(query, { updates }, admin)).toEqual({
      data: {
        update_item_many: [
          { affected_rows: 1, returning: [{ stock: 11 }] },
          { affected_rows: 1, returning: [{ stock: 12 }] },
        ],
      },
    });
    const bad = [...updates, { where: { id: { _eq: 102 } }, _set: { stock: -1 } }];
    expect((await refusal(query, { updates: bad }, admin))?.[0]).toBe('constraint-violation');
    expect(await shop.source.sql('select stock from item where id = 101')).toEqual([{ stock: 12 }]);
  });
});

describe('delete', () => {
  test('touches only rows the role may delete', async () => {
    expect(
      await shop.ask('mutation { delete_purchase(where: {}) { affected_rows returning { item { name } } } }'),
    ).toEqual({
      data: { delete_purchase: { affected_rows: 1, returning: [{ item: { name: 'Pen' } }] } },
    });
    expect(await purchases()).toHaveLength(1);
  });

  test('by key answers with the row that is gone, or null', async () => {
    const query = 'mutation { delete_purchase_by_pk(id: 2) { amount } }';
    expect(await shop.ask(query)).toEqual({ data: { delete_purchase_by_pk: null } });
    expect(await shop.ask(query, {}, admin)).toEqual({ data: { delete_purchase_by_pk: { amount: 1 } } });
    expect(await shop.ask(query, {}, admin)).toEqual({ data: { delete_purchase_by_pk: null } });
  });

  test('of a row others need is refused', async () => {
    expect(
      await refusal('mutation { delete_item(where: { id: { _eq: 101 } }) { affected_rows } }', {}, admin),
    ).toEqual([
      'constraint-violation',
      '$',
      'Foreign key violation. update or delete on table "item" violates foreign key constraint "purchase_item_id_fkey" on table "purchase"',
    ]);
  });
});

describe('several mutations', () => {
  test('run in order, each seeing the ones before', async () => {
    const query = `mutation {
      a: insert_item_one(object: { name: "Map" }) { name }
      b: update_item(where: { name: { _eq: "Map" } }, _set: { stock: 4 }) { affected_rows }
      c: delete_item(where: { stock: { _eq: 4 } }) { returning { name stock } }
      __typename }`;
    expect(await shop.ask(query, {}, admin)).toEqual({
      data: {
        a: { name: 'Map' },
        b: { affected_rows: 1 },
        c: { returning: [{ name: 'Map', stock: 4 }] },
        __typename: 'mutation_root',
      },
    });
  });

  test('are undone together when one of them fails', async () => {
    const query = `mutation {
      insert_item_one(object: { name: "Map" }) { name }
      update_item(where: { id: { _eq: 101 } }, _set: { stock: -1 }) { affected_rows } }`;
    expect((await refusal(query, {}, admin))?.[0]).toBe('constraint-violation');
    expect(await shop.source.sql(`select 1 from item where name = 'Map'`)).toEqual([]);
  });

  test('are undone when a constraint is found violated only at the end', async () => {
    await shop.source.sql(
      'alter table purchase alter constraint purchase_item_id_fkey deferrable initially deferred',
    );
    const query = `mutation {
      update_item(where: { id: { _eq: 102 } }, _set: { stock: 1 }) { affected_rows }
      update_purchase(where: { id: { _eq: 1 } }, _set: { item_id: 999 }) { affected_rows } }`;
    expect((await refusal(query, {}, admin))?.[0]).toBe('constraint-violation');
    expect(await shop.source.sql('select stock from item where id = 102')).toEqual([{ stock: 0 }]);
  });
});

describe('a request with many values', () => {
  const query = 'mutation ($o: [item_insert_input!]!) { insert_item(objects: $o) { affected_rows } }';
  const objects = (count: number) =>
    Array.from({ length: count }, (_, i) => (i % 2 ? { id: i } : { id: i, name: 'x' }));
  const role = () => roleSchema(shop.model, 'admin', false);

  test('is planned in several turns, between which others are answered', async () => {
    const planning = planInTurns(role(), { query, variables: { o: objects(15_000) } });
    expect(planning).toBeInstanceOf(Promise);
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const planned = await planning;
    isDone = true;
    expect(turns).toBeGreaterThan(1);
    const again = cachedPlan(role(), { query, variables: { o: objects(15_000) } });
    expect(again.plan).toBe(planned.plan);
  });

  test('is planned at once where it has few, or its plan is cached', () => {
    expect(planInTurns(role(), { query, variables: { o: objects(20) } })).not.toBeInstanceOf(Promise);
    cachedPlan(role(), { query, variables: { o: objects(14_000) } });
    expect(planInTurns(role(), { query, variables: { o: objects(14_000) } })).not.toBeInstanceOf(Promise);
  });

  test('is refused as one that is planned at once', async () => {
    const wrong = [...objects(15_000), { nope: 1 }];
    expect(await refusal(query, { o: wrong }, admin)).toEqual([
      'validation-failed',
      '$.selectionSet.insert_item.args.objects[15000].nope',
      "field 'nope' not found in type: 'item_insert_input'",
    ]);
  });
});

/** Checks that read other rows: rules × statements. The engine writes and refuses what Postgres does under `with check` policies with the
 *  same rules, which see rows as they were before the statement. Declaring such a check is answered with a warning.
 *  Rule: docs/reference/behaviour/permissions.md, "Checks that read other rows". */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

type Rule = {
  readonly check: object;
  /** The check in SQL, for the row `r` and user 7. */
  readonly sql: string;
};

const RULES: Readonly<Record<string, Rule>> = {
  quota: {
    check: { _not: { usage: { n: { _gte: 2 } } } },
    sql: 'not exists (select from usage u where u.org_id = r.org_id and u.n >= 2)',
  },
  same_owner: {
    check: { parent: { owner_id: { _eq: 'X-Engine-User-Id' } } },
    sql: 'exists (select from item p where p.id = r.parent_id and p.owner_id = 7)',
  },
  vouched: {
    check: { siblings: { owner_id: { _eq: 'X-Engine-User-Id' } } },
    sql: 'exists (select from item s where s.org_id = r.org_id and s.owner_id = 7)',
  },
  first: {
    check: {
      _not: {
        _exists: {
          _table: { schema: 'public', name: 'item' },
          _where: { org_id: { _ceq: ['$', 'org_id'] } },
        },
      },
    },
    sql: 'not exists (select from item e where e.org_id = r.org_id)',
  },
  counted: {
    check: { tally: { _lt: 2 } },
    sql: 'tally(r) < 2',
  },
  own_column: { check: { owner_id: { _eq: 'X-Engine-User-Id' } }, sql: 'r.owner_id = 7' },
};

/** Statements, as GraphQL and as SQL on the table that stands for `item`. */
const STATEMENTS: Readonly<Record<string, readonly [graphql: string, sql: string]>> = {
  'one row': [
    'insert_item_one(object: {id: 10, org_id: 1, owner_id: 7, parent_id: 1}) { id }',
    'insert into item values (10, 1, 7, 1)',
  ],
  'one row of a new group': [
    'insert_item_one(object: {id: 10, org_id: 9, owner_id: 7, parent_id: 1}) { id }',
    'insert into item values (10, 9, 7, 1)',
  ],
  'three rows of a new group': [
    'insert_item(objects: [{id: 10, org_id: 9, owner_id: 7, parent_id: 1}, {id: 11, org_id: 9, owner_id: 7, parent_id: 1}, {id: 12, org_id: 9, owner_id: 7, parent_id: 1}]) { affected_rows }',
    'insert into item values (10, 9, 7, 1), (11, 9, 7, 1), (12, 9, 7, 1)',
  ],
  'a parent with its child': [
    'insert_item(objects: [{id: 10, org_id: 9, owner_id: 7, parent_id: 1}, {id: 11, org_id: 9, owner_id: 7, parent_id: 10}]) { affected_rows }',
    'insert into item values (10, 9, 7, 1), (11, 9, 7, 10)',
  ],
  'a row that refers to itself': [
    'insert_item_one(object: {id: 10, org_id: 9, owner_id: 7, parent_id: 10}) { id }',
    'insert into item values (10, 9, 7, 10)',
  ],
  'an upsert of a stored row': [
    'insert_item_one(object: {id: 2, org_id: 9, owner_id: 7, parent_id: 1}, on_conflict: {constraint: item_pkey, update_columns: [org_id, owner_id, parent_id]}) { id }',
    'insert into item values (2, 9, 7, 1) on conflict (id) do update set org_id = excluded.org_id, owner_id = excluded.owner_id, parent_id = excluded.parent_id',
  ],
  'a parent and its child moved': [
    'update_item(where: {id: {_in: [2, 3]}}, _set: {owner_id: 7, org_id: 9}) { affected_rows }',
    'update item set owner_id = 7, org_id = 9 where id in (2, 3)',
  ],
  'a row moved': [
    'update_item_by_pk(pk_columns: {id: 2}, _set: {org_id: 9}) { id }',
    'update item set org_id = 9 where id = 2',
  ],
  'rows moved into a group that has them': [
    'update_item(where: {id: {_gte: 2}}, _set: {org_id: 1}) { affected_rows }',
    'update item set org_id = 1 where id >= 2',
  ],
};

const READ = 'select * from item order by id';
const ROWS =
  'truncate item; insert into item values (1, 1, 7, null), (2, 1, 8, 1), (3, 2, 8, 2), (4, 3, 7, 3)';

/** The answers to the declarations, by role and operation. */
const answers = new Map<string, unknown>();
let world: RuleWorld;
const writer = `writer_${process.pid}_${Date.now()}`;
beforeAll(async () => {
  world = await startWorld({
    sql: `create table item (id int primary key, org_id int, owner_id int, parent_id int);
      create view usage as select org_id, count(*)::int n from item group by org_id;
      create function tally(item) returns int language sql stable as 'select count(*)::int from item i where i.org_id = $1.org_id';
      create table box (id int primary key); create table thing (id int primary key, box_id int references box, size int);
      ${Object.entries(RULES)
        .map(
          ([name, { sql }]) =>
            `create function may_${name}(r item) returns bool language sql stable security definer as $$ select ${sql} $$;`,
        )
        .join('\n')}
      create role ${writer}; grant all on item to ${writer};`,
    tables: ['item', 'usage', 'box', 'thing'],
    operations: [
      [
        'pg_create_object_relationship',
        {
          table: 'item',
          name: 'usage',
          using: { manual_configuration: { remote_table: 'usage', column_mapping: { org_id: 'org_id' } } },
        },
      ],
      [
        'pg_create_object_relationship',
        {
          table: 'item',
          name: 'parent',
          using: { manual_configuration: { remote_table: 'item', column_mapping: { parent_id: 'id' } } },
        },
      ],
      [
        'pg_create_array_relationship',
        {
          table: 'item',
          name: 'siblings',
          using: { manual_configuration: { remote_table: 'item', column_mapping: { org_id: 'org_id' } } },
        },
      ],
      [
        'pg_create_array_relationship',
        {
          table: 'box',
          name: 'things',
          using: { foreign_key_constraint_on: { table: 'thing', columns: ['box_id'] } },
        },
      ],
      [
        'pg_create_object_relationship',
        { table: 'thing', name: 'box', using: { foreign_key_constraint_on: 'box_id' } },
      ],
      ['pg_add_computed_field', { table: 'item', name: 'tally', definition: { function: 'tally' } }],
    ],
  });
  for (const [role, { check }] of Object.entries(RULES)) {
    const all = { columns: '*', filter: {} };
    await world.engine.admin('pg_create_select_permission', { table: 'item', role, permission: all });
    for (const operation of ['insert', 'update']) {
      const permission = operation === 'insert' ? { columns: '*', check } : { ...all, check };
      const type = `pg_create_${operation}_permission`;
      const { status, body } = await world.engine.admin(type, { table: 'item', role, permission });
      expect(status, JSON.stringify(body)).toBe(200);
      answers.set(`${role} ${operation}`, body);
    }
  }
});
afterAll(async () => {
  await world?.database.sql(`drop owned by ${writer}; drop role ${writer}`);
  await world?.close();
});

type Outcome = { readonly refusal: string } | { readonly rows: unknown };

/** Returns what Postgres does with a statement of a role whose policies have the rule. */
async function underPolicy(rule: string, text: string): Promise<Outcome> {
  const { database } = world;
  const rows = await database
    .sql(
      `begin; alter table item enable row level security;
      create policy every on item using (true) with check (may_${rule}(item));
      set local role ${writer}; ${text}; reset role; ${READ}`,
    )
    .then(
      (found) => ({ rows: found }),
      (error: Error) => ({ refusal: error.message }),
    );
  await database.sql('rollback');
  return rows;
}

test.each(Object.keys(RULES))('%s: the same rows pass as under policies of Postgres', async (rule) => {
  const { database, engine } = world;
  const seen = new Set<string>();
  for (const [name, [graphql, text]] of Object.entries(STATEMENTS)) {
    await database.sql(ROWS);
    const expected = await underPolicy(rule, text);
    const headers = { 'x-engine-user-id': '7' };
    const outcome = await graphqlOutcome(engine, `mutation { ${graphql} }`, { role: rule, headers });
    seen.add(Object.keys(expected)[0]!);
    if ('refusal' in expected) {
      expect(expected.refusal).toMatch('row-level security');
      expect(outcome, name).toMatchObject({ code: 'permission-error' });
    } else {
      expect(outcome, name).toHaveProperty('data');
      expect(await database.sql(READ), name).toEqual(expected.rows);
    }
  }
  expect([...seen].sort()).toEqual(['refusal', 'rows']);
});

test('a check sees what earlier root fields, earlier updates of a list and earlier steps of a nested insert have written', async () => {
  const { database, engine } = world;
  const row = (id: number, parent: number) => `{id: ${id}, org_id: 9, owner_id: 7, parent_id: ${parent}}`;
  const options = { role: 'same_owner', headers: { 'x-engine-user-id': '7' } };
  for (const mutation of [
    `a: insert_item_one(object: ${row(10, 1)}) { id } b: insert_item_one(object: ${row(11, 10)}) { id }`,
    'update_item_many(updates: [{where: {id: {_eq: 2}}, _set: {owner_id: 7}}, {where: {id: {_eq: 3}}, _set: {owner_id: 7}}]) { affected_rows }',
    'insert_item_one(object: {id: 11, org_id: 9, owner_id: 7, parent: {data: {id: 10, org_id: 9, owner_id: 7, parent_id: 1}}}) { id }',
  ]) {
    await database.sql(ROWS);
    expect(await graphqlOutcome(engine, `mutation { ${mutation} }`, options), mutation).toHaveProperty(
      'data',
    );
  }
});

test.each([
  ['quota', true],
  ['same_owner', true],
  ['vouched', true],
  ['first', true],
  ['own_column', false],
] as const)('declaring %s is answered with a warning: %s', (rule, isWarned) => {
  for (const operation of ['insert', 'update']) {
    const { warnings = [] } = answers.get(`${rule} ${operation}`) as { warnings?: object[] };
    const warning = { code: 'check-of-other-rows', type: `${operation}_permission` };
    expect(warnings).toEqual(isWarned ? [expect.objectContaining(warning)] : []);
  }
});

test('rows that can only be inserted later are named, and the rows of another table need no warning', async () => {
  const create = async (table: string, check: object) => {
    const permission = { columns: '*', check };
    const { body } = await world.engine.admin('pg_create_insert_permission', {
      table,
      role: 'late',
      permission,
    });
    return body;
  };
  expect(await create('box', { things: { size: { _gt: 1 } } })).toEqual({
    message: 'success',
    warnings: [
      {
        code: 'check-of-other-rows',
        message:
          'the check of the insert permission of role late on table box reads the rows of "things", which can only be inserted after the row that it is about',
        type: 'insert_permission',
        name: expect.stringContaining('insert_permission'),
      },
    ],
  });
  expect(await create('thing', { box: { id: { _gt: 0 } } })).toEqual({ message: 'success' });
  const insert = (box: string) =>
    graphqlOutcome(world.engine, `mutation { insert_box(objects: [${box}]) { affected_rows } }`, {
      role: 'late',
    });
  expect(await insert('{id: 1, things: {data: [{id: 1, size: 2}]}}')).toMatchObject({
    code: 'permission-error',
  });
});

test('a deferred constraint trigger of the database counts the rows of the statement', async () => {
  const { database, engine } = world;
  await database.sql(`${ROWS};
    create function item_quota() returns trigger language plpgsql as $$
      begin
        if (select count(*) from item where org_id = new.org_id) > 2 then
          raise exception 'at most two items' using errcode = 'check_violation';
        end if;
        return null;
      end $$;
    create constraint trigger item_quota after insert or update on item deferrable initially deferred
      for each row execute function item_quota();`);
  const insert = (ids: readonly number[]) => {
    const rows = ids.map((id) => `{id: ${id}, org_id: 9, owner_id: 7, parent_id: 1}`).join(', ');
    const query = `mutation { insert_item(objects: [${rows}]) { affected_rows } }`;
    return graphqlOutcome(engine, query, { role: 'quota', headers: { 'x-engine-user-id': '7' } });
  };
  expect(await insert([10, 11])).toHaveProperty('data');
  await database.sql('delete from item where id > 9');
  expect(await insert([10, 11, 12])).toMatchObject({
    code: 'constraint-violation',
    message: expect.stringContaining('at most two items'),
  });
  await database.sql('drop trigger item_quota on item');
});

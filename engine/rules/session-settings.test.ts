/** Tests the rule that code which a write runs finds the session, whatever kind of code it is and however the write reaches it, and that a
 *  write which runs none, or only triggers after the statement, is one statement. The code logs the session it found; a
 *  proxy counts the statements.
 *  Reference: docs/reference/behaviour/mutations.md. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { type CuttingProxy, openProxy } from '../wire/testing/proxy.ts';

/** A way in which a write to `t_NAME` runs code: SQL that creates it, and when it runs. */
type Case = {
  readonly name: string;
  readonly sql: (table: string) => string;
  readonly runs: 'during' | 'after' | 'never';
  /** The table that has the code, when writes to `t_NAME` reach it only by deleting its row 3. */
  readonly onDelete?: true;
};

const trigger = (when: string, table: string, each = 'row') =>
  `create trigger seen ${when} on ${table} for each ${each} execute function log_session();`;
const child = (table: string, action: string) =>
  `create table ${table}_child (id int primary key, t int default null references ${table} ${action});`;
const OPERATIONS = 'insert or update or delete';

const CASES: readonly Case[] = [
  { name: 'nothing', sql: () => '', runs: 'never' },
  { name: 'after_row', sql: (t) => trigger(`after ${OPERATIONS}`, t), runs: 'after' },
  { name: 'before_row', sql: (t) => trigger(`before ${OPERATIONS}`, t), runs: 'during' },
  { name: 'after_all', sql: (t) => trigger(`after ${OPERATIONS}`, t, 'statement'), runs: 'during' },
  { name: 'before_all', sql: (t) => trigger(`before ${OPERATIONS}`, t, 'statement'), runs: 'during' },
  {
    name: 'deferred',
    sql: (t) =>
      `create constraint trigger seen after ${OPERATIONS} on ${t} initially deferred for each row execute function log_session();`,
    runs: 'after',
  },
  {
    name: 'rule',
    sql: (t) =>
      ['insert', 'update', 'delete']
        .map((on) => `create rule r_${on} as on ${on} to ${t} do also select note_session('${t}');`)
        .join('\n')
        .replaceAll('do also select', 'do also insert into logged_by_rule select'),
    runs: 'during',
  },
  {
    name: 'default_value',
    sql: (t) => `alter table ${t} add column d text default note_session('${t}');`,
    runs: 'during',
  },
  {
    name: 'constraint_fn',
    sql: (t) => `alter table ${t} add check (note_session('${t}') is not null) not valid;`,
    runs: 'during',
  },
  {
    name: 'inherited',
    sql: (t) => `create table ${t}_heir () inherits (${t}); insert into ${t}_heir values (9, 0);
      ${trigger(`after ${OPERATIONS}`, `${t}_heir`)}`,
    runs: 'never',
  },
  {
    name: 'cascade',
    sql: (t) => `${child(t, 'on delete cascade')} ${trigger('before delete', `${t}_child`)}`,
    runs: 'after',
    onDelete: true,
  },
  {
    name: 'set_null',
    sql: (t) => `${child(t, 'on delete set null')} ${trigger('after update', `${t}_child`)}`,
    runs: 'after',
    onDelete: true,
  },
  {
    name: 'no_action',
    sql: (t) => `${child(t, '')} ${trigger('after delete', `${t}_child`)}`,
    runs: 'never',
  },
];

const database = testDatabase();
let proxy: CuttingProxy;
let engine: TestEngine;

beforeAll(async () => {
  await database.sql(`create table seen (id serial, by text, hasura text);
    create table logged_by_rule (t text);
    create function note_session(t text) returns text language plpgsql as $$
    begin
      insert into seen (by, hasura) values (
        current_setting('engine.user', true)::json ->> 'x-engine-user-id',
        current_setting('hasura.user', true)::json ->> 'x-hasura-user-id');
      return t;
    end $$;
    create function log_session() returns trigger language plpgsql as $$
    begin
      perform note_session('');
      return case when tg_op = 'DELETE' then old else new end;
    end $$;`);
  for (const { name, sql } of CASES) {
    const table = `t_${name}`;
    await database.sql(
      `create table ${table} (id int primary key, n int); insert into ${table} values (1, 0), (2, 0);`,
    );
    await database.sql(sql(table));
  }
  await database.sql(`create table t_view_base (id int primary key, n int); insert into t_view_base values (1, 0), (2, 0);
    create view t_view as select * from t_view_base; ${trigger(`after ${OPERATIONS}`, 't_view_base')}
    create table t_parts (id int primary key, n int) partition by range (id);
    create table t_parts_1 partition of t_parts for values from (0) to (100);
    insert into t_parts values (1, 0), (2, 0); ${trigger(`before ${OPERATIONS}`, 't_parts_1')}
    alter table t_view_base add column note text;`);
  proxy = await openProxy(database.url);
  engine = await startTestEngine({
    databaseUrl: proxy.url,
    metadataDatabaseUrl: database.url,
    sourceCheckInterval: 0,
  });
  for (const name of [...CASES.map(({ name: one }) => one), 'view', 'parts']) {
    const table = `t_${name}`;
    await engine.admin('pg_track_table', { table });
    const all = { columns: '*', filter: {} };
    for (const [kind, permission] of [
      ['select', all],
      ['insert', { columns: '*', check: {} }],
      ['update', { ...all, check: {} }],
      ['delete', all],
    ] as const) {
      await engine.admin(`pg_create_${kind}_permission`, { table, role: 'writer', permission });
    }
  }
});
afterAll(async () => {
  await engine?.close();
  await proxy?.close();
});

/** The writes of one table, in order. Each changes a row, and the last ones delete it. */
const WRITES = (table: string): readonly (readonly [string, string])[] => [
  ['insert', `insert_${table}_one(object: {id: 3, n: 1}) { id }`],
  ['insert of many', `insert_${table}(objects: [{id: 4, n: 1}, {id: 5, n: 1}]) { affected_rows }`],
  ['update', `update_${table}(where: {id: {_gt: 3}}, _set: {n: 2}) { affected_rows returning { n } }`],
  ['delete', `delete_${table}(where: {id: {_gt: 2}}) { affected_rows }`],
];
const BY_KEY = (table: string): readonly (readonly [string, string])[] => [
  [
    'upsert',
    `insert_${table}_one(object: {id: 1, n: 3}, on_conflict: {constraint: ${table}_pkey, update_columns: [n]}) { n }`,
  ],
  ['update by key', `update_${table}_by_pk(pk_columns: {id: 1}, _set: {n: 2}) { n }`],
  [
    'update of many',
    `update_${table}_many(updates: [{where: {id: {_eq: 1}}, _set: {n: 4}}]) { affected_rows }`,
  ],
  ['delete by key', `delete_${table}_by_pk(id: 1) { n }`],
];

type Seen = { readonly by: string | null; readonly hasura: string | null };

async function seenBy(text: string, user: string): Promise<{ seen: readonly Seen[]; statements: number }> {
  await database.sql('truncate seen');
  const before = proxy.executed;
  const { errors } = await engine.graphql(`mutation { ${text} }`, {
    role: 'writer',
    headers: { 'x-engine-user-id': user },
  });
  expect(errors).toBeUndefined();
  const statements = proxy.executed - before;
  return { seen: (await database.sql('select by, hasura from seen')) as unknown as Seen[], statements };
}

describe.each(CASES)('$name', ({ name, runs, onDelete }) => {
  const table = `t_${name}`;
  test.each(writesTo(name))('%s', async (write, text) => {
    if (onDelete && write === 'delete') {
      await database.sql(`insert into ${table}_child values (1, 4) on conflict (id) do update set t = 4`);
    }
    // The second time the statement is prepared.
    for (const user of write.includes('delete') ? ['7'] : ['6', '7']) {
      if (user === '7' && write.startsWith('insert')) await database.sql(`delete from ${table} where id > 2`);
      const { seen, statements } = await seenBy(text, user);
      expect(statements === 1).toBe(runs !== 'during');
      const isReached = onDelete ? write === 'delete' : runs !== 'never' && !isSkipped(name, write);
      expect(seen.length > 0).toBe(isReached);
      for (const one of seen) expect(one).toEqual({ by: user, hasura: user });
    }
  });
});

/** The writes that the code of a table is tried with. Postgres has no rules for statements in WITH, as those of many rows are. */
function writesTo(name: string): readonly (readonly [string, string])[] {
  const writes = WRITES(`t_${name}`);
  return name === 'rule' ? writes.slice(0, 1) : [...writes, ...BY_KEY(`t_${name}`)];
}

/** Defaults are computed for inserted rows, and constraints for those written. */
function isSkipped(name: string, write: string): boolean {
  if (name === 'default_value') return !write.includes('insert') && write !== 'upsert';
  return name === 'constraint_fn' && write.startsWith('delete');
}

test.each(['view', 'parts'])('writes through %s reach the triggers of what they write', async (name) => {
  for (const [, text] of WRITES(`t_${name}`)) {
    const { seen } = await seenBy(text, '7');
    expect(seen.length).toBeGreaterThan(0);
    for (const one of seen) expect(one).toEqual({ by: '7', hasura: '7' });
  }
});

test('a trigger of another client is noticed with the next check of the source', async () => {
  await database.sql(trigger('before update', 't_nothing'));
  await engine.admin('reload_metadata', { reload_sources: true });
  const { seen } = await seenBy('update_t_nothing_by_pk(pk_columns: {id: 2}, _set: {n: 9}) { n }', '8');
  expect(seen).toEqual([{ by: '8', hasura: '8' }]);
});

test('several fields find the session, too', async () => {
  const text = ['t_after_row', 't_before_row'].map(
    (table) => `${table}: update_${table}_by_pk(pk_columns: {id: 2}, _set: {n: 9}) { n }`,
  );
  const { seen } = await seenBy(text.join(' '), '9');
  expect(seen.map(({ by }) => by)).toEqual(['9', '9']);
});

describe('a policy that reads the session', () => {
  const CALLER = `(current_setting('engine.user', true)::json ->> 'x-engine-user-id')::int`;
  const login = `app_${randomUUID().slice(0, 8)}`;
  let own: TestEngine;
  const metadata = testDatabase();

  beforeAll(async () => {
    await database.sql(`create table t_policy (id int primary key, n int); insert into t_policy values (1, 7), (2, 8);
      alter table t_policy enable row level security;
      create policy own_rows on t_policy using (n = ${CALLER});
      create role ${login} login; grant all on t_policy to ${login}`);
    const url = new URL(proxy.url);
    url.username = login;
    own = await startTestEngine({ databaseUrl: url.href, metadataDatabaseUrl: metadata.url });
    for (const each of [engine, own]) await each.admin('pg_track_table', { table: 't_policy' });
  });
  afterAll(async () => {
    await own?.close();
    await database.sql(`drop table t_policy; drop role ${login}`);
  });
  const affected = async (by: TestEngine) => {
    const before = proxy.executed;
    const text = 'mutation { update_t_policy(where: {}, _inc: {id: 10}) { affected_rows } }';
    const { data } = await by.graphql(text, { headers: { 'x-engine-user-id': '7' } });
    return { data, isOne: proxy.executed - before === 1 };
  };

  test('finds it where it applies to the user of the engine', async () => {
    expect(await affected(own)).toEqual({ data: { update_t_policy: { affected_rows: 1 } }, isOne: false });
  });

  test('does not make a write several statements where it does not apply', async () => {
    expect(await affected(engine)).toEqual({ data: { update_t_policy: { affected_rows: 2 } }, isOne: true });
  });
});

/** A null element that a client sends is null, whatever the database's settings are: with `array_nulls = off` Postgres would read the
 *  text `NULL`. Types of elements × positions × settings of a database or a role × directly or through a pooler. A database without the
 *  setting runs one statement more on each connection at most. Rule: docs/guides/arrays.md, "Null elements". */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from '../../testing/pgbouncer.ts';
import { openDatabase } from '../database/pool.ts';
import { openProxy } from '../wire/testing/proxy.ts';

/** The types of elements, with a value as GraphQL and as text of Postgres. */
const TYPES: Readonly<Record<string, readonly [given: unknown, text: string]>> = {
  text: ['a "b" \\c,', 'a "b" \\c,'],
  'varchar(40)': ['NULL', 'NULL'],
  int: [1, '1'],
  bigint: ['2', '2'],
  numeric: [1.5, '1.5'],
  float8: [0.5, '0.5'],
  bool: [true, 't'],
  uuid: ['5f0ce8d0-6f1c-4d07-9a34-9a5c4d2a1b11', '5f0ce8d0-6f1c-4d07-9a34-9a5c4d2a1b11'],
  date: ['2024-01-02', '2024-01-02'],
  timestamptz: ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05Z'],
  interval: ['1 day', '1 day'],
  jsonb: [{ a: null }, '{"a":null}'],
  inet: ['10.0.0.1', '10.0.0.1'],
  mood: ['sad', 'sad'],
  box: ['(1,1),(0,0)', '(1,1),(0,0)'],
};

const kinds = Object.entries(TYPES).map(([type, [given, text]], i) => ({ type, given, text, n: i }));
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
/** The value that each position must reach: one element, null, and the text `NULL` where the type has it. */
const expected = (type: string, text: string) => `array[${literal(text)}, null]::${type}[]`;

/** Returns a list of a value and null as text in the array syntax of Postgres. */
const textForm = (type: string, text: string) =>
  `{"${text.replaceAll(/[\\"]/g, '\\$&')}"${type === 'box' ? ';' : ','}NULL}`;

const SCHEMA = `
  create type mood as enum ('sad');
  create table item (id int primary key${kinds.map(({ type, n }) => `, v${n} ${type}[]`).join('')});
  create table kept (like item including all);
  insert into kept values (1${kinds.map(({ type, text }) => `, ${expected(type, text)}`).join('')});
  ${kinds
    .map(
      ({ type, n }) => `create function has${n}(given ${type}[]) returns setof kept language sql stable as
        $$ select * from kept where given[1] is not null and given[2] is null $$;`,
    )
    .join('\n')}`;

const settings = ['database', 'role'] as const;
const ways = ['directly', 'through a pooler in transaction mode'] as const;
const isThere = hasPgbouncer();

const cases = settings.flatMap((setting) => ways.map((way) => ({ setting, way })));
describe.each(cases)('array_nulls = off of a $setting, $way', ({ setting, way }) => {
  const isPooled = way !== 'directly';
  const isSkipped = isPooled && !isThere;
  const login = `nulls_${randomUUID().slice(0, 8)}`;
  let database: TestDatabase;
  let metadata: TestDatabase;
  let bouncer: Pgbouncer | undefined;
  let engine: TestEngine;
  let url: string;

  beforeAll(async () => {
    if (isSkipped) return;
    [database, metadata] = await Promise.all([createDatabase(), createDatabase()]);
    const own = new URL(database.url);
    own.username = login;
    const altered = setting === 'role' ? `role ${login}` : `database ${own.pathname.slice(1)}`;
    await database.sql(
      `${SCHEMA}; create role ${login} login superuser; alter ${altered} set array_nulls = off`,
    );
    if (isPooled) bouncer = await startPgbouncer(own.href);
    url = bouncer?.url ?? own.href;
    engine = await startTestEngine({ databaseUrl: metadata.url });
    const connection_info = { database_url: url, use_prepared_statements: !isPooled };
    const must = async (type: string, args: object) =>
      expect([type, args, await engine.admin(type, { source: 'off', ...args })]).toMatchObject([
        type,
        args,
        { status: 200 },
      ]);
    await must('pg_add_source', { name: 'off', configuration: { connection_info } });
    for (const table of ['item', 'kept']) await must('pg_track_table', { table });
    for (const { n } of kinds) await must('pg_track_function', { function: `has${n}` });
    await must('pg_track_logical_model', { name: 'found', fields: [{ name: 'id', type: 'integer' }] });
    for (const { n, type } of kinds.filter(({ type: one }) => !one.includes('('))) {
      await must('pg_track_native_query', {
        root_field_name: `native${n}`,
        arguments: { given: { type: `${type}[]` } },
        code: 'select id from kept where ({{given}})[1] is not null and ({{given}})[2] is null',
        returns: 'found',
      });
    }
    for (const { n, type, text } of kinds) {
      const permission = { columns: '*', check: {}, set: { [`v${n}`]: 'X-Engine-Given' } };
      await must('pg_create_insert_permission', { table: 'item', role: `writer${n}`, permission });
      const filter = type === 'box' ? {} : { [`v${n}`]: { _eq: textForm(type, text) } };
      const reader = { columns: '*', filter };
      await must('pg_create_select_permission', { table: 'kept', role: `reader${n}`, permission: reader });
    }
  });
  afterAll(async () => {
    await engine?.close();
    await bouncer?.close();
    await Promise.all([database, metadata].map((one) => one?.drop()));
  });

  const elements = new Map<number, string>();
  async function elementOf(n: number): Promise<string> {
    if (elements.size === 0) {
      const query = `{ __type(name: "item") { fields { name type { ofType { ofType { name } name } } } } }`;
      type Of = { name: string | null; ofType?: Of };
      const { data } = await engine.graphql<{ __type: { fields: { name: string; type: Of }[] } }>(query);
      for (const { name, type } of data!.__type.fields) {
        const last = (of: Of | undefined): string => (of?.ofType ? last(of.ofType) : (of?.name ?? ''));
        if (name.startsWith('v')) elements.set(Number(name.slice(1)), last(type));
      }
    }
    return elements.get(n)!;
  }
  /** The value of the only row, compared by Postgres itself. */
  const isStored = async ({ type, text, n }: (typeof kinds)[number]) => {
    const [row] = await database.sql(
      `select v${n}::text = (${expected(type, text)})::text as same, array_position(v${n}::text[], null) as at, v${n}::text as v from item`,
    );
    await database.sql('truncate item');
    return row;
  };
  const STORED = { same: true, at: 2 };
  const one = { id: 1 };

  test.skipIf(isSkipped).each(kinds)('$type[]', async (kind) => {
    const { n, type, given, text } = kind;
    const list = [given, null];
    const v = `v${n}`;
    const ok = async (
      field: string,
      expectedData: unknown,
      role?: string,
      headers?: Record<string, string>,
    ) => {
      const isWrite = /^(insert|update)/.test(field);
      const operation = isWrite ? 'mutation' : 'query';
      const declared = field.includes('$g') ? `($g: [${await elementOf(n)}!]!)` : '';
      const sent = `${operation} ${declared} { r: ${field} }`;
      const got = await engine.graphql(sent, {
        variables: declared ? { g: list } : {},
        role: role ?? 'admin',
        headers: headers ?? {},
      });
      expect([field, got]).toEqual([field, { data: { r: expectedData } }]);
    };
    await ok(`insert_item_one(object: {id: 1, ${v}: $g}) { id }`, one);
    expect(await isStored(kind)).toMatchObject(STORED);
    await ok(`insert_item(objects: [{id: 1, ${v}: $g}, {id: 2, ${v}: $g}]) { affected_rows }`, {
      affected_rows: 2,
    });
    await database.sql('delete from item where id = 2');
    expect(await isStored(kind)).toMatchObject(STORED);
    for (const update of [
      `update_item(where: {id: {_eq: 1}}, _set: {${v}: $g}) { affected_rows }`,
      `update_item_many(updates: [{where: {id: {_eq: 1}}, _set: {${v}: $g}}]) { affected_rows }`,
    ]) {
      await database.sql('insert into item (id) values (1)');
      const changed = { affected_rows: 1 };
      await ok(update, update.includes('many') ? [changed] : changed);
      expect(await isStored(kind)).toMatchObject(STORED);
    }
    await database.sql('insert into item (id) values (1)');
    await ok(
      `insert_item_one(object: {id: 1, ${v}: $g}, on_conflict: {constraint: item_pkey, update_columns: [${v}]}) { id }`,
      one,
    );
    expect(await isStored(kind)).toMatchObject(STORED);
    await ok(`has${n}(args: {given: $g}) { id }`, [one]);
    if (!type.includes('(')) await ok(`native${n}(args: {given: $g}) { id }`, [one]);
    if (type !== 'box') {
      await ok(`kept(where: {${v}: {_eq: $g}}) { id }`, [one]);
      await ok(`kept(where: {${v}: {_in: [$g]}}) { id }`, [one]);
      await ok(`kept(where: {${v}: {_nin: [$g]}}) { id }`, []);
      await ok('kept { id }', [one], `reader${n}`);
    }
    // The text form, as a literal and as a session variable.
    const quoted = textForm(type, text);
    await ok(`insert_item_one(object: {id: 1, ${v}: ${JSON.stringify(quoted)}}) { id }`, one);
    expect(await isStored(kind)).toMatchObject(STORED);
    await ok('insert_item(objects: [{id: 1}]) { affected_rows }', { affected_rows: 1 }, `writer${n}`, {
      'x-engine-given': quoted,
    });
    expect(await isStored(kind)).toMatchObject(STORED);
    // Rows of the admin API, in a transaction of its own.
    const rows = async (operation: string, args: object) => {
      const own = { source: 'off', table: 'item', ...args };
      const { status, body } = await engine.admin(operation, own, { endpoint: '/v1/query' });
      expect({ operation, status, body }).toMatchObject({ status: 200, body: { affected_rows: 1 } });
    };
    await rows('insert', { objects: [{ id: 1, [v]: list }] });
    expect(await isStored(kind)).toMatchObject(STORED);
    await rows('insert', { objects: [{ id: 1 }] });
    await rows('update', { where: { id: 1 }, $set: { [v]: list } });
    expect(await isStored(kind)).toMatchObject(STORED);
  });

  test.skipIf(isSkipped)('statements of the engine itself', async () => {
    const own = openDatabase(url, { maxConnections: 2, usePreparedStatements: !isPooled });
    const list = 'select array_position($1::text[], null) as at';
    for (let i = 0; i < 3; i++) {
      expect((await own.query(list, [['a', null]])).rows).toEqual([{ at: 2 }]);
      expect(await own.run({ name: '', text: list }, [['a', null]])).toEqual(['2']);
      const inside = own.atomic({}, (run) => run({ name: '', text: list }, [['a', null]]));
      expect(await inside).toEqual(['2']);
    }
    expect(await own.run({ name: '', text: 'show array_nulls' }, [])).toEqual(['off']);
    await own.close();
  });
});

test('a database without the setting runs one statement more on a connection', async () => {
  const database = await createDatabase();
  const proxy = await openProxy(database.url);
  const own = openDatabase(proxy.url, { maxConnections: 1 });
  const statement = { name: 'own', text: 'select array_position($1::text[], null)' };
  const first = proxy.executed;
  await own.run(statement, [['a', null]]);
  const before = proxy.executed;
  expect(before - first).toBe(2);
  for (let i = 0; i < 10; i++) expect(await own.run(statement, [['a', null]])).toEqual(['2']);
  expect(proxy.executed - before).toBe(10);
  await own.close();
  await proxy.close();
  await database.drop();
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

beforeAll(async () => {
  engine = await startTestEngine();
});
afterAll(() => engine.close());

const permission = (kind: string, table: string, role: string, rule: unknown) =>
  op(`create_${kind}_permission`, { table, role, permission: rule });

/** author ← article, with a view, a function, and permissions that lean on columns in every way. */
beforeEach(async () => {
  await engine.must(op('clear_metadata'));
  await engine.must(
    op('run_sql', {
      sql: `drop schema public cascade; create schema public;
        create table author (id serial primary key, name text);
        create table article (id serial primary key, title text not null, is_public boolean not null default false,
          author_id int references author);
        create table note (id int primary key, text text);
        create view titles as select id, title from article;
        insert into author (name) values ('Ann'), (null);`,
    }),
  );
  await engine.must(
    op('bulk', [
      ...['author', 'article', 'note', 'titles'].map((table) => op('track_table', table)),
      op('create_object_relationship', {
        table: 'article',
        name: 'author',
        using: { foreign_key_constraint_on: 'author_id' },
      }),
      op('create_array_relationship', {
        table: 'author',
        name: 'articles',
        using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
      }),
      permission('select', 'author', 'user', {
        columns: ['id', 'name'],
        filter: { articles: { title: { _neq: '' } } },
      }),
      permission('select', 'article', 'user', {
        columns: '*',
        filter: { author: { id: 'X-Engine-User-Id' }, is_public: true },
      }),
      permission('insert', 'article', 'user', {
        check: { author_id: 'X-Engine-User-Id' },
        columns: ['title'],
        set: { is_public: true },
      }),
    ]),
  );
});

const snapshot = () => engine.state.snapshot();
const tableOf = (name: string) => snapshot().model.sources.get('default')!.tables.get(`["public","${name}"]`);
const tracked = () => snapshot().metadata.sources[0]!.tables.map(({ table }) => table.name);
const definitionOf = (name: string) =>
  snapshot().metadata.sources[0]!.tables.find(({ table }) => table.name === name)!;
const exists = async (name: string) => {
  const rows = await engine.database.sql('select to_regclass($1) is not null as found', [name]);
  return rows[0]!['found'];
};

/** Refused with this error; neither the document nor the database has changed. */
async function expectRefusal(sql: string, error: unknown, args = {}): Promise<void> {
  const before = snapshot().metadata;
  const catalog = await engine.database.sql(`select attrelid::regclass::text, attname from pg_attribute
    where attrelid in ('author'::regclass, 'article'::regclass) order by 1, 2`);
  expect(await engine.sql(sql, args)).toEqual({ status: 400, body: error });
  expect(snapshot().metadata).toEqual(before);
  expect(
    await engine.database.sql(`select attrelid::regclass::text, attname from pg_attribute
    where attrelid in ('author'::regclass, 'article'::regclass) order by 1, 2`),
  ).toEqual(catalog);
}

describe('results', () => {
  test.each([
    [
      'rows as text, null as NULL',
      'select * from author order by id',
      'TuplesOk',
      [
        ['id', 'name'],
        ['1', 'Ann'],
        ['2', 'NULL'],
      ],
    ],
    ['no rows: the names alone', 'select id from author where false', 'TuplesOk', [['id']]],
    [
      'values as the database spells them',
      `select true as b, '{1,2}'::int[] as a, '{"x": 1}'::jsonb as j, '2020-01-02'::date as d, 1.50 as n`,
      'TuplesOk',
      [
        ['b', 'a', 'j', 'd', 'n'],
        ['t', '{1,2}', '{"x": 1}', '2020-01-02', '1.50'],
      ],
    ],
    [
      'two columns of one name',
      'select 1 as x, 2 as x',
      'TuplesOk',
      [
        ['x', 'x'],
        ['1', '2'],
      ],
    ],
    ['a command without rows', `insert into note values (1, 'a')`, 'CommandOk', null],
    [
      'rows of a command that returns some',
      `insert into note values (2, 'a') returning id`,
      'TuplesOk',
      [['id'], ['2']],
    ],
    ['the last statement’s alone', 'select 1 as a; select 2 as b', 'TuplesOk', [['b'], ['2']]],
    ['a last statement without rows', `select 1; set time zone 'UTC'`, 'CommandOk', null],
    ['nothing at all', '', 'CommandOk', null],
  ])('%s', async (_name, sql, resultType, result) => {
    expect(await engine.sql(sql)).toEqual({ status: 200, body: { result_type: resultType, result } });
  });
});

describe('failures', () => {
  const failure = (statement: string, error: object) => ({
    path: '$.args',
    error: 'query execution failed',
    code: 'postgres-error',
    internal: {
      statement,
      prepared: false,
      arguments: [],
      error: { exec_status: 'FatalError', hint: null, description: null, ...error },
    },
  });

  test('contain the database’s message', async () => {
    const sql = 'select nme from author';
    await expectRefusal(
      sql,
      failure(sql, {
        status_code: '42703',
        message: 'column "nme" does not exist',
        hint: 'Perhaps you meant to reference the column "author.name".',
      }),
    );
  });

  test('undo earlier statements', async () => {
    const sql = `create table gone (id int); insert into note values (9, 'x'); select 1/0`;
    await expectRefusal(sql, failure(sql, { status_code: '22012', message: 'division by zero' }));
    expect(await exists('gone')).toBe(false);
    expect(await engine.database.sql('select * from note')).toEqual([]);
  });

  test('hide the database’s message if that is configured', async () => {
    const { runAdmin } = await import('./run.ts');
    const { body } = await runAdmin(engine.state, op('run_sql', { sql: 'select nonsense' }), {
      endpoint: '/v1/query',
      session: { role: 'admin', variables: {}, mayUseBackendOnly: false },
      showInternal: false,
    });
    expect(body).toEqual({ path: '$.args', error: 'query execution failed', code: 'postgres-error' });
  });

  test('of a deferred constraint leave no change', async () => {
    const sql = `alter table article add constraint later unique (title) deferrable initially deferred;
      insert into article (title) values ('same'), ('same')`;
    const before = snapshot();
    expect(await engine.sql(sql)).toMatchObject({
      status: 400,
      body: { code: 'postgres-error', error: 'query execution failed' },
    });
    expect(snapshot()).toBe(before);
  });
});

describe('read_only', () => {
  test('reads', async () => {
    expect(await engine.sql(`select ' alter ' as drop`, { read_only: true })).toEqual({
      status: 200,
      body: { result_type: 'TuplesOk', result: [['drop'], [' alter ']] },
    });
  });

  test.each([
    'drop table note',
    `insert into note values (1, 'a')`,
    'set transaction read write; drop table note',
    'commit; drop table note',
  ])('does not write: %s', async (sql) => {
    expect(await engine.sql(sql, { read_only: true, cascade: true })).toMatchObject({
      status: 400,
      body: { code: 'postgres-error' },
    });
    expect(await exists('note')).toBe(true);
    expect(await engine.database.sql('select * from note')).toEqual([]);
  });
});

describe('a change of the schema', () => {
  test('changes the model immediately', async () => {
    await engine.sql('alter table note add column extra int');
    expect(tableOf('note')?.columnByName.has('extra')).toBe(true);
    await engine.sql('create table fresh (id int primary key)');
    expect(await engine.query(op('track_table', 'fresh'))).toMatchObject({ status: 200 });
    expect(tableOf('fresh')).toBeDefined();
  });

  test('that drops a tracked table removes the table’s objects', async () => {
    expect(await engine.sql('drop table note')).toMatchObject({
      status: 200,
      body: { result_type: 'CommandOk' },
    });
    expect(tracked()).toEqual(['author', 'article', 'titles']);
    expect(snapshot().inconsistencies).toEqual([]);
  });

  const dropped = (dependents: string) => ({
    path: '$.args',
    error: `cannot drop due to the following dependent objects : ${dependents}`,
    code: 'dependency-error',
  });

  test('that drops a table with dependents is refused with the list of them', async () => {
    await expectRefusal(
      'drop table article cascade',
      dropped(
        'permission author.user.select in source "default", relationship author.articles in source "default"',
      ),
    );
    expect(await exists('titles')).toBe(true);
  });

  test('that drops one column is refused with the dependents of that column only', async () => {
    await expectRefusal(
      'alter table author drop column name',
      dropped('permission author.user.select in source "default"'),
    );
  });

  test('that drops a foreign key is refused with the relationships over it', async () => {
    await expectRefusal(
      'alter table article drop constraint article_author_id_fkey',
      dropped(
        'permission article.user.select in source "default", permission author.user.select in source "default", ' +
          'relationship article.author in source "default", relationship author.articles in source "default"',
      ),
    );
  });

  test('with cascade removes the dependents, too', async () => {
    expect(await engine.sql('drop table article cascade', { cascade: true })).toEqual({
      status: 200,
      body: { result_type: 'CommandOk', result: null },
    });
    expect(tracked()).toEqual(['author', 'note']);
    expect(definitionOf('author').select_permissions ?? []).toEqual([]);
    expect(definitionOf('author').array_relationships ?? []).toEqual([]);
    expect(snapshot().inconsistencies).toEqual([]);
  });

  test('that drops a column which only `*` selects needs no cascade, and removes the column’s settings', async () => {
    await engine.must(
      op('set_table_customization', {
        table: 'note',
        configuration: { column_config: { text: { custom_name: 'words' }, id: { custom_name: 'key' } } },
      }),
    );
    await engine.must(permission('select', 'note', 'user', { columns: '*', filter: {} }));
    expect(await engine.sql('alter table note drop column text')).toMatchObject({ status: 200 });
    expect(definitionOf('note').configuration).toMatchObject({
      column_config: { id: { custom_name: 'key' } },
    });
    expect(definitionOf('note').configuration?.column_config).not.toHaveProperty('text');
  });

  test('that renames a table is followed in every reference', async () => {
    expect(await engine.sql('alter table author rename to writer')).toMatchObject({ status: 200 });
    expect(tracked()).toEqual(['writer', 'article', 'note', 'titles']);
    expect(snapshot().inconsistencies).toEqual([]);
    expect(tableOf('article')?.relationships.get('author')?.join.table).toEqual({
      schema: 'public',
      name: 'writer',
    });
    await engine.sql('alter table writer rename to author');
    expect(tracked()).toEqual(['author', 'article', 'note', 'titles']);
  });

  test('that renames columns is followed in relationships and permissions', async () => {
    const sql = `alter table article rename column author_id to writer; alter table article rename column is_public to open;
      alter table article rename column title to heading; alter table author rename column id to key`;
    expect(await engine.sql(sql)).toMatchObject({ status: 200 });
    expect(snapshot().inconsistencies).toEqual([]);
    const article = definitionOf('article');
    expect(article.object_relationships?.[0]?.using).toEqual({ foreign_key_constraint_on: ['writer'] });
    expect(article.select_permissions?.[0]?.permission.filter).toMatchObject({
      author: { key: expect.anything() },
      open: expect.anything(),
    });
    expect(article.insert_permissions?.[0]?.permission).toMatchObject({
      columns: ['heading'],
      set: { open: true },
    });
    expect(definitionOf('author').select_permissions?.[0]?.permission).toMatchObject({
      columns: ['key', 'name'],
      filter: { articles: { heading: expect.anything() } },
    });
  });

  test('that moves a table to another schema is followed', async () => {
    await engine.sql('create schema if not exists archive; alter table note set schema archive');
    expect(
      snapshot().metadata.sources[0]!.tables.map(({ table }) => `${table.schema}.${table.name}`),
    ).toContain('archive.note');
    await engine.sql('drop schema archive cascade');
  });

  test('that changes the type of a column is refused if a fixed value depends on it, with and without cascade', async () => {
    const sql = 'alter table article alter column is_public drop default, alter column is_public type text';
    for (const args of [{}, { cascade: true }]) {
      await expectRefusal(
        sql,
        {
          path: '$.args',
          error:
            'cannot change type of column is_public in table article because of the following dependencies : ' +
            'permission article.user.insert in source "default", permission article.user.select in source "default"',
          code: 'dependency-error',
        },
        args,
      );
    }
  });

  test('that changes the type of a column is followed if only session variables are compared with it', async () => {
    await engine.must(
      op('bulk', [
        op('drop_select_permission', { table: 'author', role: 'user' }),
        permission('select', 'note', 'user', { columns: ['id'], filter: { id: 'X-Engine-User-Id' } }),
      ]),
    );
    expect(await engine.sql('alter table note alter column id type text')).toMatchObject({ status: 200 });
    expect(tableOf('note')?.columnByName.get('id')?.type.name).toBe('text');
  });

  test('that names a column like a relationship is refused', async () => {
    for (const sql of [
      'alter table article add column author text',
      'alter table article rename column title to author',
    ]) {
      await expectRefusal(sql, {
        path: '$.args',
        error: 'cannot add column author in table article as a relationship with the name already exists',
        code: 'already-exists',
      });
    }
  });

  test('that recreates a view keeps it tracked', async () => {
    expect(
      await engine.sql('drop view titles; create view titles as select id, title, is_public from article'),
    ).toMatchObject({ status: 200 });
    expect(tracked()).toContain('titles');
    expect(tableOf('titles')?.columnByName.has('is_public')).toBe(true);
  });

  test('moves the resource version only when the document changed', async () => {
    const { resourceVersion } = snapshot();
    await engine.sql('alter table note add column more int');
    expect(snapshot().resourceVersion).toBe(resourceVersion);
    await engine.sql('alter table note rename to memo');
    expect(snapshot().resourceVersion).toBe(resourceVersion + 1);
  });

  test('without a check may make objects inconsistent', async () => {
    expect(
      await engine.sql('drop table article cascade', { check_metadata_consistency: false }),
    ).toMatchObject({ status: 200 });
    expect(snapshot().inconsistencies.map(({ key }) => key)).toContain('table/default/public/article');
    expect(tracked()).toContain('article');
  });

  test('is not refused for earlier inconsistencies', async () => {
    await engine.sql('drop table note', { check_metadata_consistency: false });
    expect(snapshot().inconsistencies.map(({ key }) => key)).toEqual(['table/default/public/note']);
    expect(await engine.sql('drop view titles')).toMatchObject({ status: 200 });
    expect(tracked()).toEqual(['author', 'article', 'note']);
  });

  test('inside a function is followed if check_metadata_consistency is set', async () => {
    await engine.sql(
      `create function sneak() returns void language plpgsql as $$ begin execute 'alter table note add sly int'; end $$`,
    );
    await engine.sql('select sneak()', { check_metadata_consistency: true });
    expect(tableOf('note')?.columnByName.has('sly')).toBe(true);
  });
});

describe('no_transaction', () => {
  const sql =
    'create table users (created_at timestamp); -- one\ncreate index concurrently users_created on users (created_at);';

  test('runs statements that cannot run in a transaction', async () => {
    expect(await engine.sql(sql)).toMatchObject({
      status: 400,
      body: {
        internal: {
          error: {
            status_code: '25001',
            message: 'CREATE INDEX CONCURRENTLY cannot run inside a transaction block',
          },
        },
      },
    });
    expect(await engine.sql(sql, { no_transaction: true })).toEqual({
      status: 200,
      body: { result_type: 'CommandOk', result: null },
    });
    expect(await exists('users_created')).toBe(true);
  });

  test('keeps the statements before a failure', async () => {
    expect(
      await engine.sql('create table half (id int); select 1/0', { no_transaction: true }),
    ).toMatchObject({ status: 400 });
    expect(await exists('half')).toBe(true);
  });

  test('does not wait forever for SQL in a transaction of the same bulk', async () => {
    const { status } = await engine.query(
      op('bulk', [
        op('run_sql', { sql: 'create table users (created_at timestamp)' }),
        op('run_sql', {
          sql: 'create index concurrently users_created on users (created_at)',
          no_transaction: true,
        }),
      ]),
    );
    expect(status).toBe(200);
  });
});

test('settings that a statement changes do not leak to other requests', async () => {
  await engine.sql(`create role pauper; set session authorization pauper; set search_path to nowhere`);
  for (let i = 0; i < 5; i++) {
    expect(await engine.sql('select count(*) from author where session_user <> $$pauper$$')).toMatchObject({
      status: 200,
      body: { result: [['count'], ['2']] },
    });
  }
  await engine.sql('drop role pauper');
});

/** Tests the engine end to end, over HTTP and a real database: a table becomes an API, a role sees its part and no
 *  more, a second replica follows. Also tests the program: how it starts, reports errors and stops. */
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, validateSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { killAll, pergola } from '../testing/program.ts';
import { openSocket } from '../testing/websocket.ts';

const TABLES = `
  create table author (id serial primary key, name text not null unique, secret text);
  create table article (
    id serial primary key, title text not null, is_published boolean not null default false,
    author_id int not null references author (id) on delete cascade
  );
  insert into author (name, secret) values ('Ada', 's1'), ('Ben', 's2');
  insert into article (title, is_published, author_id)
    values ('Loops', true, 1), ('Drafts', false, 1), ('Gardens', true, 2), ('Weeds', false, 2);
`;

const AS_ADA = { role: 'writer', headers: { 'x-engine-user-id': '1' } };

describe('a table becomes an API', () => {
  let database: TestDatabase;
  let engine: TestEngine;

  beforeAll(async () => {
    database = await createDatabase();
    engine = await startTestEngine({ databaseUrl: database.url });
    await engine.must('run_sql', { sql: TABLES });
    await engine.must('pg_track_table', { table: 'author' });
    await engine.must('pg_track_table', { table: { schema: 'public', name: 'article' } });
    await engine.must('pg_create_object_relationship', {
      table: 'article',
      name: 'author',
      using: { foreign_key_constraint_on: 'author_id' },
    });
    await engine.must('pg_create_array_relationship', {
      table: 'author',
      name: 'articles',
      using: { foreign_key_constraint_on: { table: 'article', columns: ['author_id'] } },
    });
    const own = { author_id: { _eq: 'X-Engine-User-Id' } };
    await permit('select', 'author', { columns: ['id', 'name'], filter: {} });
    await permit('select', 'article', {
      columns: ['id', 'title', 'author_id'],
      filter: { _or: [{ is_published: { _eq: true } }, own] },
    });
    await permit('insert', 'article', {
      columns: ['title'],
      check: own,
      set: { author_id: 'x-engine-user-id' },
    });
    await permit('update', 'article', { columns: ['title'], filter: own, check: { title: { _neq: '' } } });
    await permit('delete', 'article', { filter: { _and: [own, { is_published: { _eq: false } }] } });
  });

  afterAll(async () => {
    await engine?.close();
    await database?.drop();
  });

  function permit(kind: string, table: string, permission: unknown) {
    return engine.must(`pg_create_${kind}_permission`, { table, role: 'writer', permission });
  }

  test('the administrator sees everything, nested', async () => {
    const answer = await engine.graphql(
      '{ author(order_by: {id: asc}) { name secret articles(order_by: {id: asc}) { title author { name } } } }',
    );
    expect(answer).toEqual({
      data: {
        author: [
          {
            name: 'Ada',
            secret: 's1',
            articles: [
              { title: 'Loops', author: { name: 'Ada' } },
              { title: 'Drafts', author: { name: 'Ada' } },
            ],
          },
          {
            name: 'Ben',
            secret: 's2',
            articles: [
              { title: 'Gardens', author: { name: 'Ben' } },
              { title: 'Weeds', author: { name: 'Ben' } },
            ],
          },
        ],
      },
    });
  });

  test('a role sees only its rows, at the root and through relationships', async () => {
    const answer = await engine.graphql(
      '{ article(order_by: {id: asc}) { title } author(order_by: {id: asc}) { articles(order_by: {id: asc}) { title } } }',
      AS_ADA,
    );
    expect(answer).toEqual({
      data: {
        article: [{ title: 'Loops' }, { title: 'Drafts' }, { title: 'Gardens' }],
        author: [
          { articles: [{ title: 'Loops' }, { title: 'Drafts' }] },
          { articles: [{ title: 'Gardens' }] },
        ],
      },
    });
  });

  test.each([
    ['selecting', '{ author { secret } }'],
    ['filtering by', '{ author(where: {secret: {_eq: "s1"}}) { id } }'],
    ['filtering through a relationship by', '{ article(where: {author: {secret: {_eq: "s1"}}}) { id } }'],
    ['ordering by', '{ author(order_by: {secret: asc}) { id } }'],
    ['asking a distinct', '{ author(distinct_on: [secret]) { id } }'],
  ])('a column outside the permission does not exist for a role: %s it is an error', async (_, query) => {
    const { data, errors } = await engine.graphql(query, AS_ADA);
    expect(data).toBeUndefined();
    expect(errors?.[0]?.extensions.code).toBe('validation-failed');
    expect(JSON.stringify(errors)).not.toContain('s1');
  });

  test('introspection has only the columns of the role', async () => {
    const query = '{ __type(name: "author") { fields { name } } }';
    const names = async (role?: string) => {
      const answer = await engine.graphql<{ __type: { fields: { name: string }[] } }>(
        query,
        role ? { role } : {},
      );
      return answer.data!.__type.fields.map((field) => field.name);
    };
    expect(await names()).toContain('secret');
    expect(await names('writer')).toEqual(expect.arrayContaining(['id', 'name', 'articles']));
    expect(await names('writer')).not.toContain('secret');
  });

  test('clients can build their schema from the introspection, for every role', async () => {
    for (const role of ['admin', 'writer', 'stranger']) {
      const query = getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true });
      const { data, errors } = await engine.graphql<IntrospectionQuery>(query, { role });
      expect(errors, role).toBeUndefined();
      const schema = buildClientSchema(data!);
      expect(schema.getType('author') !== undefined, role).toBe(role !== 'stranger');
      expect(validateSchema(schema), role).toEqual([]);
    }
  });

  test('a role without permissions has no fields', async () => {
    const { data, errors } = await engine.graphql('{ author { id } }', { role: 'stranger' });
    expect(data).toBeUndefined();
    expect(errors?.[0]?.message).toBe("field 'author' not found in type: 'query_root'");
  });

  test('without its session variable a role gets an error, not rows', async () => {
    const { data, errors } = await engine.graphql('{ article { id } }', { role: 'writer' });
    expect(data).toBeUndefined();
    expect(errors?.[0]).toMatchObject({ message: 'missing session variable: "x-engine-user-id"' });
  });

  test('a role inserts with its presets, and cannot set them', async () => {
    const insert =
      'mutation ($title: String) { insert_article_one(object: {title: $title}) { title author { name } } }';
    expect(await engine.graphql(insert, { ...AS_ADA, variables: { title: 'Trees' } })).toEqual({
      data: { insert_article_one: { title: 'Trees', author: { name: 'Ada' } } },
    });
    const forged = 'mutation { insert_article_one(object: {title: "x", author_id: 2}) { id } }';
    expect((await engine.graphql(forged, AS_ADA)).errors?.[0]?.extensions.code).toBe('validation-failed');
    expect(await database.sql("select title from article where title = 'x'")).toEqual([]);
  });

  test('a role updates its own rows only, and a failed check undoes the update', async () => {
    const update =
      'mutation ($id: Int, $to: String) { update_article(where: {id: {_eq: $id}}, _set: {title: $to}) { affected_rows } }';
    const mine = await engine.graphql(update, { ...AS_ADA, variables: { id: 2, to: 'Sketches' } });
    expect(mine).toEqual({ data: { update_article: { affected_rows: 1 } } });
    const others = await engine.graphql(update, { ...AS_ADA, variables: { id: 3, to: 'Mine now' } });
    expect(others).toEqual({ data: { update_article: { affected_rows: 0 } } });
    const broken = await engine.graphql(update, { ...AS_ADA, variables: { id: 2, to: '' } });
    expect(broken.errors?.[0]?.extensions.code).toBe('permission-error');
    expect(await database.sql('select title from article where id in (2, 3) order by id')).toEqual([
      { title: 'Sketches' },
      { title: 'Gardens' },
    ]);
  });

  test('a role deletes only the rows of its filter', async () => {
    const all = 'mutation { delete_article(where: {}) { affected_rows returning { id } } }';
    expect(await engine.graphql(all, AS_ADA)).toMatchObject({
      data: { delete_article: { affected_rows: 2 } },
    });
    const left = await database.sql('select title from article order by id');
    expect(left).toEqual([{ title: 'Loops' }, { title: 'Gardens' }, { title: 'Weeds' }]);
  });

  test('text that looks like SQL is a value', async () => {
    const title = `'; drop table article; -- {"a": "\\" x-engine-user-id $1`;
    const insert =
      'mutation ($title: String) { insert_article_one(object: {title: $title, author_id: 2}) { title } }';
    expect(await engine.graphql(insert, { variables: { title } })).toEqual({
      data: { insert_article_one: { title } },
    });
    const find = 'query ($title: String) { article(where: {title: {_eq: $title}}) { title } }';
    expect(await engine.graphql(find, { variables: { title } })).toEqual({ data: { article: [{ title }] } });
    await database.sql('delete from article where id > 4');
  });

  test('numbers keep their digits, in input and output', async () => {
    await engine.must('run_sql', {
      sql: 'create table amount (id bigint primary key, exact numeric, detail jsonb)',
    });
    await engine.must('pg_track_table', { table: 'amount' });
    const values =
      '"id": 9007199254740993, "exact": 12345678901234567890.123, "detail": {"n": 9007199254740995}';
    const query =
      'mutation ($id: bigint!, $exact: numeric, $detail: jsonb) ' +
      '{ insert_amount_one(object: {id: $id, exact: $exact, detail: $detail}) { id exact detail } }';
    const response = await engine.fetch('/v1/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"query": ${JSON.stringify(query)}, "variables": {${values}}}`,
    });
    const text = await response.text();
    for (const digits of values.match(/\d{10,}(\.\d+)?/g)!) expect(text).toContain(digits);
  });

  test('explain shows the statement a role would run, with its filter', async () => {
    const explain = (query: string) =>
      engine.fetch('/v1/graphql/explain', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          query: { query },
          user: { 'x-engine-role': 'writer', 'x-engine-user-id': '1' },
        }),
      });
    const response = await explain('{ article { title } }');
    expect(response.status).toBe(200);
    const [field] = (await response.json()) as { field: string; sql: string; plan: string[] }[];
    expect(field).toMatchObject({ field: 'article', sql: expect.stringContaining('is_published') });
    expect(field!.plan.join('\n')).toContain('Scan');
    const wrong = await explain('{ author { secret } }');
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toMatchObject({ code: 'validation-failed' });
  });

  test('a second replica follows after a notification', async () => {
    // It never polls, so only a notification can make it follow.
    const replica = await startTestEngine({ databaseUrl: database.url, schemaSyncPollInterval: 0 });
    try {
      const ask = () => replica.graphql('{ label { id } }');
      expect((await ask()).data).toBeUndefined();
      await engine.must('run_sql', { sql: 'create table label (id int primary key)' });
      await engine.must('pg_track_table', { table: 'label' });
      await expect.poll(ask, { timeout: 20_000, interval: 50 }).toEqual({ data: { label: [] } });
      const { body } = await engine.admin<{ resource_version: number }>(
        'export_metadata',
        {},
        { version: 2 },
      );
      const config = await (await replica.fetch('/v1alpha1/config')).json();
      expect(config).toMatchObject({ resource_version: body.resource_version });
    } finally {
      await replica.close();
    }
  });

  test('metadata survives a restart', async () => {
    const again = await startTestEngine({ databaseUrl: database.url });
    const answer = await again.graphql('{ author_by_pk(id: 1) { name } }', { role: 'writer' });
    await again.close();
    expect(answer).toEqual({ data: { author_by_pk: { name: 'Ada' } } });
  });
});

describe('the program', () => {
  afterAll(killAll);

  test('a failure that no request has is logged as a defect, and it serves on', async () => {
    const database = await createDatabase();
    const hook = "process.on('SIGUSR2', () => void Promise.reject(new Error('planted failure')))";
    const { child, output, ended, serves } = pergola(['serve', '--server-port', '0'], {
      ENGINE_GRAPHQL_ADMIN_SECRET: 'hush-hush',
      ENGINE_GRAPHQL_DATABASE_URL: database.url,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
    });
    const url = await serves();
    child.kill('SIGUSR2');
    await expect.poll(() => output.stdout, { timeout: 20_000 }).toContain('planted failure');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    child.kill('SIGTERM');
    await ended;
    await database.drop();
  });

  test('serves until it is stopped, answers requests in flight, and logs no secret', async () => {
    const database = await createDatabase();
    const secrets = { ENGINE_GRAPHQL_ADMIN_SECRET: 'hush-hush', ENGINE_GRAPHQL_DATABASE_URL: database.url };
    const { child, output, ended, serves } = pergola(['serve', '--server-port', '0'], secrets);
    const url = await serves();
    await database.sql('create table go ()');
    const waiting = 'begin while not exists (select from go) loop perform pg_sleep(0.01); end loop; end';
    const slow = fetch(`${url}/v2/query`, {
      method: 'POST',
      headers: { 'x-engine-admin-secret': 'hush-hush' },
      body: JSON.stringify({ type: 'run_sql', args: { sql: `do $$ ${waiting} $$` } }),
    });
    const underWay = `select from pg_stat_activity where query like 'do $$ %' and datname = current_database()`;
    await expect.poll(() => database.sql(underWay), { timeout: 20_000 }).toHaveLength(1);
    child.kill('SIGTERM');
    await expect.poll(() => output.stdout, { timeout: 20_000 }).toContain('SIGTERM');
    await database.sql('insert into go default values');
    const answer = await slow;
    expect(answer.status).toBe(200);
    expect(answer.headers.get('connection')).toBe('close');
    expect(await ended).toBe(0);
    const lines = output.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => line.type)).toEqual(expect.arrayContaining(['startup', 'http-log']));
    expect(output.stdout + output.stderr).not.toContain('hush-hush');
    expect(output.stdout + output.stderr).not.toContain(database.url);
    await database.drop();
  });

  test('stops under load without losing a request that reached it', async () => {
    const database = await createDatabase();
    await database.sql('create table note (id serial primary key, text text)');
    const env = { ENGINE_GRAPHQL_DATABASE_URL: database.url };
    const { child, output, ended, serves } = pergola(['serve', '--server-port', '0'], env);
    const url = await serves();
    const post = (path: string, body: unknown) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    await post('/v1/metadata', { type: 'pg_track_table', args: { table: 'note' } });
    const socket = await openSocket(url, 'graphql-transport-ws');
    socket.send({ type: 'connection_init' });
    await socket.next();
    socket.send({ type: 'subscribe', id: '1', payload: { query: 'subscription { note { id } }' } });
    let written = 0;
    // As a load balancer does: a connection is reused until a response says that it closes.
    const client = async () => {
      for (;;) {
        const insert = { query: 'mutation { insert_note_one(object: {text: "x"}) { id } }' };
        const answer = await post('/v1/graphql', insert).catch((error: unknown) => error);
        // After a pause a client finds its connection closed. If the request had reached the engine, its row would
        // exist without an answer.
        if (!(answer instanceof Response)) return expect(child.killed, String(answer)).toBe(true);
        expect(await answer.json()).toMatchObject({ data: { insert_note_one: {} } });
        written += 1;
        if (answer.headers.get('connection') === 'close') return;
      }
    };
    const clients = Array.from({ length: 20 }, client);
    await expect.poll(() => written, { timeout: 20_000 }).toBeGreaterThan(100);
    child.kill('SIGTERM');
    await Promise.all(clients);
    expect((await socket.closed).code).toBe(1001);
    expect(await ended).toBe(0);
    expect(output.stdout).toContain('"requestsCutOff":0');
    const [row] = await database.sql('select count(*)::int as count from note');
    expect(row!['count']).toBe(written);
    await database.drop();
  });

  test('names the database it cannot reach, without the password, and exits with 1', async () => {
    const url = 'postgres://someone:hush-hush@127.0.0.1:1/nowhere';
    const { child, output, ended } = pergola(['serve', '--database-url', url]);
    await expect.poll(() => output.stdout, { timeout: 20_000 }).toContain('metadata database unreachable');
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(output.stdout + output.stderr).not.toContain('hush-hush');
  });

  test.each(['--database-url', '--metadata-database-url'])(
    'refuses an %s that is no connection string, without repeating it',
    async (flag) => {
      const { output, ended } = pergola(['serve', flag, 'base/planted-secret']);
      expect(await ended).toBe(1);
      expect(output.stderr).toContain('not a connection string of Postgres');
      expect(output.stderr + output.stdout).not.toContain('planted-secret');
    },
  );

  test('lists all invalid options, and exits with 2', async () => {
    const { output, ended } = pergola(['serve', '--databse-url', 'x', '--server-port', 'y']);
    expect(await ended).toBe(2);
    expect(output.stderr).toContain('did you mean --database-url?');
    expect(output.stderr).toContain('--server-port expects a whole number');
  });

  test('has a useful help, and suggests the nearest command for an unknown one', async () => {
    const help = pergola(['serve', '--help']);
    expect(await help.ended).toBe(0);
    expect(help.output.stdout).toContain('--database-url URL');
    const slip = pergola(['sevre']);
    expect(await slip.ended).toBe(2);
    expect(slip.output.stderr).toContain('did you mean serve?');
  });
});

test('an environment of the reference engine starts an engine; one line of the log names what is read and what is not', async () => {
  const database = await createDatabase();
  const started = pergola(['serve', '--server-port', '0', '--enable-telemetry=false'], {
    HASURA_GRAPHQL_DATABASE_URL: database.url,
    HASURA_GRAPHQL_ADMIN_SECRET: 'a-given-secret',
    HASURA_GRAPHQL_HEADER_PREFIX: 'x-hasura-',
    HASURA_GRAPHQL_ENABLED_LOG_TYPES: 'startup,http-log,data-connector-log',
    HASURA_GRAPHQL_CONSOLE_ASSETS_DIR: '/srv/console-assets',
    HASURA_GRAPHQL_OWN_VARIABLE: 'not an option',
  });
  const url = await started.serves();
  const response = await fetch(`${url}/v1/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'X-Hasura-Admin-Secret': 'a-given-secret',
      'X-Hasura-Role': 'user',
    },
    body: '{"query": "{ __typename }"}',
  });
  expect(await response.json()).toEqual({ data: { __typename: 'query_root' } });
  started.child.kill('SIGTERM');
  expect(await started.ended).toBe(0);
  const lines = started.output.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const foreign = lines.filter(({ detail }) => detail.kind === 'foreign_settings');
  expect(foreign).toMatchObject([
    {
      level: 'warn',
      type: 'startup',
      detail: {
        info: {
          read_as_aliases: [
            'HASURA_GRAPHQL_DATABASE_URL',
            'HASURA_GRAPHQL_ADMIN_SECRET',
            'HASURA_GRAPHQL_HEADER_PREFIX',
            'HASURA_GRAPHQL_ENABLED_LOG_TYPES',
          ],
          without_effect: [
            '--enable-telemetry',
            'HASURA_GRAPHQL_CONSOLE_ASSETS_DIR',
            'HASURA_GRAPHQL_ENABLED_LOG_TYPES: data-connector-log',
          ],
          differences: expect.arrayContaining([
            expect.stringContaining('(--allow-simple-requests, or --compatibility reference)'),
          ]),
        },
      },
    },
  ]);
  const [request] = lines.filter(({ type }) => type === 'http-log');
  expect(request.detail.operation.user_vars).toEqual({ 'x-hasura-role': 'user' });
  expect(started.output.stdout).not.toContain('a-given-secret');
  await database.drop();
});

/** Tests named values on whole engines: where metadata may refer to them, rotation on every replica without a restart, keys that are
 *  rotated, wrong or lost, and that no value leaves the engine but to where it is sent. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { startRemote } from '../../testing/remote.ts';
import { TestWebhook } from '../../testing/webhook.ts';
import { testDatabase } from '../../testing/world.ts';
import { OPERATION_NAMES } from '../metadata/operations.ts';

const KEY = 'first-key-of-the-named-values-0123456789';
const NEXT_KEY = 'second-key-of-the-named-values-012345678';
const PLANTED = 'planted5ecret';

const database = testDatabase();
let engines: TestEngine[];
let webhook: TestWebhook<unknown>;
let remote: Awaited<ReturnType<typeof startRemote>>;
/** Everything that is visible from outside, besides what the webhook and the remote schema receive. */
const seen: string[] = [];
const log = { observe: (one: unknown) => void seen.push(printed(one)), flush: () => {} };

const start = (more: object = {}) =>
  startTestEngine({
    databaseUrl: database.url,
    valuesKey: KEY,
    logLevel: 'debug',
    eventsFetchInterval: 30,
    enabledApis: ['metadata', 'graphql', 'config', 'pgdump', 'metrics', 'developer'],
    log,
    ...more,
  });

async function ask<T>(engine: TestEngine, type: string, args: object): Promise<T> {
  const { status, body } = await engine.admin<T>(type, args);
  seen.push(JSON.stringify(body));
  expect([type, status, body]).toMatchObject([type, 200, {}]);
  return body;
}

const set = (engine: TestEngine, values: Record<string, string>) =>
  ask<{ values: { name: string; version: number }[] }>(engine, 'set_values', {
    values: Object.entries(values).map(([name, value]) => ({ name, value })),
  });
const list = async (engine: TestEngine) =>
  (
    await ask<{ values: { name: string; version: number; key: string; status: string }[] }>(
      engine,
      'list_values',
      {},
    )
  ).values;

beforeAll(async () => {
  webhook = await TestWebhook.start();
  remote = await startRemote('type Query { far: String }', { 'Query.far': () => 'away' });
  await database.sql(
    `create table book (id serial primary key, title text);
     insert into book (title) values ('one')`,
  );
  engines = [await start(), await start()];
}, 180_000);
afterAll(async () => {
  for (const engine of engines ?? []) await engine.close();
  webhook?.close();
  await remote?.close();
});

test('metadata refers to named values wherever a secret may stand', async () => {
  const [a] = engines as [TestEngine];
  await set(a, {
    'team-a/database/url': `${database.url}?application_name=${PLANTED}-url`,
    'team-a/hook/url': webhook.url,
    'team-a/hook/token': `${PLANTED}-token-1`,
    'team-a/remote/url': remote.url,
    'team-a/path': `${PLANTED}-path`,
  });
  const token = [{ name: 'authorization', value_from_value: 'team-a/hook/token' }];
  await ask(a, 'pg_add_source', {
    name: 'second',
    configuration: { connection_info: { database_url: { from_value: 'team-a/database/url' } } },
    customization: { root_fields: { prefix: 'second_' }, type_names: { prefix: 'second_' } },
  });
  await ask(a, 'pg_track_table', { source: 'second', table: 'book' });
  await ask(a, 'set_custom_types', {
    objects: [{ name: 'Heard', fields: [{ name: 'heard', type: 'Boolean' }] }],
  });
  await ask(a, 'create_action', {
    name: 'call',
    definition: {
      type: 'query',
      handler: '{{value:team-a/hook/url}}/action/{{value:team-a/path}}',
      output_type: 'Heard',
      headers: token,
    },
  });
  await ask(a, 'create_action', {
    name: 'call_too',
    definition: { type: 'query', handler_from_value: 'team-a/hook/url', output_type: 'Heard' },
  });
  await ask(a, 'pg_create_event_trigger', {
    source: 'second',
    name: 'on_book',
    table: 'book',
    insert: { columns: '*' },
    webhook_from_value: 'team-a/hook/url',
    headers: token,
  });
  await ask(a, 'add_remote_schema', {
    name: 'far',
    definition: { url_from_value: 'team-a/remote/url', headers: token },
  });
  await ask(a, 'create_cron_trigger', {
    name: 'nightly',
    schedule: '0 0 1 1 *',
    webhook: { from_value: 'team-a/hook/url' },
    include_in_metadata: true,
  });
  for (const engine of engines) {
    await vi.waitFor(async () => {
      const answer = await engine.graphql('{ second_book { title } call { heard } call_too { heard } far }');
      seen.push(JSON.stringify(answer));
      expect(answer.data).toEqual({
        second_book: [{ title: 'one' }],
        call: { heard: true },
        call_too: { heard: true },
        far: 'away',
      });
    }, 5000);
  }
  const call = webhook.received.find(({ path }) => path.startsWith('/action'));
  expect(call).toMatchObject({
    path: `/action/${PLANTED}-path`,
    headers: { authorization: `${PLANTED}-token-1` },
  });
  expect(remote.asked[0]?.headers['authorization']).toBe(`${PLANTED}-token-1`);
});

test('a rotated value reaches every replica within two seconds, without a restart', async () => {
  const [a, b] = engines as [TestEngine, TestEngine];
  await set(a, { 'team-a/hook/token': `${PLANTED}-token-2` });
  const startedMs = performance.now();
  for (const engine of [a, b]) {
    await vi.waitFor(
      async () => {
        webhook.reset();
        await engine.graphql('{ call { heard } }');
        expect(webhook.received[0]?.headers['authorization']).toBe(`${PLANTED}-token-2`);
      },
      { timeout: 2000, interval: 20 },
    );
  }
  expect(performance.now() - startedMs).toBeLessThan(2000);
  await a.graphql('mutation { second_insert_book_one(object: {title: "two"}) { id } }');
  await vi.waitFor(() => expect(webhook.received.some(({ path }) => path === '/')).toBe(true), 5000);
  expect(webhook.received.find(({ path }) => path === '/')?.headers['authorization']).toBe(
    `${PLANTED}-token-2`,
  );
});

test('a source connects anew when its URL or password changes, and the old pool is closed', async () => {
  const [a, b] = engines as [TestEngine, TestEngine];
  await set(a, { 'team-a/database/url': `${database.url}?application_name=${PLANTED}-moved` });
  for (const engine of [a, b]) {
    await vi.waitFor(async () => {
      await engine.graphql('{ second_book { title } }');
      const names = await database.sql(
        `select distinct application_name as name from pg_stat_activity where application_name like '${PLANTED}%'`,
      );
      expect(names).toEqual([{ name: `${PLANTED}-moved` }]);
    }, 5000);
  }
});

test('a value that is set to what it is keeps its version, and the answer does not tell', async () => {
  const [a] = engines as [TestEngine];
  const first = await set(a, { 'team-a/same': `${PLANTED}-same` });
  expect(await set(a, { 'team-a/same': `${PLANTED}-same` })).toEqual(first);
  const changed = await set(a, { 'team-a/same': `${PLANTED}-other` });
  expect(changed.values[0]!.version).toBeGreaterThan(first.values[0]!.version);
});

test('a dry run says which values are new, changed or the same, and stores nothing', async () => {
  const [a] = engines as [TestEngine];
  await set(a, { 'team-a/dry': `${PLANTED}-dry` });
  const before = await list(a);
  const values = [
    { name: 'team-a/dry', value: `${PLANTED}-dry` },
    { name: 'team-a/same', value: `${PLANTED}-changed` },
    { name: 'team-a/new', value: `${PLANTED}-new` },
  ];
  expect(await ask(a, 'set_values', { values, dry_run: true })).toEqual({
    message: 'success',
    values: [
      { name: 'team-a/dry', change: 'none' },
      { name: 'team-a/same', change: 'update' },
      { name: 'team-a/new', change: 'create' },
    ],
  });
  expect(await list(a)).toEqual(before);
});

test('a missing value makes what refers to it inconsistent, and setting it recovers', async () => {
  const [a, b] = engines as [TestEngine, TestEngine];
  const headers = [{ name: 'x-key', value_from_value: 'team-a/absent' }];
  const definition = { type: 'query', handler: webhook.url, output_type: 'Heard', headers };
  const refused = await a.admin('create_action', { name: 'waits', definition });
  expect(refused).toMatchObject({
    status: 400,
    body: { internal: [{ reason: expect.stringContaining('named value "team-a/absent" is not set') }] },
  });
  await set(a, { 'team-a/absent': `${PLANTED}-absent` });
  await ask(a, 'create_action', { name: 'waits', definition });
  await ask(a, 'delete_values', { names: ['team-a/absent'], force: true });
  const { inconsistent_objects: objects } = await ask<{ inconsistent_objects: { reason: string }[] }>(
    a,
    'get_inconsistent_metadata',
    {},
  );
  expect(objects.map(({ reason }) => reason).join()).toContain('named value "team-a/absent" is not set');
  await set(b, { 'team-a/absent': `${PLANTED}-absent` });
  await vi.waitFor(async () => {
    expect((await a.graphql('{ waits { heard } }')).data).toEqual({ waits: { heard: true } });
  }, 2000);
});

test('a value in use is kept unless its deletion is forced', async () => {
  const [a] = engines as [TestEngine];
  await set(a, { 'team-a/unused': `${PLANTED}-unused` });
  const names = ['team-a/hook/token', 'team-a/unused', 'team-a/none'];
  expect(await ask(a, 'delete_values', { names })).toEqual({
    message: 'success',
    deleted: ['team-a/unused'],
    kept: ['team-a/hook/token'],
  });
});

test('a value that a source connects with is never sent', async () => {
  const [a] = engines as [TestEngine];
  const headers = [{ name: 'x-key', value_from_value: 'team-a/database/url' }];
  const definition = { type: 'query', handler: webhook.url, output_type: 'Heard', headers };
  expect(await a.admin('create_action', { name: 'steals', definition })).toMatchObject({ status: 400 });
  webhook.reset();
  const answer = await a.admin('test_webhook_transform', {
    webhook_url: 'http://127.0.0.1/{{value:team-a/database/url}}',
    body: {},
    request_transform: { version: 2 },
  });
  seen.push(JSON.stringify(answer));
  expect(answer.status).toBe(400);
});

describe('nothing outside of the engine has a value', () => {
  test('no answer, export, revision, log line, metric or dump contains one', async () => {
    const [a] = engines as [TestEngine];
    const bad = [
      { values: [{ name: 'a b', value: `${PLANTED}-bad` }] },
      {
        values: [
          { name: 'ok', value: 5 },
          { name: 'ok', value: { [PLANTED]: PLANTED } },
        ],
      },
      { values: [{ name: 'ok', value: [`${PLANTED}-bad`] }] },
      { values: `${PLANTED}-bad` },
    ];
    for (const args of bad) {
      const { status, body } = await a.admin('set_values', args);
      expect(status).toBe(400);
      seen.push(JSON.stringify(body));
    }
    const reads: [string, object][] = [
      ['export_metadata', {}],
      ['get_inconsistent_metadata', {}],
      ['dump_internal_state', {}],
      ['list_metadata_revisions', {}],
      ['get_catalog_state', {}],
      ['list_values', {}],
      ['reencrypt_values', {}],
      ['pg_get_event_logs', { name: 'on_book', source: 'second', limit: 100 }],
      ['pg_get_event_invocation_logs', { name: 'on_book', source: 'second', limit: 100 }],
      ['get_cron_triggers', {}],
    ];
    for (const [type, args] of reads) await ask(a, type, args);
    const transform = {
      webhook_url: 'http://127.0.0.1/{{value:team-a/path}}',
      body: {},
      request_transform: { version: 2 },
    };
    await ask(a, 'test_webhook_transform', transform);
    for (const path of [
      '/v1alpha1/config',
      '/v1/metrics',
      '/dev/plan_cache',
      '/healthz',
      '/healthz/sources',
      '/api/openapi.json',
    ])
      seen.push(await (await a.fetch(path)).text());
    const dump = await a.fetch('/v1alpha1/pg_dump', {
      method: 'POST',
      body: JSON.stringify({ opts: ['--schema=pergola', '--no-owner'] }),
      headers: { 'content-type': 'application/json' },
    });
    const text = await dump.text();
    // The program may be older than the server of the tests; the rows themselves are read below.
    if (!text.includes('version mismatch'))
      expect([dump.status, text]).toEqual([200, expect.stringContaining('team-a/hook/token')]);
    seen.push(text);
    const tables = await database.sql(
      `select table_name as name from information_schema.tables where table_schema = 'pergola' and table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables)
      seen.push(JSON.stringify(await database.sql(`select t::text as row from pergola."${name}" t`)));
    expect(seen.join('\n')).toContain('team-a/hook/token');
    const forms = [
      PLANTED,
      Buffer.from(PLANTED).toString('hex'),
      Buffer.from(PLANTED).toString('base64').slice(0, 14),
    ];
    const leaks = seen.filter((one) => forms.some((form) => one.includes(form)));
    expect(leaks.map((one) => around(one))).toEqual([]);
  });

  test('a failing webhook shows the reference, not the value', async () => {
    const [a] = engines as [TestEngine];
    webhook.reply = () => ({ status: 500 });
    seen.length = 0;
    seen.push(JSON.stringify(await a.graphql('{ call { heard } }')));
    remote.misbehave((_, response) => response.writeHead(500).end('no'));
    seen.push(JSON.stringify(await a.graphql('{ far }')));
    remote.misbehave(null);
    webhook.reset();
    expect(seen.join('')).toContain('{{value:team-a/path}}');
    expect(seen.filter((one) => one.includes(PLANTED)).map(around)).toEqual([]);
  });

  test('other roles may not use the operations', async () => {
    const [a] = engines as [TestEngine];
    for (const type of ['set_values', 'list_values', 'delete_values', 'reencrypt_values']) {
      const response = await a.admin(type, {}, { headers: { 'x-engine-role': 'user' } });
      expect(response).toMatchObject({ status: 400, body: { code: 'access-denied' } });
      expect(JSON.stringify(response)).not.toContain('team-a');
    }
  });
});

describe('keys', () => {
  test('are rotated: the first encrypts, all decrypt, and the old one is removed after encrypting again', async () => {
    const both = await start({ valuesKey: `${NEXT_KEY},${KEY}` });
    const before = await list(both);
    expect(new Set(before.map(({ status }) => status))).toEqual(new Set(['usable']));
    const { reencrypted } = await ask<{ reencrypted: number }>(both, 'reencrypt_values', {});
    expect(reencrypted).toBe(before.length);
    const after = await list(both);
    expect(after.map(({ name, version }) => [name, version])).toEqual(
      before.map(({ name, version }) => [name, version]),
    );
    expect(new Set(after.map(({ key }) => key)).size).toBe(1);
    expect(after[0]!.key).not.toBe(before[0]!.key);
    await both.close();
    const next = await start({ valuesKey: NEXT_KEY });
    webhook.reset();
    expect((await next.graphql('{ call { heard } }')).data).toEqual({ call: { heard: true } });
    await next.close();
  });

  test('that are missing: an engine without one answers every operation on values, and refuses those that need it', async () => {
    const keyless = await start({ valuesKey: undefined });
    const args: Readonly<Record<string, object>> = {
      set_values: { values: [{ name: 'x', value: `${PLANTED}-x` }] },
      list_values: {},
      delete_values: { names: ['x', 'team-a/hook/token'] },
      reencrypt_values: {},
    };
    const operations = OPERATION_NAMES.filter((name) => /_values$/.test(name));
    expect(operations.toSorted()).toEqual(Object.keys(args).toSorted());
    const answers = new Map<string, { status: number; body: object }>();
    for (const operation of operations) {
      const answer = await keyless.admin<object>(operation, args[operation]);
      seen.push(JSON.stringify(answer));
      answers.set(operation, answer);
    }
    const refused = {
      status: 400,
      body: { code: 'not-supported', error: expect.stringContaining('--values-key') },
    };
    expect(answers.get('set_values')).toMatchObject(refused);
    expect(answers.get('reencrypt_values')).toMatchObject(refused);
    expect(answers.get('list_values')).toMatchObject({ status: 200, body: { keys: [] } });
    expect(answers.get('delete_values')).toMatchObject({
      status: 200,
      body: { deleted: [], kept: ['team-a/hook/token'] },
    });
    expect([...answers.values()].filter((one) => JSON.stringify(one).includes(PLANTED))).toEqual([]);
    await keyless.close();
  });

  test('that are wrong or lost are named, everything else is served, and setting the values recovers', async () => {
    // Values are encrypted under NEXT_KEY now.
    for (const valuesKey of [KEY, undefined]) {
      const lost = await start({ valuesKey });
      const listed = await list(lost);
      expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(['key_missing']));
      const { inconsistent_objects: objects } = await ask<{ inconsistent_objects: { reason: string }[] }>(
        lost,
        'get_inconsistent_metadata',
        {},
      );
      expect(objects.map(({ reason }) => reason).join('\n')).toContain(
        `is encrypted under key ${listed[0]!.key}, which --values-key does not have`,
      );
      expect(await (await lost.fetch('/v1alpha1/config')).json()).toMatchObject({
        named_values: { usable: 0, key_missing: listed.length },
      });
      expect(await (await lost.fetch('/v1/metrics')).text()).toContain(
        `pergola_named_values{status="key_missing"} ${listed.length}`,
      );
      expect((await lost.graphql('{ __typename }')).data).toEqual({ __typename: 'query_root' });
      await lost.close();
    }
    const keyless = await start({ valuesKey: undefined });
    const refused = await keyless.admin('set_values', { values: [{ name: 'x', value: 'y' }] });
    expect(refused).toMatchObject({ status: 400, body: { code: 'not-supported' } });
    await keyless.close();
    const recovering = await start({ valuesKey: KEY });
    await set(recovering, {
      'team-a/hook/url': webhook.url,
      'team-a/hook/token': `${PLANTED}-token-3`,
      'team-a/path': `${PLANTED}-path`,
    });
    webhook.reset();
    expect((await recovering.graphql('{ call { heard } }')).data).toEqual({ call: { heard: true } });
    expect(webhook.received[0]?.headers['authorization']).toBe(`${PLANTED}-token-3`);
    await recovering.close();
  });

  test('in a file are read again: a key that arrives later makes its values usable without a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pergola-values-'));
    const valuesKeyFile = join(folder, 'keys');
    const engine = await start({ valuesKey: undefined, valuesKeyFile, sourceCheckInterval: 1 });
    expect((await engine.graphql('{ call { heard } }')).data).toBeUndefined();
    await writeFile(valuesKeyFile, `${NEXT_KEY}\n${KEY}\n`);
    await vi.waitFor(async () => {
      expect((await engine.graphql('{ call { heard } }')).data).toEqual({ call: { heard: true } });
    }, 8000);
    await set(engine, { 'team-a/later': 'text' });
    const listed = await list(engine);
    expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(['usable']));
    await engine.close();
    await rm(folder, { recursive: true });
  });

  test('a row that is damaged or copied to another name does not decrypt', async () => {
    await database.sql(
      `update pergola.value v set sealed = o.sealed from pergola.value o where v.name = 'team-a/path' and o.name = 'team-a/hook/token'`,
    );
    const engine = await start();
    const path = (await list(engine)).find(({ name }) => name === 'team-a/path');
    expect(path?.status).toBe('damaged');
    await engine.close();
  });

  test('that are too short stop the start with a message without any part of them', async () => {
    const attempt = start({ valuesKey: `${KEY},${PLANTED}` });
    await expect(attempt).rejects.toThrow('key 2 of the named values has less than 32 characters');
  });
});

function around(text: string): string {
  const i = text.indexOf(PLANTED);
  return text.slice(Math.max(0, i - 200), i + 60);
}

/** Prints errors too, which have no enumerable members. */
function printed(value: unknown): string {
  return JSON.stringify(value, (_, one) =>
    one instanceof Error ? { ...one, message: one.message, stack: one.stack } : one,
  );
}

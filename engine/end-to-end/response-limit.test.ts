/** Tests the limit of responses: at every endpoint a response of the limit passes and one of a byte more is refused, before its first byte,
 *  with the statement cancelled; changes take effect at once, administrators have no limit, and all held bytes are released. */
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSession, openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';
import { SHARED_MEMORY } from '../limits/memory-budget.ts';

const MOST = 64 * 1024;
const TOO_LARGE = { code: 'response-limit-exceeded', message: `the response is larger than ${MOST} bytes` };

const database = testDatabase();
let engine: TestEngine;

beforeAll(async () => {
  await database.sql(`
    create table size (bytes int primary key);
    create view text as select bytes, repeat('x', bytes) as body from size;
    create table note (id int primary key, body text, changed int);
    create function fill() returns trigger language plpgsql as
      $$ begin new.body = repeat('x', new.id); return new; end $$;
    create trigger fill before insert on note for each row execute function fill();
    insert into size values (1)`);
  engine = await startTestEngine({
    databaseUrl: database.url,
    maxRoleResponseLength: MOST,
    liveQueriesMultiplexedRefetchInterval: 50,
    streamingQueriesMultiplexedRefetchInterval: 50,
  });
  for (const table of ['text', 'note', 'size']) await engine.must('pg_track_table', { table });
  for (const table of ['text', 'note']) {
    const permission = { columns: '*', filter: {} };
    await engine.must('pg_create_select_permission', { table, role: 'user', permission });
  }
  const permission = { columns: ['id'], check: {} };
  await engine.must('pg_create_insert_permission', { table: 'note', role: 'user', permission });
  const update = { columns: ['changed'], filter: {}, check: {} };
  await engine.must('pg_create_update_permission', { table: 'note', role: 'user', permission: update });
  await engine.must('pg_create_delete_permission', {
    table: 'note',
    role: 'user',
    permission: { filter: {} },
  });
  const query = `query ($bytes: Int) { text(where: {bytes: {_eq: $bytes}}) { body } }`;
  await engine.must('create_query_collection', {
    name: 'rest',
    definition: { queries: [{ name: 'text', query }] },
  });
  const definition = { query: { collection_name: 'rest', query_name: 'text' } };
  await engine.must('create_rest_endpoint', {
    name: 'text',
    url: 'text/:bytes',
    methods: ['GET'],
    definition,
  });
});
afterEach(async () => {
  await engine.must('remove_api_limits', {});
  await vi.waitFor(() => expect(SHARED_MEMORY.held).toBe(0), { timeout: 5000 });
});
afterAll(() => engine?.close());

const TEXT = (bytes: number) => `{ text(where: {bytes: {_eq: ${bytes}}}) { body } }`;
const ALL = (bytes: number) => `{ a: text(where: {bytes: {_eq: ${bytes}}}) { body } b: __typename }`;

async function post(path: string, body: unknown, role: string): Promise<string> {
  const response = await engine.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-role': role },
    body: JSON.stringify(body),
  });
  return response.text();
}

/** Sends a message over a WebSocket and returns the text of the first payload. */
async function overSocket(query: string, role: string): Promise<string> {
  const socket = await openSession(engine, { 'x-engine-role': role });
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  const { payload } = await socket.next(20_000);
  socket.close();
  await socket.closed;
  return JSON.stringify(payload);
}

/** All ways to read a text of some bytes. */
const WAYS: Readonly<Record<string, (bytes: number, role: string) => Promise<string>>> = {
  '/v1/graphql': (bytes, role) => post('/v1/graphql', { query: TEXT(bytes) }, role),
  'two root fields': (bytes, role) => post('/v1/graphql', { query: ALL(bytes) }, role),
  '/v1alpha1/graphql': (bytes, role) => post('/v1alpha1/graphql', { query: TEXT(bytes) }, role),
  '/v1beta1/relay': (bytes, role) => {
    const where = `where: {id: {_eq: ${bytes}}}`;
    return post(
      '/v1beta1/relay',
      { query: `{ note_connection(${where}) { edges { node { body } } } }` },
      role,
    );
  },
  REST: async (bytes, role) => {
    const response = await engine.fetch(`/api/rest/text/${bytes}`, { headers: { 'x-engine-role': role } });
    return response.text();
  },
  'a batch of one': (bytes, role) => post('/v1/graphql', [{ query: TEXT(bytes) }], role),
  'a mutation': (bytes, role) => {
    const query = `mutation { insert_note_one(object: {id: ${bytes}}) { body } }`;
    return post('/v1/graphql', { query }, role);
  },
  'a WebSocket': (bytes, role) => overSocket(TEXT(bytes), role),
  'a live query': (bytes, role) => overSocket(`subscription ${TEXT(bytes)}`, role),
  'a stream': (bytes, role) => {
    const arguments_ = `batch_size: 1, cursor: {initial_value: {bytes: ${bytes - 1}}}`;
    return overSocket(`subscription { text_stream(${arguments_}) { body } }`, role);
  },
};

async function prepare(way: string, sizes: readonly number[]): Promise<void> {
  await database.sql('delete from size; delete from note');
  await database.sql(`insert into size select unnest('{${sizes.join(',')}}'::int[]) on conflict do nothing`);
  if (way === '/v1beta1/relay') await database.sql('insert into note select bytes from size');
}

test.each(Object.keys(WAYS))('%s: the limit passes, a byte more does not', async (way) => {
  const read = WAYS[way]!;
  const isList = way === 'a batch of one';
  await prepare(way, [1]);
  // A batch is one answer, without the brackets of the list.
  const around = Buffer.byteLength(await read(1, 'user')) - 1 - (isList ? 2 : 0);
  const sizes = [MOST - around - 1, MOST - around, MOST - around + 1, 2 * MOST, 100 * MOST];
  await prepare(way, sizes);
  if (way === 'a mutation') await database.sql('delete from size');
  for (const bytes of sizes) {
    const text = await read(bytes, 'user');
    const isRefused = bytes + around > MOST;
    expect(() => JSON.parse(text)).not.toThrow();
    if (isRefused) {
      expect(text.slice(0, 1000)).toContain(TOO_LARGE.code);
      expect(text).toContain(TOO_LARGE.message);
      expect(text).not.toContain('xxx');
    } else expect(text).toContain('x'.repeat(bytes));
  }
});

test.each(Object.keys(WAYS))('%s: an administrator has no limit', async (way) => {
  await prepare(way, [5 * MOST]);
  expect(await WAYS[way]!(5 * MOST, 'admin')).toContain('x'.repeat(5 * MOST));
});

test.each(Object.keys(WAYS))(
  '%s: while the memory is used up, large results are refused and small ones pass',
  async (way) => {
    const bytes = 48 * 1024;
    await prepare(way, [10, bytes]);
    const others = SHARED_MEMORY.mostBytes - SHARED_MEMORY.held - 40 * 1024;
    expect(SHARED_MEMORY.hold(others)).toBe(true);
    for (const role of ['user', 'admin']) {
      if (way === 'a mutation') await database.sql('delete from note');
      expect(await WAYS[way]!(bytes, role)).toContain('too many bytes of answers are in memory');
      expect(await WAYS[way]!(10, role)).toContain('x'.repeat(10));
    }
    SHARED_MEMORY.release(others);
    if (way === 'a mutation') await database.sql('delete from note');
    expect(await WAYS[way]!(bytes, 'user')).toContain('x'.repeat(bytes));
  },
);

test.each(['HTTP', 'a WebSocket'])(
  '%s: an answer counts until its client has received it or has gone',
  async (way) => {
    const bytes = 20 * 2 ** 20;
    await prepare('', [bytes]);
    const address = new URL(engine.url);
    const body = JSON.stringify({ query: TEXT(bytes) });
    const socket =
      way === 'HTTP'
        ? connect(Number(address.port), address.hostname)
        : (await openSocket(engine.url, 'graphql-transport-ws')).socket;
    if (socket instanceof Socket) {
      socket.write(
        `POST /v1/graphql HTTP/1.1\r\nhost: ${address.host}\r\ncontent-type: application/json\r\n` +
          `x-engine-admin-secret: ${engine.adminSecret}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      socket.pause();
    } else {
      const headers = { 'x-engine-admin-secret': engine.adminSecret };
      socket.send(JSON.stringify({ type: 'connection_init', payload: { headers } }));
      await once(socket, 'message');
      socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: TEXT(bytes) } }));
      socket.pause();
    }
    await vi.waitFor(() => expect(SHARED_MEMORY.held).toBeGreaterThanOrEqual(bytes), { timeout: 10_000 });
    await sleep(300);
    expect(SHARED_MEMORY.held).toBeGreaterThanOrEqual(bytes);
    if (socket instanceof Socket) socket.destroy();
    else socket.terminate();
    await vi.waitFor(() => expect(SHARED_MEMORY.held).toBe(0), { timeout: 10_000 });
  },
);

test('the answers of a batch count together', async () => {
  await prepare('', [MOST / 2, 10]);
  const of = (...sizes: number[]) =>
    post(
      '/v1/graphql',
      sizes.map((n) => ({ query: TEXT(n) })),
      'user',
    );
  expect(JSON.parse(await of(MOST / 2, 10, 10))).toMatchObject([{ data: {} }, { data: {} }, { data: {} }]);
  const [first, second, third] = JSON.parse(await of(MOST / 2, MOST / 2, 10));
  expect(first).toHaveProperty('data');
  expect(second).toMatchObject({ errors: [{ extensions: { code: TOO_LARGE.code } }] });
  expect(third).toMatchObject({ errors: [{ extensions: { code: TOO_LARGE.code } }] });
  // A mutation whose answer could not be sent does not run.
  await database.sql('delete from note');
  const mutation = { query: 'mutation { insert_note_one(object: {id: 10}) { id } }' };
  const large = { query: TEXT(MOST / 2) };
  expect(JSON.parse(await post('/v1/graphql', [large, large, mutation], 'user'))[2]).toHaveProperty('errors');
  expect(await database.sql('select * from note')).toEqual([]);
});

test('nothing of a batch runs after there was no memory for one of its answers', async () => {
  await prepare('', [MOST / 2, 10]);
  await database.sql('delete from note');
  const others = SHARED_MEMORY.mostBytes - SHARED_MEMORY.held - 20 * 1024;
  expect(SHARED_MEMORY.hold(others)).toBe(true);
  const [small, large] = [{ query: TEXT(10) }, { query: TEXT(MOST / 2) }];
  const mutation = { query: 'mutation { insert_note_one(object: {id: 10}) { id } }' };
  try {
    const answers = JSON.parse(await post('/v1/graphql', [small, large, mutation, small], 'user'));
    expect(answers[0]).toHaveProperty('data');
    for (const answer of answers.slice(1)) {
      expect(answer).toMatchObject({ errors: [{ extensions: { code: 'overloaded' } }] });
    }
    expect(await database.sql('select * from note')).toEqual([]);
    // Another request has its own count.
    expect(JSON.parse(await post('/v1/graphql', mutation, 'user'))).toHaveProperty('data');
  } finally {
    SHARED_MEMORY.release(others);
  }
});

test('many small columns count together', async () => {
  await prepare('', [1000]);
  const fields = Array.from({ length: 70 }, (_, i) => `a${i}: text(where: {bytes: {_eq: 1000}}) { body }`);
  const text = await post('/v1/graphql', { query: `{ ${fields.join(' ')} }` }, 'user');
  expect(text).toContain(TOO_LARGE.code);
});

test('a limit of the metadata takes effect at once, for its role', async () => {
  await prepare('', [2 * MOST]);
  const read = () => post('/v1/graphql', { query: TEXT(2 * MOST) }, 'user');
  expect(await read()).toContain(TOO_LARGE.code);
  await engine.must('set_api_limits', { response_limit: { global: 10, per_role: { user: 3 * MOST } } });
  expect(await read()).toContain('xxx');
  await engine.must('set_api_limits', { response_limit: { global: 3 * MOST, per_role: { user: 1000 } } });
  expect(await read()).toContain('larger than 1000 bytes');
  await engine.must('set_api_limits', { disabled: true, response_limit: { global: 10 } });
  expect(await read()).toContain(TOO_LARGE.message);
});

const ROWS = 3 * MOST;
/** Mutations with too large a response, and a query for their effect: how many rows have changed. */
const MUTATIONS: Readonly<Record<string, string>> = {
  insert_one: `insert_note_one(object: {id: ${ROWS}}) { body }`,
  insert: `insert_note(objects: [{id: ${ROWS}}, {id: 2}]) { returning { body } }`,
  update: `update_note(where: {}, _set: {changed: 1}) { returning { body } }`,
  'update by key': `update_note_by_pk(pk_columns: {id: ${MOST}}, _set: {changed: 1}) { body }`,
  'update many': `update_note_many(updates: [{where: {}, _set: {changed: 1}}]) { returning { body } }`,
  delete: 'delete_note(where: {}) { returning { body } }',
  'two fields': `a: insert_note_one(object: {id: 1}) { id } b: insert_note_one(object: {id: ${ROWS}}) { body }`,
  'two fields that are too large together': `a: delete_note_by_pk(id: ${MOST - 1000}) { body }
    b: insert_note_one(object: {id: 2000}) { body }`,
};

test.each(Object.entries(MUTATIONS))(
  '%s: a refused mutation is committed only if it says so',
  async (_, text) => {
    await database.sql(`delete from note; insert into note values (${MOST}), (${MOST - 1000})`);
    const state = async () => database.sql('select id, changed from note order by id');
    const before = await state();
    const answer = await post('/v1/graphql', { query: `mutation { ${text} }` }, 'user');
    expect(answer).toContain(TOO_LARGE.code);
    const isChanged = JSON.stringify(await state()) !== JSON.stringify(before);
    expect(answer.includes('the changes are committed')).toBe(isChanged);
  },
);

test('rows of the admin API have the limit of the role, and none for an administrator', async () => {
  await prepare('', [2 * MOST, 10]);
  const select = (bytes: number, role: string) =>
    post('/v1/query', { type: 'select', args: { table: 'text', columns: ['body'], where: { bytes } } }, role);
  expect(await select(2 * MOST, 'user')).toContain(TOO_LARGE.message);
  expect(await select(10, 'user')).toContain('x'.repeat(10));
  expect(await select(2 * MOST, 'admin')).toContain('x'.repeat(2 * MOST));
});

test('a role with a time limit has the limit of responses, too', async () => {
  await prepare('', [2 * MOST]);
  await engine.must('set_api_limits', { time_limit: { global: 10 } });
  expect(await post('/v1/graphql', { query: TEXT(2 * MOST) }, 'user')).toContain(TOO_LARGE.code);
});

test('connections are used again after a refusal', async () => {
  await prepare('', [100 * MOST, 1]);
  const pids = async () =>
    (
      await database.sql(`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`)
    )[0]!['count'];
  for (let i = 0; i < 5; i++) {
    const texts = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        post('/v1/graphql', { query: TEXT(n % 2 ? 1 : 100 * MOST) }, 'user'),
      ),
    );
    expect(texts.map((text) => text.includes(TOO_LARGE.code))).toEqual(texts.map((_, n) => n % 2 === 0));
  }
  expect(await pids()).toBeLessThan(30);
});

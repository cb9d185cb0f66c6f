/** Texts that the engine quotes in errors: everybody who may write one × lengths around the limit. Rule: docs/reference/behaviour/errors.md,
 *  "Texts of others": a message or a code has at most 16,384 characters, and a longer one ends with `…`; extensions and `internal` have at most
 *  65,536 characters of JSON. So no log line and no response is as long as the text. */
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { openSocket } from '../../testing/websocket.ts';
import { LOG_TYPES } from '../observe/observation.ts';
import { openLog } from '../observe/sinks.ts';
import { type RuleWorld, startWorld } from './testing/rules.ts';

const MOST = 16_384;
const MOST_JSON = 65_536;
const LENGTHS = [1, MOST, MOST + 1, 3_000_000];

const file = join(mkdtempSync(join(tmpdir(), 'pergola-quoted-')), 'log');
const log = openLog({ logLevel: 'debug', enabledLogTypes: LOG_TYPES }, openSync(file, 'w'));

let reply: { status: number; body: string } = { status: 200, body: '' };
const service = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(reply.status).end(reply.body));
});

let world: RuleWorld;
let remote: RemoteService;
beforeAll(async () => {
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const handler = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  remote = await startRemote('type Query { far: String } type Subscription { news: String }');
  world = await startWorld({
    sql: `create table note (id serial primary key, text text);
      create function loud(length int) returns setof note stable language plpgsql as
        $$ begin raise exception '%', repeat('x', length) using errcode = '22000'; end $$`,
    tables: ['note'],
    options: { log, enabledLogTypes: LOG_TYPES, asyncActionsFetchInterval: 20 },
    operations: [
      ['create_action', { name: 'act', definition: { handler, output_type: 'String', type: 'query' } }],
      [
        'create_action',
        { name: 'later', definition: { handler, output_type: 'String', kind: 'asynchronous' } },
      ],
      [
        'pg_create_insert_permission',
        {
          ...{ table: 'note', role: 'writer' },
          permission: {
            check: {},
            columns: ['text'],
            validate_input: { type: 'http', definition: { url: handler } },
          },
        },
      ],
      [
        'pg_create_select_permission',
        { table: 'note', role: 'writer', permission: { columns: '*', filter: {} } },
      ],
      ['pg_track_function', { function: 'loud' }],
      ['add_remote_schema', { name: 'far', definition: { url: remote.url } }],
    ],
  });
}, 60_000);
afterAll(async () => {
  await world?.close();
  await remote?.close();
  service.close();
});

type Answered = { readonly message: string; readonly code?: string; readonly bytes: number };

async function ask(
  query: string,
  role?: string,
  headers?: Readonly<Record<string, string>>,
): Promise<Answered> {
  const answer = await world.engine.graphql(query, {
    ...(role === undefined ? {} : { role }),
    ...(headers ? { headers } : {}),
  });
  const [error] = answer.errors!;
  return { message: error!.message, code: error!.extensions?.code, bytes: JSON.stringify(answer).length };
}

const refusedBy = (body: object, status = 400) => {
  reply = { status, body: JSON.stringify(body) };
};

/** Everybody whose text becomes a message, with the request that shows it. */
const AUTHORS: Readonly<Record<string, (text: string) => Promise<Answered>>> = {
  'an action, for a role': async (text) => {
    refusedBy({ message: text });
    return ask('{ act }');
  },
  'an action that failed later': async (text) => {
    refusedBy({ message: text });
    const { data } = await world.engine.graphql<{ later: string }>('mutation { later }');
    const query = `{ later(id: "${data!.later}") { errors } }`;
    const errors = await vi.waitFor(
      async () => {
        const found = await world.engine.graphql<{ later: { errors: { error: string; code: string } } }>(
          query,
        );
        expect(found.data!.later.errors).not.toBeNull();
        return found.data!.later.errors;
      },
      { timeout: 10_000, interval: 20 },
    );
    return { message: errors.error, code: errors.code, bytes: JSON.stringify(errors).length };
  },
  'the validation of an input': async (text) => {
    refusedBy({ message: text });
    return ask('mutation { insert_note_one(object: {text: "a"}) { id } }', 'writer');
  },
  'a function of the database': (text) => ask(`{ loud(args: {length: ${text.length}}) { id } }`),
  'the request itself': (text) => ask(`{ note(where: {${text}: {}}) { id } }`),
  'its variables': async (text) => {
    const query = 'query ($w: note_bool_exp) { note(where: $w) { id } }';
    const { errors } = await world.engine.graphql(query, { variables: { w: { [text]: {} } } });
    return { message: errors![0]!.message, bytes: JSON.stringify(errors).length };
  },
  'the one who closes a subscription': async (text) => {
    remote.takeSockets('graphql-transport-ws', async (peer) => {
      await peer.next();
      peer.send({ type: 'connection_error', payload: text });
    });
    const [error] = await refusedSubscription();
    const { message } = error!.extensions!.internal as { readonly message: string };
    return { message, bytes: JSON.stringify(error).length };
  },
};

type Refused = readonly { readonly message: string; readonly extensions?: { readonly internal?: unknown } }[];

/** Returns the errors with which the engine refuses a subscription to the remote schema. */
async function refusedSubscription(): Promise<Refused> {
  const headers = { 'x-engine-admin-secret': world.engine.adminSecret };
  const socket = await openSocket(world.engine.url, 'graphql-transport-ws', headers);
  socket.send({ type: 'connection_init', payload: { headers } });
  await socket.next();
  socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { news }' } });
  const { payload } = await socket.next();
  socket.close();
  return payload as Refused;
}

describe.each(Object.keys(AUTHORS))('a text of %s', (author) => {
  test.each(LENGTHS)('of %i characters', async (length) => {
    const { message, bytes } = await AUTHORS[author]!('x'.repeat(length));
    // Booleans, because a failure would print the texts.
    expect([/^[^x]*x/.test(message), message.endsWith('…')]).toEqual([
      true,
      length > MOST || message.length > MOST,
    ]);
    expect(message.length).toBeLessThanOrEqual(MOST + 1);
    if (length > MOST) expect(message.length).toBeGreaterThan(MOST - 1);
    expect(bytes).toBeLessThan(2 * MOST_JSON + 3 * MOST);
  });
});

test('an error of the database of 20 MB', async () => {
  expect((await ask('{ loud(args: {length: 20000000}) { id } }')).message).toBe(
    'the request is too complex for the database: the error of the database is too long',
  );
  expect((await world.engine.graphql('{ note { id } }')).data).toEqual({ note: [] });
});

test('a message of exactly the limit is passed on whole', async () => {
  const message = 'x'.repeat(MOST);
  refusedBy({ message });
  expect((await ask('{ act }')).message === message).toBe(true);
});

test('no half of a character ends a message', async () => {
  refusedBy({ message: `${'x'.repeat(MOST - 1)}😀y` });
  expect((await ask('{ act }')).message === `${'x'.repeat(MOST - 1)}…`).toBe(true);
});

test('the code of a refusal', async () => {
  refusedBy({ message: 'no', code: 'c'.repeat(3_000_000) });
  const { code, bytes } = await ask('{ act }');
  expect(code === `${'c'.repeat(MOST)}…`).toBe(true);
  expect(bytes).toBeLessThan(2 * MOST_JSON + 3 * MOST);
});

test.each([
  ['as long as the limit', MOST_JSON, true],
  ['longer', MOST_JSON + 1, false],
  ['of megabytes', 3_000_000, false],
])('the extensions of a refusal, %s', async (_, length, isKept) => {
  const extensions = { code: 'own', a: 'x'.repeat(length - '{"code":"own","a":""}'.length) };
  refusedBy({ message: 'no', extensions });
  const answer = await world.engine.graphql('{ act }', { role: 'admin' });
  const [error] = answer.errors!;
  const { internal: _internal, ...shown } = error!.extensions as Readonly<Record<string, unknown>>;
  expect(Object.keys(shown)).toEqual(isKept ? ['code', 'a'] : ['path', 'code']);
  expect(shown['a'] === (isKept ? extensions.a : undefined)).toBe(true);
});

test.each([
  ['an action', '{ act }', undefined],
  ['the validation of an input', 'mutation { insert_note_one(object: {text: "a"}) { id } }', 'writer'],
])('the body of %s that is no refusal', async (_, query, role) => {
  reply = { status: 500, body: 'x'.repeat(3_000_000) };
  const { bytes } = await ask(query, role);
  expect(bytes).toBeLessThan(2 * MOST_JSON + 3 * MOST);
});

test('errors with which a subscription is refused', async () => {
  for (const length of [10, 3_000_000]) {
    remote.takeSockets('graphql-transport-ws', async (peer) => {
      await peer.next();
      peer.send({ type: 'connection_ack' });
      const { id } = await peer.next();
      peer.send({ type: 'error', id, payload: [{ message: 'x'.repeat(length) }] });
    });
    const [error] = await refusedSubscription();
    expect(error!.message).toBe(length === 10 ? 'x'.repeat(10) : 'the subscription was refused');
  }
});

test('no line of the log is long', async () => {
  log.flush();
  const lines = readFileSync(file, 'utf8').split('\n');
  expect(lines.length).toBeGreaterThan(50);
  // A line also has the request.
  const answered = lines.filter(
    (line) => !line.includes('"query":{"type":"bulk') && !/where: \{x|"w":\{"x/.test(line),
  );
  expect(Math.max(...answered.map((line) => line.length))).toBeLessThan(2 * MOST_JSON + 3 * MOST);
});

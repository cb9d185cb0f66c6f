/** Session variables and roles beyond ASCII: how the client sends them × where they are used. In headers they are UTF-8, received and
 *  sent. Rule: docs/reference/behaviour/authentication.md. */
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { TestWebhook } from '../../testing/webhook.ts';
import { openSocket } from '../../testing/websocket.ts';
import { jwtSecret } from '../config/jwt-secret.ts';
import { type RuleWorld, startWorld } from './testing/rules.ts';

const KEY = 'a key of thirty-two characters at least';
const ROLE = 'författare';
const TEXTS = ['ascii', 'José', '日本', '🙂', 'Ã©'];
const QUERY = '{ note { owner } }';

/** Clients of Node send one byte for each character, and show received headers in the same way. */
const bytes = (text: string) => Buffer.from(text).toString('latin1');
const received = (value: unknown) => Buffer.from(String(value), 'latin1').toString();

let world: RuleWorld;
let remote: RemoteService;
let webhook: TestWebhook<{ readonly session_variables: Readonly<Record<string, string>> }>;
beforeAll(async () => {
  remote = await startRemote('type Query { hello: String }', { 'Query.hello': () => 'hello' });
  webhook = await TestWebhook.start();
  const isOwn = { owner: { _eq: 'X-Engine-Name' } };
  world = await startWorld({
    sql: `create table note (id int generated always as identity primary key, owner text);
      insert into note (owner) values ${TEXTS.map((text) => `('${text}')`).join(', ')};`,
    tables: ['note'],
    options: {
      jwtSecret: jwtSecret.parse(JSON.stringify({ type: 'HS256', key: KEY, claims_namespace: 'claims' })),
    },
    operations: [
      [
        'pg_create_select_permission',
        { table: 'note', role: ROLE, permission: { columns: ['id', 'owner'], filter: isOwn } },
      ],
      [
        'pg_create_insert_permission',
        {
          table: 'note',
          role: ROLE,
          permission: { columns: [], check: isOwn, set: { owner: 'X-Engine-Name' } },
        },
      ],
      ['pg_create_delete_permission', { table: 'note', role: ROLE, permission: { filter: isOwn } }],
      [
        'add_remote_schema',
        { name: 'remote', definition: { url: remote.url, forward_client_headers: true } },
      ],
      [
        'add_remote_schema_permissions',
        { remote_schema: 'remote', role: ROLE, definition: { schema: 'type Query { hello: String }' } },
      ],
      ['set_custom_types', { objects: [{ name: 'Answer', fields: [{ name: 'heard', type: 'Boolean' }] }] }],
      [
        'create_action',
        {
          name: 'hear',
          definition: {
            type: 'query',
            handler: webhook.url,
            forward_client_headers: true,
            output_type: 'Answer',
          },
        },
      ],
      ['create_action_permission', { action: 'hear', role: ROLE }],
    ],
  });
});
afterAll(async () => {
  await world?.close();
  await remote?.close();
  webhook?.close();
});

const trusted = (name: string) => ({
  'x-engine-admin-secret': world.engine.adminSecret,
  'x-engine-role': ROLE,
  'x-engine-name': name,
});

async function withToken(name: string) {
  const claims = { 'x-engine-allowed-roles': [ROLE], 'x-engine-default-role': ROLE, 'x-engine-name': name };
  const signer = new SignJWT({ claims }).setProtectedHeader({ alg: 'HS256' });
  const token = await signer.sign(new TextEncoder().encode(KEY));
  return { authorization: `Bearer ${token}`, 'x-engine-role': ROLE };
}

const asBytes = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, bytes(value)]));

async function overHttp(headers: Record<string, string>, query: string): Promise<unknown> {
  const answer = await world.engine.graphql(query, { role: null, headers: asBytes(headers) });
  return answer.data ?? answer.errors;
}

async function overSocket(
  handshake: Record<string, string>,
  init: Record<string, string>,
  query: string,
): Promise<unknown> {
  const socket = await openSocket(world.engine.url, 'graphql-transport-ws', asBytes(handshake));
  socket.send({ type: 'connection_init', payload: { headers: init } });
  expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  const { payload } = await socket.next();
  socket.close();
  return (payload as { data?: unknown }).data ?? payload;
}

/** The ways in which a client sends a session. */
const SENT: Readonly<Record<string, (name: string, query: string) => Promise<unknown>>> = {
  'headers of a request': (name, query) => overHttp(trusted(name), query),
  'a token': async (name, query) => overHttp(await withToken(name), query),
  'headers of a handshake': (name, query) => overSocket(trusted(name), {}, query),
  'headers of connection_init': (name, query) => overSocket({}, trusted(name), query),
};

describe.each(Object.entries(SENT))('sent in %s', (_, send) => {
  test.each(TEXTS)('%s', async (text) => {
    expect(await send(text, QUERY)).toEqual({ note: [{ owner: text }] });
    const written = await send(text, 'mutation { insert_note_one(object: {}) { id owner } }');
    expect(written).toMatchObject({ insert_note_one: { owner: text } });
    const { id } = (written as { insert_note_one: { id: number } }).insert_note_one;
    expect(
      await send(text, `mutation { delete_note(where: { id: { _eq: ${id} } }) { affected_rows } }`),
    ).toEqual({
      delete_note: { affected_rows: 1 },
    });
    expect(await send(text, '{ hello }')).toEqual({ hello: 'hello' });
    const { headers } = remote.asked.at(-1)!;
    expect([received(headers['x-engine-name']), received(headers['x-engine-role'])]).toEqual([text, ROLE]);
    expect(await send(text, '{ hear { heard } }')).toEqual({ hear: { heard: true } });
    const { body } = webhook.received.at(-1)!;
    expect(body.session_variables).toMatchObject({ 'x-engine-name': text, 'x-engine-role': ROLE });
  });
});

test('other headers of the client reach webhooks and remote schemas as they were sent', async () => {
  for (const text of TEXTS) {
    expect(await overHttp({ ...trusted('José'), 'x-city': text }, '{ hello hear { heard } }')).toEqual({
      hello: 'hello',
      hear: { heard: true },
    });
    expect(received(remote.asked.at(-1)!.headers['x-city'])).toBe(text);
    expect(received(webhook.received.at(-1)!.headers['x-city'])).toBe(text);
    expect(received(webhook.received.at(-1)!.headers['x-engine-name'])).toBe('José');
  }
});

test('bytes that are not UTF-8 are read as ISO 8859-1', async () => {
  const answer = await world.engine.graphql(QUERY, {
    role: null,
    headers: { ...asBytes(trusted('')), 'x-engine-name': 'José' },
  });
  expect(answer).toEqual({ data: { note: [{ owner: 'José' }] } });
});

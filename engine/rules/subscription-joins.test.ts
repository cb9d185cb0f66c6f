/** Remote relationships in subscriptions: kinds of relationship × kinds of subscription × roles, with the experimental feature and without.
 *  Rule: docs/reference/behaviour/subscriptions.md, "Remote relationships". */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { openSocket, type TestSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';
import { type RuleWorld, startWorld } from './testing/rules.ts';

const REFUSAL = {
  message: 'Remote relationships are not allowed in subscriptions',
  extensions: { code: 'not-supported' },
};

const SDL = `type Query { post(id: Int!): Post } type Subscription { post(id: Int!): Post }
  type Post { id: Int! text: String }`;

const other = testDatabase();
let remote: RemoteService;
/** The feature is off in the first and on in the second. */
let off: RuleWorld;
let on: RuleWorld;
let text = 'one';
const sockets: TestSocket[] = [];

beforeAll(async () => {
  await other.sql(`create table sale (id int primary key, note int, price int, secret text);
    insert into sale values (1, 1, 10, 'hidden'), (2, 1, 20, 'hidden'), (3, 2, 30, 'hidden')`);
  remote = await startRemote(SDL, { 'Query.post': (_: unknown, { id }: { id: number }) => ({ id, text }) });
  const start = (experimentalFeatures: readonly 'remote_relationships_in_subscriptions'[]) =>
    startWorld({
      sql: "create table note (id int primary key, body text); insert into note values (1, 'a'), (2, 'b')",
      tables: ['note'],
      options: {
        env: { OTHER: other.url },
        experimentalFeatures,
        liveQueriesMultiplexedRefetchInterval: 50,
      },
      operations: [
        [
          'pg_add_source',
          { name: 'other', configuration: { connection_info: { database_url: { from_env: 'OTHER' } } } },
        ],
        ['pg_track_table', { source: 'other', table: 'sale' }],
        ['add_remote_schema', { name: 'blog', definition: { url: remote.url } }],
        ['pg_create_remote_relationship', SALES],
        ['pg_create_remote_relationship', POST],
        ['create_remote_schema_remote_relationship', NOTE],
        [
          'pg_create_select_permission',
          { table: 'note', role: 'reader', permission: { columns: ['id'], filter: { id: { _eq: 1 } } } },
        ],
        [
          'pg_create_select_permission',
          {
            source: 'other',
            table: 'sale',
            role: 'reader',
            permission: { columns: ['price'], filter: { price: { _lt: 'X-Engine-Most' } } },
          },
        ],
      ],
    });
  [off, on] = await Promise.all([start([]), start(['remote_relationships_in_subscriptions'])]);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
  remote.misbehave(null);
});
afterAll(async () => {
  await Promise.all([off?.close(), on?.close()]);
  await remote?.close();
});

const SALES = {
  table: 'note',
  name: 'sales',
  definition: {
    to_source: { source: 'other', table: 'sale', relationship_type: 'array', field_mapping: { id: 'note' } },
  },
};
const POST = {
  table: 'note',
  name: 'post',
  definition: {
    to_remote_schema: {
      remote_schema: 'blog',
      lhs_fields: ['id'],
      remote_field: { post: { arguments: { id: '$id' } } },
    },
  },
};
const NOTE = {
  remote_schema: 'blog',
  type_name: 'Post',
  name: 'note',
  definition: {
    to_source: { source: 'default', table: 'note', relationship_type: 'object', field_mapping: { id: 'id' } },
  },
};

async function subscribe(
  { engine }: RuleWorld,
  query: string,
  session: Readonly<Record<string, string>> = {},
): Promise<TestSocket> {
  const socket = await openSocket(engine.url, 'graphql-transport-ws');
  sockets.push(socket);
  const headers = { 'x-engine-admin-secret': engine.adminSecret, ...session };
  socket.send({ type: 'connection_init', payload: { headers } });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  return socket;
}
const payload = async (socket: TestSocket) => (await socket.next()).payload;

/** The selection of each relationship, and whether a subscription may have it when the feature is on. */
const SELECTIONS = {
  'to rows of another source': ['note { id sales(order_by: {id: asc}) { price } }', true],
  'to their aggregate': ['note { sales_aggregate { aggregate { count } } }', true],
  'to a remote schema': ['note_by_pk(id: 1) { post { text } }', true],
  'through a remote schema back to rows': ['note_by_pk(id: 1) { post { note { body } } }', true],
  'from rows of a stream': [
    'note_stream(cursor: {initial_value: {id: 0}}, batch_size: 5) { id post { text } }',
    false,
  ],
  'from an event of a remote schema': ['post(id: 1) { id note { body } }', false],
} as const;

describe.each(Object.entries(SELECTIONS))('%s', (_, [selection, isAllowed]) => {
  test('is refused unless the feature is on', async () => {
    expect(await payload(await subscribe(off, `subscription { ${selection} }`))).toMatchObject([REFUSAL]);
    expect(await off.engine.graphql(`subscription { ${selection} }`)).toMatchObject({ errors: [REFUSAL] });
  });

  test(
    isAllowed ? 'is what a query gives when the feature is on' : 'is refused with the feature',
    async () => {
      const first = await payload(await subscribe(on, `subscription { ${selection} }`));
      if (isAllowed) expect(first).toEqual(await on.engine.graphql(`{ ${selection} }`));
      else expect(first).toMatchObject([REFUSAL]);
    },
  );
});

test('changes of either side are sent, and nothing else', async () => {
  const query = 'subscription { note_by_pk(id: 2) { body sales { price } post { text } } }';
  const socket = await subscribe(on, query);
  const note = (body: string, price: number, of: string) => ({
    data: { note_by_pk: { body, sales: [{ price }], post: { text: of } } },
  });
  expect(await payload(socket)).toEqual(note('b', 30, 'one'));
  expect(await socket.during(300)).toEqual([]);
  await on.database.sql("update note set body = 'c' where id = 2");
  expect(await payload(socket)).toEqual(note('c', 30, 'one'));
  await other.sql('update sale set price = 31 where id = 3');
  expect(await payload(socket)).toEqual(note('c', 31, 'one'));
  text = 'two';
  expect(await payload(socket)).toEqual(note('c', 31, 'two'));
  await on.database.sql("update note set body = 'b' where id = 2");
  await other.sql('update sale set price = 30 where id = 3');
  text = 'one';
});

test('a role receives the rows and columns of the other side that it may read', async () => {
  const session = { 'x-engine-role': 'reader', 'x-engine-most': '15' };
  const socket = await subscribe(on, 'subscription { note { id sales { price } } }', session);
  expect(await payload(socket)).toEqual({ data: { note: [{ id: 1, sales: [{ price: 10 }] }] } });
  await other.sql('update sale set price = 21 where id = 2');
  expect(await socket.during(300)).toEqual([]);
  await other.sql('update sale set price = 14 where id = 2');
  const { data } = (await payload(socket)) as { data: { note: [{ sales: object[] }] } };
  expect(data.note[0].sales).toHaveLength(2);
  await other.sql('update sale set price = 20 where id = 2');
  for (const hidden of ['sales { secret }', 'post { text }']) {
    const refused = await subscribe(on, `subscription { note { ${hidden} } }`, session);
    expect(await payload(refused)).toMatchObject([{ extensions: { code: 'validation-failed' } }]);
  }
});

test('a service that fails is an error beside the data, until it recovers', async () => {
  const socket = await subscribe(on, 'subscription { note_by_pk(id: 1) { id post { text } } }');
  const good = { data: { note_by_pk: { id: 1, post: { text: 'one' } } } };
  expect(await payload(socket)).toEqual(good);
  remote.misbehave((_, response) => response.end('no'));
  expect(await payload(socket)).toMatchObject({
    data: { note_by_pk: { id: 1, post: null } },
    errors: [{ path: ['note_by_pk', 'post'], extensions: { code: 'remote-schema-error' } }],
  });
  remote.misbehave(null);
  expect(await payload(socket)).toEqual(good);
});

test('services that do not answer do not delay subscriptions without joins', async () => {
  remote.misbehave(() => {});
  const waiting = Array.from({ length: 60 }, () =>
    subscribe(on, 'subscription { note { post { text } } }').then((socket) => socket.during(0)),
  );
  await Promise.all(waiting);
  const socket = await subscribe(on, 'subscription { note_by_pk(id: 1) { body } }');
  expect(await payload(socket)).toEqual({ data: { note_by_pk: { body: 'a' } } });
});

test('a relationship that is dropped ends the subscription', async () => {
  const socket = await subscribe(on, 'subscription { note { sales { price } } }');
  await socket.next();
  await on.engine.admin('pg_delete_remote_relationship', { table: 'note', name: 'sales' });
  expect(await payload(socket)).toMatchObject([{ extensions: { code: 'validation-failed' } }]);
  await on.engine.admin('pg_create_remote_relationship', SALES);
});

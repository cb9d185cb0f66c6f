/** Creates the world of the attacked engine: rows that everybody may read and subscribe to, a slow function, and two event
 *  triggers, one of which has a webhook that never responds. Other services answer with far more than they are asked for. Not here: the attacks (attacks.ts), the engine (limited-engine.ts). */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { buildSchema, introspectionFromSchema } from 'graphql';
import pg from 'pg';
import { WebSocketServer } from 'ws';
import { LARGE_ENDPOINT, tableName } from '../amplification/world.ts';
import { ADMIN_SECRET } from './limited-engine.ts';

const SQL = `
create table item (id int primary key, body text not null, version int not null default 0);
insert into item (id, body) select i, repeat(md5(i::text), 32) from generate_series(1, 500) i;
create table waiting_job (id int primary key);
create table quick_job (id int primary key);
create table part (id int primary key, kind int not null default 1, body text not null);
insert into part (id, body) select i, repeat('x', 600) from generate_series(1, 82) i;
create view large as select i as id, repeat('x', 1000) as body from generate_series(1, 25000) i;
create table owner (id serial primary key, name text);
create table belonging (id serial primary key, owner_id int references owner);
create table ${tableName(0)} (id int primary key, name text, amount numeric, doc jsonb, tags text[], at timestamptz, before_id int);
create table answered_job (id int primary key);
create table addressed_job (id serial primary key);
create function slow_item() returns setof item stable language sql as $$ select i.* from item i, pg_sleep(20) limit 1 $$;`;

const READABLE = { role: 'anonymous', permission: { columns: '*', filter: {} } };
const INSERTABLE = { role: 'anonymous', permission: { columns: '*', check: {} } };
const UPDATABLE = { role: 'anonymous', permission: { columns: '*', filter: {}, check: {} } };
const table = (name: string) => ({ schema: 'public', name });

const manual = (name: string, column: string) => ({
  remote_table: table(name),
  column_mapping: { [column]: column },
});

const toItself = (from: string, to: string) => ({
  remote_table: table(tableName(0)),
  column_mapping: { [from]: to },
});

export type World = {
  /** The URL of the engine. */
  readonly url: string;
  readonly database: pg.Client;
  /** Rows of `quick_job` whose webhook has been called. */
  readonly delivered: () => number;
  /** Changes every row of `item`, so that every subscription has a new result. */
  readonly changeRows: () => Promise<void>;
  /** Sends a GraphQL request as administrator. Returns the response. */
  readonly ask: (query: string) => Promise<{ readonly data?: unknown; readonly errors?: unknown }>;
  readonly close: () => Promise<void>;
};

export async function createWorld(databaseUrl: string, engineUrl: string): Promise<World> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query(SQL);
  let delivered = 0;
  const quick = await listen((_, response) => {
    delivered++;
    response.end('{}');
  });
  const silent = await listen(() => {});
  const large = await listen(answerLargely());
  pushLargely(large);
  await replaceMetadata(engineUrl, { quick: urlOf(quick), silent: urlOf(silent), large: urlOf(large) });
  return {
    url: engineUrl,
    database,
    delivered: () => delivered,
    changeRows: async () => void (await database.query('update item set version = version + 1')),
    ask: async (query) => {
      const response = await fetch(`${engineUrl}/v1/graphql`, {
        method: 'POST',
        headers: HEADERS,
        body: JSON.stringify({ query }),
      });
      return (await response.json()) as object;
    },
    close: async () => {
      for (const server of [quick, silent, large]) {
        server.close();
        server.closeAllConnections();
      }
      await database.end();
    },
  };
}

const HEADERS = { 'content-type': 'application/json', 'x-engine-admin-secret': ADMIN_SECRET };

const MIB = 2 ** 20;
const LARGE_SCHEMA = introspectionFromSchema(
  buildSchema(
    'type Query { large_answer: String } type Subscription { large_event: String many_lines: String }',
  ),
);
const SOCKET_SCHEMA = introspectionFromSchema(
  buildSchema('type Query { socket_answer: String } type Subscription { socket_event: String }'),
);
const EVENT_MIB = 60;

/** Answers an event with 60 MB in a few kilobytes of gzip, an action with 60 MB or with 10 million
 *  objects, and a query with 200 MB. */
function answerLargely(): (request: IncomingMessage, response: ServerResponse) => void {
  const coded = gzipSync(Buffer.alloc(60 * MIB, 'a'));
  return async (request, response) => {
    const body = await text(request);
    if (request.url === '/event') response.setHeader('content-encoding', 'gzip').end(coded);
    else if (body.includes('__schema')) {
      response.end(JSON.stringify({ data: request.url === '/socket' ? SOCKET_SCHEMA : LARGE_SCHEMA }));
    } else if (request.headers.accept === 'text/event-stream') {
      response.setHeader('content-type', 'text/event-stream');
      if (body.includes('many_lines')) pour(response, 'event: next\n', 60 * EVENT_MIB, '', 'data:\n');
      else pour(response, 'event: next\ndata: {"data":{"large_event":"', EVENT_MIB, '"}}\n\n');
    } else if (request.method === 'GET') response.end();
    else if (request.url === '/dense') pour(response, '[', 30, '{}]', '{},{},{},{},{}, ');
    else if (request.url === '/action') pour(response, '{"text":"', 60, '"}');
    else pour(response, '{"data":{"large_answer":"', 200, '"}}');
  };
}

/** Sends an event of 60 MB to each subscription over a WebSocket at `/socket`, in fragments. */
function pushLargely(server: Server): void {
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'graphql-transport-ws' });
  server.on('upgrade', (request, connection, head) => {
    if (request.url !== '/socket')
      return connection.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    sockets.handleUpgrade(request, connection, head, (socket) => {
      socket.on('error', () => {});
      socket.on('message', async (data) => {
        const { type, id } = JSON.parse(String(data)) as { readonly type: string; readonly id: string };
        if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
        if (type !== 'subscribe') return;
        const send = (part: string, fin: boolean) =>
          new Promise((resolve) => socket.send(part, { fin }, resolve));
        await send(`{"id":"${id}","type":"next","payload":{"data":{"socket_event":"`, false);
        const chunk = 'a'.repeat(MIB);
        for (let i = 0; i < EVENT_MIB && socket.readyState === socket.OPEN; i++) await send(chunk, false);
        if (socket.readyState === socket.OPEN) await send('"}}}', true);
      });
    });
  });
}

function pour(response: ServerResponse, start: string, mib: number, end: string, filler = 'a'): void {
  const chunk = filler.repeat(MIB / filler.length);
  const chunks = function* () {
    yield start;
    for (let i = 0; i < mib; i++) yield chunk;
    yield end;
  };
  pipeline(Readable.from(chunks()), response, () => {});
}

async function replaceMetadata(
  engineUrl: string,
  { quick, silent, large }: Readonly<Record<'quick' | 'silent' | 'large', string>>,
): Promise<void> {
  const trigger = (name: string, webhook: string) => ({
    name,
    definition: { insert: { columns: '*' } },
    webhook,
    retry_conf: { num_retries: 5, interval_sec: 1, timeout_sec: 60 },
  });
  const metadata = {
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        configuration: { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } },
        tables: [
          { table: table('item'), select_permissions: [READABLE] },
          {
            table: table('part'),
            array_relationships: [
              { name: 'same_kind', using: { manual_configuration: manual('part', 'kind') } },
            ],
            select_permissions: [READABLE],
          },
          { table: table('large'), select_permissions: [READABLE] },
          {
            table: table('owner'),
            array_relationships: [
              {
                name: 'belongings',
                using: { foreign_key_constraint_on: { table: table('belonging'), column: 'owner_id' } },
              },
            ],
            select_permissions: [READABLE],
            insert_permissions: [INSERTABLE],
          },
          {
            table: table(tableName(0)),
            object_relationships: [
              { name: 'before', using: { manual_configuration: toItself('before_id', 'id') } },
            ],
            array_relationships: [
              { name: 'after', using: { manual_configuration: toItself('id', 'before_id') } },
            ],
            select_permissions: [READABLE],
            insert_permissions: [INSERTABLE],
            update_permissions: [UPDATABLE],
          },
          { table: table('belonging'), select_permissions: [READABLE], insert_permissions: [INSERTABLE] },
          { table: table('waiting_job'), event_triggers: [trigger('waiting', silent)] },
          { table: table('quick_job'), event_triggers: [trigger('quick', quick)] },
          { table: table('addressed_job') },
          { table: table('answered_job'), event_triggers: [trigger('answered', `${large}/event`)] },
        ],
        functions: [{ function: table('slow_item') }],
      },
    ],
    ...LARGE_ENDPOINT,
    actions: [
      {
        name: 'large_action',
        definition: { type: 'query', handler: `${large}/action`, output_type: 'LargeText' },
      },
      {
        name: 'dense_action',
        definition: { type: 'query', handler: `${large}/dense`, output_type: '[LargeText]' },
      },
    ],
    custom_types: { objects: [{ name: 'LargeText', fields: [{ name: 'text', type: 'String' }] }] },
    remote_schemas: [
      { name: 'large', definition: { url: `${large}/graphql`, timeout_seconds: 30 } },
      { name: 'socket', definition: { url: `${large}/socket`, timeout_seconds: 30 } },
    ],
  };
  const response = await fetch(`${engineUrl}/v1/metadata`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ type: 'replace_metadata', args: metadata }),
  });
  if (!response.ok) throw new Error(`replace_metadata: ${await response.text()}`);
}

async function listen(answer: Parameters<typeof createServer>[1]): Promise<Server> {
  const server = createServer(answer as never).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The operations of a soak: queries whose texts differ, mutations, live queries, introspection, and changes of metadata and schema.
 *  In: an engine, and the number of the operation. Out: nothing; an operation fails with the error of the engine.
 *  Not here: how many, for how long, and the memory of the engine meanwhile (.ci/soak.ts). */
import { on, once } from 'node:events';
import { getIntrospectionQuery } from 'graphql';
import WebSocket from 'ws';

export type Subject = { readonly url: string; readonly adminSecret: string };
type Operation = (subject: Subject, n: number) => Promise<void>;

/** The tables of the soak: two that requests use, and ten that are tracked, changed and untracked meanwhile. */
const SCHEMA = `
  create table owner (id int primary key, name text not null);
  create table item (id serial primary key, title text not null, owner_id int references owner, amount numeric default 1);
  insert into owner select i, 'owner ' || i from generate_series(1, 100) i;
  insert into item (title, owner_id) select 'item ' || i, i % 100 + 1 from generate_series(1, 2000) i;
  ${Array.from({ length: 10 }, (_, i) => `create table extra_${i} (id int primary key, note text);`).join('\n')}`;

const ROLE = 'user';
const table = (name: string) => ({ source: 'default', table: { schema: 'public', name } });
const permission = { role: ROLE, permission: { columns: '*', filter: {}, allow_aggregations: true } };

/** Creates the tables of the soak and tracks those that requests use. */
export async function prepare(subject: Subject): Promise<void> {
  await admin(subject, 'run_sql', { source: 'default', sql: SCHEMA });
  for (const name of ['owner', 'item']) {
    await admin(subject, 'pg_track_table', table(name));
    await admin(subject, 'pg_create_select_permission', { ...table(name), ...permission });
  }
  const using = { foreign_key_constraint_on: 'owner_id' };
  await admin(subject, 'pg_create_object_relationship', { ...table('item'), name: 'owner', using });
}

/** Runs the operation with a number. Of 100 operations, 84 are queries, and four change metadata or the schema. */
export async function perform(subject: Subject, n: number): Promise<void> {
  await OPERATIONS.find(({ below }) => n % 100 < below)!.run(subject, n);
}

const OPERATIONS: readonly { readonly below: number; readonly run: Operation }[] = [
  { below: 50, run: differentText },
  { below: 84, run: sameText },
  { below: 89, run: insertItem },
  { below: 94, run: liveQuery },
  { below: 96, run: introspect },
  { below: 98, run: trackAndUntrack },
  { below: 99, run: changeColumns },
  { below: 100, run: changePermission },
];

async function differentText(subject: Subject, n: number): Promise<void> {
  const where = `{title: {_ilike: "%${n % 97}%"}, id: {_gt: ${n % 1000}}}`;
  await graphql(subject, {
    query: `query Q${n} { item(where: ${where}, order_by: {id: desc}, limit: ${(n % 50) + 1}) { a${n}: title owner { name } } }`,
  });
}

async function sameText(subject: Subject, n: number): Promise<void> {
  const query =
    'query ($id: Int!) { item(where: {owner_id: {_eq: $id}}) { id title amount owner { name } } }';
  await graphql(subject, { query, variables: { id: n % 100 } });
}

async function insertItem(subject: Subject, n: number): Promise<void> {
  const query = 'mutation ($id: Int!) { insert_item_one(object: {title: "new", owner_id: $id}) { id } }';
  await graphql(subject, { query, variables: { id: (n % 100) + 1 } }, 'admin');
  if (n % 1000 >= 900)
    await admin(subject, 'run_sql', { source: 'default', sql: "delete from item where title = 'new'" });
}

async function introspect(subject: Subject, n: number): Promise<void> {
  await graphql(subject, { query: getIntrospectionQuery() }, n % 2 === 0 ? 'admin' : ROLE);
}

async function trackAndUntrack(subject: Subject, n: number): Promise<void> {
  const name = `extra_${n % 10}`;
  await admin(subject, 'pg_track_table', table(name));
  await admin(subject, 'pg_untrack_table', { ...table(name), cascade: true });
}

async function changeColumns(subject: Subject, n: number): Promise<void> {
  const sql = `alter table owner add column c${n} text; alter table owner drop column c${n};`;
  await admin(subject, 'run_sql', { source: 'default', sql });
}

async function changePermission(subject: Subject, n: number): Promise<void> {
  const role = `role_${n % 7}`;
  await admin(subject, 'pg_create_select_permission', { ...table('item'), ...permission, role });
  await graphql(subject, { query: `{ item(limit: 1) { r${n}: id } }` }, role);
  await admin(subject, 'pg_drop_select_permission', { ...table('item'), role });
}

/** Opens a connection, waits for the first result of a live query, and closes it. */
async function liveQuery({ url, adminSecret }: Subject, n: number): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/graphql`, 'graphql-transport-ws');
  const send = (message: unknown) => socket.send(JSON.stringify(message));
  try {
    await once(socket, 'open');
    send({ type: 'connection_init', payload: { headers: headersOf(adminSecret, ROLE) } });
    await answer(socket, 'connection_ack');
    const query = `subscription { item(where: {id: {_lt: ${(n % 300) + 1}}}, limit: 5) { s${n}: id title } }`;
    send({ id: '1', type: 'subscribe', payload: { query } });
    await answer(socket, 'next');
  } finally {
    socket.close();
  }
}

/** Resolves at the first message that is no ping. It must be of the type and without errors. */
async function answer(socket: WebSocket, type: string): Promise<void> {
  for await (const [data] of on(socket, 'message')) {
    const message = JSON.parse(String(data));
    if (message.type === 'ping') continue;
    if (message.type === type && !message.payload?.errors) return;
    throw new Error(`live query: ${String(data).slice(0, 300)}`);
  }
}

function headersOf(adminSecret: string, role: string): Record<string, string> {
  return { 'x-engine-admin-secret': adminSecret, 'x-engine-role': role, 'x-engine-user-id': '1' };
}

async function graphql(subject: Subject, body: unknown, role: string = ROLE): Promise<void> {
  await post(subject, '/v1/graphql', body, role);
}

async function admin(subject: Subject, type: string, args: unknown): Promise<void> {
  await post(subject, type === 'run_sql' ? '/v2/query' : '/v1/metadata', { type, args }, 'admin');
}

async function post({ url, adminSecret }: Subject, path: string, body: unknown, role: string): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...headersOf(adminSecret, role), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok || text.startsWith('{"errors"')) throw new Error(`${path}: ${text.slice(0, 300)}`);
}

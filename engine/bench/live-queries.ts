/** What live queries of many users cost: CPU of the engine and of Postgres for a round of 1,000 subscriptions that differ in a
 *  variable, asked one by one and together (subscribe/multiplexer.ts). Nothing changes meanwhile, so asking is all there is.
 *  In: nothing; an embedded Postgres with 100,000 rows. Out: a table. `node engine/bench/live-queries.ts`, on Linux. */
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../bin/embedded-postgres.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';

const SUBSCRIPTIONS = 1000;
const PER_SOCKET = 100;
const SECONDS = 10;
const TICKS_PER_SECOND = 100;
const SCHEMA = `
  create table note (id int primary key, owner int not null, body text not null);
  create table comment (id int primary key, note_id int not null references note, body text not null);
  insert into note select i, i % 10000, 'note ' || i from generate_series(1, 100000) i;
  insert into comment select i, 1 + i % 100000, 'comment ' || i from generate_series(1, 200000) i;
  create index on note (owner);
  create index on comment (note_id);
  analyze`;
const QUERIES = {
  'a row by its key': '{ note_by_pk(id: $of) { id body } }',
  'ten rows of a user': '{ note(where: {owner: {_eq: $of}}, order_by: {id: asc}) { id body } }',
  'ten rows, with their comments': `{ note(where: {owner: {_eq: $of}}, order_by: {id: asc}) {
    id body comments { id body } comments_aggregate { aggregate { count } } } }`,
};

const folder = mkdtempSync(join(tmpdir(), 'pergola-bench-'));
chmodSync(folder, 0o755);
const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), isDurable: false });
try {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(SCHEMA);
  await client.end();
  console.log(`CPU in ms a round of ${SUBSCRIPTIONS}             engine  Postgres`);
  for (const batchSize of [1, 100, 1, 100]) await measure(batchSize);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(batchSize: number): Promise<void> {
  const engine = await startTestEngine({
    databaseUrl: postgres.url,
    liveQueriesMultiplexedBatchSize: batchSize,
  });
  await engine.admin('replace_metadata', metadata());
  for (const [name, query] of Object.entries(QUERIES)) {
    const sockets = await Promise.all(
      Array.from({ length: SUBSCRIPTIONS / PER_SOCKET }, (_, i) =>
        subscribers(engine, query, i * PER_SOCKET),
      ),
    );
    await sleep(3000);
    const before = { engine: engineMs(), postgres: postgresMs() };
    await sleep(SECONDS * 1000);
    const took = [engineMs() - before.engine, postgresMs() - before.postgres];
    const how = batchSize === 1 ? 'one by one' : 'together  ';
    const columns = took.map((ms) => (ms / SECONDS).toFixed(1).padStart(9));
    console.log(`${name.padEnd(30)} ${how} ${columns.join('')}`);
    for (const { socket } of sockets) socket.terminate();
  }
  await engine.close();
}

async function subscribers(engine: TestEngine, query: string, first: number) {
  const socket = await openSocket(engine.url, 'graphql-transport-ws');
  socket.send({
    type: 'connection_init',
    payload: { headers: { 'x-engine-admin-secret': engine.adminSecret } },
  });
  await socket.next();
  for (let i = first; i < first + PER_SOCKET; i++) {
    const payload = { query: `subscription ($of: Int!) ${query}`, variables: { of: i } };
    socket.send({ type: 'subscribe', id: String(i), payload });
  }
  return socket;
}

function metadata(): object {
  const comments = { foreign_key_constraint_on: { table: 'comment', column: 'note_id' } };
  const tables = [
    { table: 'note', array_relationships: [{ name: 'comments', using: comments }] },
    { table: 'comment' },
  ];
  const configuration = { connection_info: { database_url: postgres.url } };
  return { version: 3, sources: [{ name: 'default', kind: 'postgres', tables, configuration }] };
}

/** The sockets' other ends are in this process, too, but nothing is sent. */
function engineMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Returns the CPU time of the server's processes. proc(5), /proc/pid/stat: fields 4 (parent), 14 and 15 (ticks). */
function postgresMs(): number {
  const server = readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8').split('\n', 1)[0]!;
  const ticks = globSync('/proc/[0-9]*/stat').map((file) => {
    const text = readOrEmpty(file);
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[1] === server ? Number(fields[11]) + Number(fields[12]) : 0;
  });
  return (ticks.reduce((sum, each) => sum + each, 0) * 1000) / TICKS_PER_SECOND;
}

/** Returns the content of a process's file, or an empty text if the process has ended. */
function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

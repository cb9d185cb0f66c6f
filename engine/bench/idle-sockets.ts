/** The cost of WebSockets that wait for changes: CPU of an engine while nothing changes, with keep-alive messages and without them, and
 *  its memory for a socket. Each socket has a live query with a value of its own; half of them use each protocol.
 *  In: the number of sockets (1,000), and the folder of another checkout to compare with, whose engines run at the same time. Out: a
 *  table. `node engine/bench/idle-sockets.ts [SOCKETS] [FOLDER]`, with `ulimit -n` above the number of all sockets. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { WebSocket } from 'ws';
import { startEmbeddedPostgres } from '../../bin/embedded-postgres.ts';
import { type EngineApart, startEngineApart } from '../../testing/engine-apart.ts';

const SECONDS = 20;
const SETTLE_SECONDS = 6;
const AT_ONCE = 50;
const QUERY = 'subscription ($id: Int!) { note_by_pk(id: $id) { id body } }';

if (process.argv[2] === 'clients')
  await openClients(process.argv[3]!, process.argv[4]!, Number(process.argv[5]));
else await compare(Number(process.argv[2] ?? 1000), ['.', ...process.argv.slice(3)]);

type Loaded = { readonly name: string; readonly engine: EngineApart; readonly clients: ChildProcess };

async function compare(sockets: number, checkouts: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-bench-'));
  chmodSync(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
  const loaded: Loaded[] = [];
  try {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(`create table note (id int primary key, body text not null);
      insert into note select i, 'note ' || i from generate_series(0, ${sockets}) i`);
    await client.end();
    for (const checkout of checkouts) {
      for (const seconds of [5, 86_400]) loaded.push(await load(postgres.url, sockets, checkout, seconds));
    }
    await sleep(SETTLE_SECONDS * 1000);
    const before = await Promise.all(loaded.map(({ engine }) => engine.usage()));
    await sleep(SECONDS * 1000);
    const after = await Promise.all(loaded.map(({ engine }) => engine.usage()));
    for (const [i, { name }] of loaded.entries()) {
      const percent = (after[i]!.microseconds - before[i]!.microseconds) / SECONDS / 10_000;
      console.log(`${name.padEnd(50)} ${percent.toFixed(2).padStart(6)} % of a core`);
    }
  } finally {
    for (const { engine, clients } of loaded) {
      clients.kill();
      engine.close();
    }
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function load(
  databaseUrl: string,
  sockets: number,
  checkout: string,
  keepalive: number,
): Promise<Loaded> {
  const flags = ['--websocket-keepalive', String(keepalive)];
  const engine = await startEngineApart(databaseUrl, { flags, checkout });
  await fetch(`${engine.url}/v1/metadata`, {
    method: 'POST',
    headers: { 'x-engine-admin-secret': engine.adminSecret },
    body: JSON.stringify({ type: 'pg_track_table', args: { table: 'note' } }),
  });
  const empty = await engine.usage();
  const clients = fork(import.meta.filename, ['clients', engine.url, engine.adminSecret, String(sockets)]);
  await once(clients, 'message');
  const full = await engine.usage();
  const name = `${checkout}, keep-alive every ${keepalive} s`;
  console.log(
    `${name.padEnd(50)} ${((full.bytes - empty.bytes) / sockets / 1000).toFixed(1).padStart(6)} kB a socket`,
  );
  return { name, engine, clients };
}

/** Opens sockets, and reports to the parent process once each has its first result. */
async function openClients(url: string, secret: string, sockets: number): Promise<void> {
  for (let first = 0; first < sockets; first += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, sockets - first) }, (_, i) => first + i);
    await Promise.all(numbers.map((number) => openClient(url, secret, number)));
  }
  process.send!('open');
}

function openClient(url: string, secret: string, number: number): Promise<void> {
  const isOlder = number % 2 === 0;
  const socket = new WebSocket(
    `${url.replace('http', 'ws')}/v1/graphql`,
    isOlder ? 'graphql-ws' : 'graphql-transport-ws',
    { perMessageDeflate: false },
  );
  const send = (message: object) => socket.send(JSON.stringify(message));
  const variables = { id: number };
  socket.on('open', () =>
    send({ type: 'connection_init', payload: { headers: { 'x-engine-admin-secret': secret } } }),
  );
  socket.on('close', (code) => console.error(`socket ${number} was closed with ${code}`));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data)) as { type: string };
      if (type === 'connection_ack') {
        send({ type: isOlder ? 'start' : 'subscribe', id: '1', payload: { query: QUERY, variables } });
      } else if (type === 'ping') send({ type: 'pong' });
      else if (type === 'data' || type === 'next') resolve();
    });
  });
}

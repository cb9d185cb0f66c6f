/** The attacks an engine must survive, as an ordered table: each occupies resources that any client can occupy, and holds them.
 *  In: the engine's URL. Out: a function that ends the attack. Runs in a process of its own (attacker.ts).
 *  Not here: the engine, the probes and the judgement (run.ts). */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { giveAddresses, OUTSIDE, operate } from './addresses.ts';
import { LARGE_BODIES, MOST_BYTES } from './large-bodies.ts';
import { ADMIN_SECRET, connectionsFile } from './limited-engine.ts';
import type { World } from './world.ts';

/** Ends an attack and closes what it holds. */
export type End = () => void;

export type Attack = {
  readonly name: string;
  /** How long the attack is held while the engine is probed, in seconds. */
  readonly heldSeconds: number;
  readonly launch: (url: URL) => Promise<End>;
  /** Runs while the attack is held, beside the probes. Returns what is wrong. */
  readonly verify?: (world: World) => Promise<readonly string[]>;
};

const MIB = 2 ** 20;
const BODY_BYTES = 100 * MIB;
const CHUNK = Buffer.alloc(64 * 1024, 'a');
/** A subscription to rows of `item`; each result is about 100 kB. */
const LIST = 'subscription ($least: Int) { item(where: {id: {_gte: $least}}, limit: 100) { id body } }';
/** The pause between an answer and the next request. */
const AGAIN_MS = 500;
/** The default time limit of statements. */
const LONGEST_SECONDS = 62;
/** A quick event is delivered within this time, whatever another trigger's webhook does. */
const QUICK_MS = 3_000;
/** Each row has 82 rows of its kind, three times over. */
const THERE_AND_BACK = '{ part { same_kind { same_kind { body } } } }';
const LARGE = '{ large { body } }';
const SLOW = '{ slow_item { id } }';

export const ATTACKS: readonly Attack[] = [
  { name: '10,000 idle sockets', heldSeconds: 5, launch: (url) => idleSockets(url, 10_000) },
  { name: '2,000 sockets that send a byte a second', heldSeconds: 5, launch: (url) => dribble(url, 2_000) },
  {
    name: '64 bodies of 100 MiB with a wrong secret',
    heldSeconds: 5,
    launch: (url) => bodies(url, 64, ['x-engine-admin-secret: wrong']),
  },
  { name: '64 bodies of 100 MiB without credentials', heldSeconds: 5, launch: (url) => bodies(url, 64, []) },
  {
    name: '64 chunked bodies without end',
    heldSeconds: 5,
    launch: (url) => bodies(url, 64, ['transfer-encoding: chunked']),
  },
  { name: '64 WebSocket frames of 100 MiB before init', heldSeconds: 5, launch: (url) => frames(url, 64) },
  {
    name: '100 slow readers, each with as many subscriptions as it gets',
    heldSeconds: 12,
    launch: (url) => subscribers(url, { sockets: 100, each: 100, isReading: false }),
  },
  {
    name: '1,000 subscriptions on one socket that reads nothing',
    heldSeconds: 12,
    launch: (url) => subscribers(url, { sockets: 1, each: 1_000, isReading: false }),
  },
  {
    name: '1,000 subscriptions on one socket that reads',
    heldSeconds: 8,
    launch: (url) => subscribers(url, { sockets: 1, each: 1_000, isReading: true }),
  },
  {
    name: '400 clients that hang up on slow statements',
    heldSeconds: 6,
    launch: (url) => hangUps(url, 400),
    verify: noStatementGoesOn,
  },
  {
    name: '4 queries of 60 bytes with answers of 330 MB',
    heldSeconds: 10,
    launch: (url) => queries(url, 4, THERE_AND_BACK),
    verify: noStatementGoesOnLong,
  },
  {
    name: '12 clients that do not read answers of 25 MB',
    heldSeconds: 10,
    launch: (url) => queries(url, 12, LARGE, false),
  },
  {
    name: '8 batches of 50 answers of 25 MB',
    heldSeconds: 8,
    launch: (url) =>
      queries(
        url,
        8,
        Array.from({ length: 50 }, () => LARGE),
      ),
  },
  {
    name: 'nested inserts of 10,000 rows with two related rows each, and of 2,000',
    heldSeconds: 10,
    launch: nestedInserts,
  },
  {
    name: '3,000 events for a webhook that never answers',
    heldSeconds: 6,
    launch: async () => () => {},
    verify: quickEventsAreDelivered,
  },
  {
    name: '60 events whose webhook answers with 60 MB of gzip',
    heldSeconds: 3,
    launch: async () => () => {},
    verify: largelyAnsweredEventsAreDelivered,
  },
  {
    name: '16 calls of an action that answers with 60 MB, 8 at a time',
    heldSeconds: 3,
    launch: async () => () => {},
    verify: (world) => answersAreRefused(world, '{ large_action { text } }', 8),
  },
  {
    name: '16 calls of an action that answers with 10 million objects, 8 at a time',
    heldSeconds: 3,
    launch: async () => () => {},
    verify: (world) => answersAreRefused(world, '{ dense_action { text } }', 8),
  },
  {
    name: 'answers of 200 MB of a remote schema, 4 at a time',
    heldSeconds: 3,
    launch: async () => () => {},
    verify: (world) => answersAreRefused(world, '{ large_answer }', 4),
  },
  {
    name: 'short requests that stand for long work, from 8 clients',
    heldSeconds: 8,
    launch: (url) =>
      repeatedly(
        url,
        8,
        AMPLIFIERS.map((body) => ({ path: '/v1/graphql', contentType: 'application/json', body })),
      ),
  },
  {
    name: 'bodies of 4 MB, of each kind, from 2 clients',
    heldSeconds: 15,
    launch: (url) =>
      repeatedly(
        url,
        2,
        LARGE_BODIES.map(({ bodyOf, ...rest }) => ({ ...rest, body: bodyOf(MOST_BYTES) })),
      ),
  },
  {
    name: 'events of 60 MB and of lines without end of remote schemas, 18 subscriptions',
    heldSeconds: 12,
    launch: (url) => remoteSubscriptions(url, 6, ['large_event', 'many_lines', 'socket_event']),
  },
  {
    name: 'dry runs of migrations of 1 MB, of short statements and texts without an end',
    heldSeconds: 6,
    launch: async (url) => longMigrations(url),
  },
  {
    name: 'migrations that hide the end of their transaction',
    heldSeconds: 1,
    launch: hiddenCommits,
    verify: nothingIsCommitted,
  },
  {
    name: 'addresses of metadata services for engines and the operator, also by changing names and redirects',
    heldSeconds: 2,
    launch: async () => () => {},
    verify: nothingIsConnected,
  },
];

const manyTimes = (count: number, of: (i: number) => string, separator = ' ') =>
  Array.from({ length: count }, (_, i) => of(i)).join(separator);
const listOf = (count: number, of: (i: number) => unknown) => Array.from({ length: count }, (_, i) => of(i));
const WHOLE_TYPES = 'types { fields { name args { name type { name } } type { name ofType { name } } } }';

/** Introspection by aliases, by fragments that spread each other twice, and by batches. */
const AMPLIFIERS: readonly string[] = [
  JSON.stringify({ query: `{ __schema { ${manyTimes(60, (i) => `a${i}: ${WHOLE_TYPES}`)} } }` }),
  JSON.stringify({ query: `{ ${manyTimes(10, (i) => `a${i}: __schema { ${WHOLE_TYPES} }`)} }` }),
  JSON.stringify({
    query: `{ ...f0 } ${manyTimes(40, (i) => `fragment f${i} on query_root { ...f${i + 1} a${i}: __schema { ${WHOLE_TYPES} } }`)} fragment f40 on query_root { __typename }`,
  }),
  JSON.stringify(listOf(2_000, (i) => ({ query: `{ __type(name: "t${i}") { name } }` }))),
  JSON.stringify(listOf(1_000, (i) => ({ query: `{ __type(name: "t${i}") { name } }` }))),
  JSON.stringify({ query: `{ ${manyTimes(4_000, (i) => `a${i}: item(limit: 1) { id }`)} }` }),
];

/** Sends the bodies in turn from each client, the next when the one before is answered. */
async function repeatedly(
  url: URL,
  clients: number,
  requests: readonly { readonly path: string; readonly contentType: string; readonly body: string }[],
): Promise<End> {
  const abort = new AbortController();
  const { signal } = abort;
  const client = async (first: number) => {
    for (let i = first; !signal.aborted; i++) {
      const { path, contentType, body } = requests[i % requests.length]!;
      const headers = { 'content-type': contentType };
      await fetch(new URL(path, url), { method: 'POST', headers, body, signal })
        .then((response) => response.arrayBuffer())
        .catch(() => {});
    }
  };
  for (let i = 0; i < clients; i++) void client(Math.floor((i * requests.length) / clients));
  return () => abort.abort();
}

/** Opens sockets that send nothing; half of them become WebSockets first. */
async function idleSockets(url: URL, count: number): Promise<End> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = open(url);
    sockets.push(socket);
    if (i % 2 === 1) socket.write(upgrade(url));
    if (i % 200 === 199) await sleep(20);
  }
  return () => endAll(sockets);
}

/** Sends headers, and then bodies, at one byte a second. */
async function dribble(url: URL, count: number): Promise<End> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = open(url);
    sockets.push(socket);
    socket.write(i % 2 === 0 ? 'POST /v1/graphql HTTP/1.1\r\n' : post(url, ['content-length: 1000']));
    if (i % 200 === 199) await sleep(20);
  }
  const drip = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write('x');
  }, 1000);
  return () => {
    clearInterval(drip);
    endAll(sockets);
  };
}

async function bodies(url: URL, count: number, headers: readonly string[]): Promise<End> {
  const isChunked = headers.some((header) => header.startsWith('transfer-encoding'));
  const length = isChunked ? [] : [`content-length: ${BODY_BYTES}`];
  return stream(url, count, post(url, [...headers, ...length]), (socket) => {
    const chunk = Buffer.concat([
      Buffer.from(`${CHUNK.length.toString(16)}\r\n`),
      CHUNK,
      Buffer.from('\r\n'),
    ]);
    return pour(socket, isChunked ? chunk : CHUNK, BODY_BYTES);
  });
}

/** Sends a masked text frame whose header announces 100 MiB, and its body. */
async function frames(url: URL, count: number): Promise<End> {
  const header = Buffer.alloc(14);
  header.set([0x81, 0xff]);
  header.writeBigUInt64BE(BigInt(BODY_BYTES), 2);
  return stream(url, count, upgrade(url), async (socket) => {
    await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => {});
    socket.write(header);
    await pour(socket, CHUNK, BODY_BYTES);
  });
}

async function stream(
  url: URL,
  count: number,
  head: string,
  body: (socket: Socket) => Promise<void>,
): Promise<End> {
  const sockets = Array.from({ length: count }, () => open(url));
  for (const socket of sockets) {
    socket.write(head);
    void body(socket);
  }
  return () => endAll(sockets);
}

/** Writes as fast as the other side reads, until `bytes` are written or the socket is closed. */
async function pour(socket: Socket, chunk: Buffer, bytes: number): Promise<void> {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  for (let sent = 0; sent < bytes && socket.writable; sent += chunk.length) {
    if (socket.write(chunk)) continue;
    await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
}

/** Opens subscriptions with a different variable each, so that no two share a result. */
async function subscribers(
  url: URL,
  { sockets: count, each, isReading }: { sockets: number; each: number; isReading: boolean },
): Promise<End> {
  const sockets: WebSocket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = new WebSocket(`ws://${url.host}/v1/graphql`, 'graphql-transport-ws');
    socket.on('error', () => {});
    socket.on('message', () => {});
    sockets.push(socket);
    socket.once('open', () => {
      socket.send('{"type":"connection_init"}');
      for (let j = 0; j < each; j++) {
        const payload = { query: LIST, variables: { least: (i * each + j) % 300 } };
        socket.send(JSON.stringify({ id: String(j), type: 'subscribe', payload }));
      }
      if (!isReading) socket.pause();
    });
    if (i % 10 === 9) await sleep(10);
  }
  await sleep(500);
  return () => {
    for (const socket of sockets) socket.terminate();
  };
}

/** Subscribes to each field of a remote schema over many sockets, again after the end. */
async function remoteSubscriptions(url: URL, each: number, fields: readonly string[]): Promise<End> {
  const headers = { 'x-engine-admin-secret': ADMIN_SECRET };
  const sockets = fields.flatMap((field) =>
    Array.from({ length: each }, () => {
      const socket = new WebSocket(`ws://${url.host}/v1/graphql`, 'graphql-transport-ws', { headers });
      let id = 0;
      const subscribe = () => {
        const payload = { query: `subscription { ${field} }` };
        if (socket.readyState === socket.OPEN)
          socket.send(JSON.stringify({ id: String(id++), type: 'subscribe', payload }));
      };
      socket.on('error', () => {});
      socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { headers } })));
      socket.on('message', (data: Buffer) => {
        const start = data.toString('latin1', 0, 100);
        if (start.includes('connection_ack')) subscribe();
        else if (/"type":"(error|complete)"/.test(start)) setTimeout(subscribe, AGAIN_MS);
      });
      return socket;
    }),
  );
  await sleep(500);
  return () => {
    for (const socket of sockets) socket.terminate();
  };
}

/** Sends slow statements from many clients and disconnects them a little later. */
async function hangUps(url: URL, count: number): Promise<End> {
  const body = JSON.stringify({ query: SLOW });
  for (let i = 0; i < count; i++) {
    const socket = open(url);
    socket.write(post(url, [`content-length: ${body.length}`]) + body);
    setTimeout(() => socket.destroy(), 100 + (i % 10) * 50);
    if (i % 50 === 49) await sleep(50);
  }
  return () => {};
}

/** Sends a request with one or several queries from many clients, again and again. */
async function queries(
  url: URL,
  count: number,
  query: string | readonly string[],
  isReading = true,
): Promise<End> {
  const one = (text: string) => ({ query: text });
  const body = JSON.stringify(typeof query === 'string' ? one(query) : query.map(one));
  return requests(
    url,
    Array.from({ length: count }, () => body),
    isReading,
  );
}

async function nestedInserts(url: URL): Promise<End> {
  const query =
    'mutation ($objects: [owner_insert_input!]!) { insert_owner(objects: $objects) { affected_rows } }';
  const body = (count: number) => {
    const objects = Array.from({ length: count }, () => ({ name: 'a', belongings: { data: [{}, {}] } }));
    return JSON.stringify({ query, variables: { objects } });
  };
  return requests(url, [10_000, 2_000].map(body), true);
}

/** Sends a request over each connection, and the same again after its answer. Without reading, the answers wait in the engine. */
function requests(url: URL, bodies: readonly string[], isReading: boolean): End {
  const sockets = bodies.map((body) => {
    const socket = open(url);
    const send = () =>
      socket.writable && socket.write(post(url, [`content-length: ${Buffer.byteLength(body)}`]) + body);
    send();
    if (!isReading) return socket.pause();
    let left = 0;
    return socket.on('data', (piece: Buffer) => {
      const [, length] =
        left === 0 ? (/content-length: (\d+)/i.exec(piece.toString('latin1', 0, 2000)) ?? []) : [];
      if (length !== undefined) left = Number(length) + piece.indexOf('\r\n\r\n') + 4;
      left = Math.max(0, left - piece.length);
      if (left === 0) setTimeout(send, AGAIN_MS);
    });
  });
  return () => endAll(sockets);
}

const LONG_TEXTS = ['a;\n', "'", "e'\\'", '/*', '$a', "insert into t values (1, 'a');\n", '(', 'create '].map(
  (part) => part.repeat(MIB / part.length),
);

/** Sends dry runs one after the other, two at a time. */
function longMigrations(url: URL): End {
  let isEnded = false;
  const send = async (first: number) => {
    for (let i = first; !isEnded; i++) {
      await migrate(url, LONG_TEXTS[i % LONG_TEXTS.length]!, true).catch(() => sleep(100));
    }
  };
  void send(0);
  void send(LONG_TEXTS.length / 2);
  return () => {
    isEnded = true;
  };
}

/** Texts that contain a commit between a new table and an error. */
const HIDDEN_COMMITS: readonly string[] = [
  '--\rcommit',
  'select 1 --\r; commit; --',
  'select 1 /**/ -- /*\r; commit; select 1 --',
  '/**/commit--\r and chain',
  "prepare/**/transaction 'x'",
  'create domain atomic as int; create table begin_atomic (begin atomic); commit; end',
  'create view begin_atomic_view as select begin atomic from (select 1 as begin) x; commit; end',
  'create function f() returns int begin/**/atomic select 1 as end; end; commit',
  "select e'a'\n'\\'; commit; --'",
  "set standard_conforming_strings = off; select '\\'; commit; --'",
  'do $$ begin commit; end $$',
];

async function hiddenCommits(url: URL): Promise<End> {
  for (const [i, text] of HIDDEN_COMMITS.entries()) {
    const answer = await migrate(url, `create table escaped_${i} (id int);\n${text};\nselect 1/0`, false);
    if (!/"state":"(failed|refused)"/.test(answer)) throw new Error(`${text}: ${answer}`);
  }
  return () => {};
}

async function nothingIsCommitted({ database }: World): Promise<readonly string[]> {
  const { rows } = await database.query(
    "select relname from pg_class where relname ~ '^(escaped|begin_atomic)'",
  );
  return rows.map(({ relname }) => `${relname} was committed by a migration that failed`);
}

/** Gives addresses to the engine, to other engines and to the operator. Returns what is wrong, and every connection that left the machine, but for
 *  those to the first address of the changing host. */
async function nothingIsConnected({ database, url }: World): Promise<readonly string[]> {
  const databaseUrl = `postgres://${database.user}:${database.password}@${database.host}:${database.port}/${database.database}`;
  const file = connectionsFile(databaseUrl);
  const ofEngine = await giveAddresses(new URL(url));
  const others = fork(new URL('process-addresses.ts', import.meta.url), {
    execArgv: ['--import', new URL('network.mjs', import.meta.url).href],
    env: {
      ...process.env,
      ENGINE_GRAPHQL_DATABASE_URL: databaseUrl,
      ENGINE_GRAPHQL_ADMIN_SECRET: ADMIN_SECRET,
      PERGOLA_TEST_CONNECTIONS: file,
    },
  });
  const [ofOthers] = await Promise.race([
    once(others, 'message'),
    once(others, 'exit').then(() => [['giving addresses has failed']]),
  ]);
  const addresses = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  if (!addresses.includes(OUTSIDE)) return ['connections are not recorded'];
  const outside = new Set(addresses.filter((address) => address !== OUTSIDE));
  return [...ofEngine, ...ofOthers, ...[...outside].map((address) => `the machine connected to ${address}`)];
}

async function migrate(url: URL, sql: string, isDryRun: boolean): Promise<string> {
  const args = { source: 'default', migrations: [{ name: '1_a.sql', sql }], dry_run: isDryRun };
  return operate(url, 'apply_migrations', args);
}

function open(url: URL): Socket {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => {});
  return socket;
}

function endAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

function post(url: URL, headers: readonly string[]): string {
  const lines = [
    'POST /v1/graphql HTTP/1.1',
    `host: ${url.host}`,
    'content-type: application/json',
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function upgrade(url: URL): string {
  const lines = [
    'GET /v1/graphql HTTP/1.1',
    `host: ${url.host}`,
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-protocol: graphql-transport-ws',
    `sec-websocket-key: ${Buffer.alloc(16, 'k').toString('base64')}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Returns a problem when a statement of a disconnected client still runs. Clients disconnect after half a second; Postgres gets three more. */
async function noStatementGoesOn({ database }: World): Promise<readonly string[]> {
  await sleep(3_500);
  const { rows } = await database.query<{ count: number }>(
    "select count(*)::int as count from pg_stat_activity where state = 'active' and query like '%slow_item%' and pid <> pg_backend_pid()",
  );
  return rows[0]!.count === 0 ? [] : [`${rows[0]!.count} statements go on after their clients hung up`];
}

/** Returns a problem when a query is still built while its answer has been refused: each ends by itself or is cancelled. */
async function noStatementGoesOnLong({ database }: World): Promise<readonly string[]> {
  const { rows } = await database.query<{ seconds: number }>(
    "select extract(epoch from now() - query_start)::int as seconds from pg_stat_activity where state = 'active' and query like '%same_kind%' and pid <> pg_backend_pid()",
  );
  const longest = Math.max(0, ...rows.map(({ seconds }) => seconds));
  return longest < LONGEST_SECONDS ? [] : [`a statement has run for ${longest} s`];
}

async function quickEventsAreDelivered({ database, delivered }: World): Promise<readonly string[]> {
  const before = delivered();
  await database.query('insert into waiting_job select generate_series(1, 3000)');
  await sleep(2_000);
  const askedAt = performance.now();
  await database.query('insert into quick_job select generate_series(1, 20)');
  while (delivered() < before + 20 && performance.now() - askedAt < QUICK_MS * 2) await sleep(20);
  const took = performance.now() - askedAt;
  if (delivered() < before + 20) return [`${delivered() - before} of 20 quick events were delivered`];
  return took < QUICK_MS ? [] : [`quick events took ${took.toFixed(0)} ms`];
}

/** A long answer of a webhook is cut after its status has been read, so every event is delivered at its first attempt. */
async function largelyAnsweredEventsAreDelivered({ database }: World): Promise<readonly string[]> {
  await database.query('insert into answered_job select generate_series(1, 60)');
  const delivered = async () => {
    const { rows } = await database.query<{ count: number }>(
      "select count(*)::int as count from pergola.event_log where trigger_name = 'answered' and delivered and tries = 1",
    );
    return rows[0]!.count;
  };
  for (let waited = 0; (await delivered()) < 60 && waited < 15_000; waited += 100) await sleep(100);
  const count = await delivered();
  return count === 60 ? [] : [`${count} of 60 events were delivered at the first attempt`];
}

/** Sends a request twice, `atOnce` times together. Each answer is an error, because the answer of the service is too long. */
async function answersAreRefused({ ask }: World, query: string, atOnce: number): Promise<readonly string[]> {
  const problems: string[] = [];
  for (let i = 0; i < 2; i++) {
    const asked = Array.from({ length: atOnce }, () => ask(query));
    for (const answer of await Promise.allSettled(asked)) {
      if (answer.status === 'rejected') problems.push(`no answer: ${answer.reason}`);
      else if (!answer.value.errors) problems.push('a long answer was passed on');
    }
  }
  return problems;
}

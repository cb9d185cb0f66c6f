/** Measures for how long an engine with large metadata (subjects.ts) answers nobody: while a client requests the health check and a row
 *  every few milliseconds, the metadata is replaced and reloaded, roles send their first request and read the whole schema.
 *  Out: for each of these events the longest response to that client, the longest turn of the event loop, in elapsed time and in CPU of
 *  its thread, which other work on the machine does not lengthen, and the CPU of the process; exit 1 when a turn is over the limit.
 *  --profile names a folder for a CPU profile of each event, --out a file for the figures. Not here: the duration of the events themselves (size.ts). */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { getIntrospectionQuery } from 'graphql';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { ANY_PORT, healthyUrl } from '../testing/engine-process.ts';
import { installedBinaries } from './postgis.ts';
import { writeRecord } from './record.ts';
import {
  environmentFor,
  generated,
  huge,
  rolesOf,
  SECRET,
  type Subject,
  withoutPostgis,
} from './subjects.ts';

const { values: options } = parseArgs({
  options: {
    shared: { type: 'string', default: '../shared' },
    tables: { type: 'string', default: '1000' },
    roles: { type: 'string', default: '10' },
    only: { type: 'string' },
    profile: { type: 'string' },
    /** The file for the figures, such as docs/speed/pauses.json. */
    out: { type: 'string' },
  },
});
/** The most CPU of a turn of the event loop. The aim is 50 ms; a machine may be three times as slow as usual. */
const MOST_MS = 150;
const INTERVAL_MS = 5;
/** Before and after each event, for what the engine does after its response. */
const PAUSE_MS = 300;

type Turns = {
  readonly delayMs: number;
  readonly turnCpuMs: number;
  readonly cpuMs: number;
};
/** The longest turn of the event loop during an event, elapsed and in CPU, and the CPU of the process for the event. */
export type Pause = { readonly turnMs: number; readonly turnCpuMs: number; readonly cpuMs: number };
type Measured = {
  readonly url: string;
  /** Returns the longest turns since the previous call, and the CPU of the process. Writes its profile to `profile`. */
  readonly turns: (profile?: string) => Promise<Turns>;
  readonly stop: () => Promise<void>;
};

const FIELDS = '{ __type(name: "query_root") { fields { name args { name } } } }';

/** Runs in the engine: sends the longest turns to the parent process when that asks for them. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  import { writeFileSync } from 'node:fs';
  import { Session } from 'node:inspector/promises';
  import { monitorEventLoopDelay } from 'node:perf_hooks';
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpuMs = (usage) => (usage.user + usage.system) / 1000;
  let turnCpuMs = 0;
  let before = cpuMs(process.threadCpuUsage());
  setInterval(() => {
    const now = cpuMs(process.threadCpuUsage());
    turnCpuMs = Math.max(turnCpuMs, now - before);
    before = now;
  }, 1).unref();
  let session;
  process.on('message', async (profile) => {
    process.send({ delayMs: delay.max / 1e6, turnCpuMs, cpuMs: cpuMs(process.cpuUsage()) });
    if (profile !== '') {
      if (session) writeFileSync(profile, JSON.stringify((await session.post('Profiler.stop')).profile));
      session ??= new Session();
      session.connect?.();
      session.connect = undefined;
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: 500 });
      await session.post('Profiler.start');
    }
    turnCpuMs = 0;
    delay.reset();
    before = cpuMs(process.threadCpuUsage());
  });
  process.channel.unref();`)}`;

const folder = mkdtempSync(join(tmpdir(), 'pergola-stalls-'));
chmodSync(folder, 0o711);
const withPostgis = installedBinaries('postgis');
const binaries = withPostgis ?? installedBinaries('plpgsql');
const postgres = await startEmbeddedPostgres({ folder, isDurable: false, binaries });
let missed = false;
/** The figures of each subject, by event. */
const pauses: Record<string, Record<string, Pause>> = {};
try {
  const isWanted = (name: string) => (options.only ?? name) === name;
  if (isWanted('huge')) {
    const subject = huge(options.shared);
    await measure(withPostgis ? subject : withoutPostgis(subject));
  }
  if (isWanted('generated')) await measure(generated(Number(options.tables), Number(options.roles)));
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
if (options.out) writeRecord(options.out, pauses);
process.exitCode = missed ? 1 : 0;

async function measure(subject: Subject): Promise<void> {
  console.log(`\n${subject.name}: ms`);
  const figures: Record<string, Pause> = {};
  pauses[subject.name] = figures;
  const during = async (engine: Measured, event: string, row: string, body: () => Promise<unknown>) => {
    figures[event] = await measured(engine, event, row, body);
  };
  const environment = environmentFor(subject, postgres.url);
  const replace = { type: 'replace_metadata', args: subject.metadata };
  const first = await start(environment);
  await during(first, 'replace_metadata, first', '{ __typename }', () => admin(first, replace));
  const row = await queryOfRow(first);
  await first.stop();
  const engine = await start(environment);
  try {
    await graphql(engine, 'admin', row);
    for (const role of [...rolesOf(subject.metadata)].slice(0, 10)) {
      await during(engine, `first request of ${role}`, row, () => graphql(engine, role, '{ __typename }'));
    }
    const whole = getIntrospectionQuery();
    await during(engine, 'introspection, first', row, () =>
      graphql(engine, 'admin', whole, { encoding: 'gzip' }),
    );
    await during(engine, 'introspection, again', row, () => graphql(engine, 'admin', whole));
    await during(engine, 'reload_metadata', row, () => admin(engine, { type: 'reload_metadata', args: {} }));
    await during(engine, 'replace_metadata, same', row, () => admin(engine, replace));
    await during(engine, 'replace_metadata, one table less', row, () =>
      admin(engine, { type: 'replace_metadata', args: smaller(subject) }),
    );
  } finally {
    await engine.stop();
  }
}

/** Returns the metadata without one table, whose dependents become inconsistent. */
function smaller({ metadata: { sources, ...rest } }: Subject): unknown {
  const metadata = { ...rest, sources: sources.map((each) => ({ ...each, tables: each.tables.slice(1) })) };
  return { metadata, allow_inconsistent_metadata: true };
}

async function start(environment: Readonly<Record<string, string | undefined>>): Promise<Measured> {
  const engine = fork('bin/pergola.mjs', ['serve', ...ANY_PORT], {
    env: environment,
    execArgv: ['--import', PROBE],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const exited = once(engine, 'exit');
  const url = await healthyUrl(engine, 'inherit');
  return {
    url,
    turns: async (profile = '') => {
      engine.send(profile);
      const [turns] = (await once(engine, 'message')) as [Turns];
      return turns;
    },
    stop: async () => {
      engine.kill('SIGTERM');
      await exited;
    },
  };
}

/** Prints and returns what is measured beside an event. */
async function measured(
  engine: Measured,
  event: string,
  row: string,
  body: () => Promise<unknown>,
): Promise<Pause> {
  const profile = options.profile && join(options.profile, `${event.replaceAll(/\W+/g, '-')}.cpuprofile`);
  const client = startClient(engine, row);
  await sleep(PAUSE_MS);
  const before = await engine.turns(profile);
  client.longestMs = 0;
  const began = performance.now();
  await body();
  const ms = performance.now() - began;
  await sleep(PAUSE_MS);
  const after = await engine.turns(profile);
  await client.stop();
  const numbers = {
    response: client.longestMs,
    turn: after.delayMs,
    'CPU of turn': after.turnCpuMs,
    CPU: after.cpuMs - before.cpuMs,
    elapsed: ms,
  };
  const text = Object.entries(numbers).map(([name, value]) => `${name} ${value.toFixed(0).padStart(5)}`);
  const isOver = after.turnCpuMs > MOST_MS;
  console.log(`  ${event.padEnd(36)} ${text.join('  ')}${isOver ? `: over the limit of ${MOST_MS}` : ''}`);
  missed ||= isOver;
  return { turnMs: after.delayMs, turnCpuMs: after.turnCpuMs, cpuMs: numbers.CPU };
}

type Client = { longestMs: number; readonly stop: () => Promise<void> };

/** Starts a client that repeats two small requests, each on a connection of its own. */
function startClient(engine: Measured, row: string): Client {
  const agent = new Agent({ keepAlive: true });
  let isStopped = false;
  const repeat = async (body: () => Promise<unknown>): Promise<void> => {
    while (!isStopped) {
      const began = performance.now();
      await body();
      client.longestMs = Math.max(client.longestMs, performance.now() - began);
      await sleep(INTERVAL_MS);
    }
  };
  const running = Promise.all([
    repeat(() => send(`${engine.url}/healthz`, { agent })),
    repeat(() => graphql(engine, 'admin', row, { agent })),
  ]);
  const stop = async () => {
    isStopped = true;
    await running;
    agent.destroy();
  };
  const client: Client = { longestMs: 0, stop };
  return client;
}

/** Returns a query of one row of the last table. */
async function queryOfRow(engine: Measured): Promise<string> {
  const text = await graphql(engine, 'admin', FIELDS);
  const { fields } = (JSON.parse(text) as { data: { __type: { fields: readonly Field[] } } }).data.__type;
  // The first table is taken away later.
  const field = fields.findLast(({ args }) => args.some(({ name }) => name === 'limit'));
  return `{ ${field!.name}(limit: 1) { __typename } }`;
}

type Field = { readonly name: string; readonly args: readonly { readonly name: string }[] };

function admin(engine: Measured, body: unknown): Promise<string> {
  const headers = { 'x-engine-admin-secret': SECRET };
  return send(`${engine.url}/v1/metadata`, { headers, body: JSON.stringify(body) });
}

async function graphql(
  engine: Measured,
  role: string,
  query: string,
  { encoding, agent }: { readonly encoding?: string; readonly agent?: Agent } = {},
): Promise<string> {
  const secret = { 'x-engine-admin-secret': SECRET, 'x-engine-role': role };
  const headers = encoding === undefined ? secret : { ...secret, 'accept-encoding': encoding };
  const text = await send(`${engine.url}/v1/graphql`, { headers, body: JSON.stringify({ query }), agent });
  if (text.startsWith('{"errors"')) throw new Error(text.slice(0, 500));
  return text;
}

type Sent = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: Agent | undefined;
};

/** Returns the response; '' for a long one, whose text would delay the client. */
async function send(url: string, { headers = {}, body, agent }: Sent): Promise<string> {
  const method = body === undefined ? 'GET' : 'POST';
  const type = { 'content-type': 'application/json' };
  const sent = request(url, { method, headers: { ...type, ...headers }, ...(agent && { agent }) });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size < 2_000_000) pieces.push(piece);
  }
  const text = size < 2_000_000 ? Buffer.concat(pieces).toString() : '';
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${text.slice(0, 500)}`);
  return text;
}

/** What a query that a remote schema answers costs the engine: CPU of its process alone for each request, beside what the client
 *  needs to ask the service itself. Engine (`pergola serve`, as it is installed) and service (a GraphQL Yoga server) are processes
 *  of their own. `node engine/bench/remote.ts` prints the median of many rounds and fails above a millisecond; the test beside remote peers
 *  holds how it compares with the client. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../bin/embedded-postgres.ts';

const QUERY = 'query ($size: Int!) { shelf(size: $size) { id title genre printed } }';
const BODY = JSON.stringify({ query: QUERY, variables: { size: 10 } });
const SECRET = 'of the bench';
const CLIENTS = 16;
/** Microseconds. */
const MOST = 1000;

export type Rounds = { readonly requests: number; readonly warming: number; readonly rounds: number };

/** Microseconds of CPU a request at the median: of the engine, and of the client that asks the service itself. */
export type PassThrough = { readonly engine: number; readonly direct: number };

/** Tells its parent, when asked, what CPU it has used. */
const PROBE = `data:text/javascript,${encodeURIComponent(
  `process.on('message', () => process.send(process.cpuUsage())); process.channel.unref();`,
)}`;

export async function passThroughCpu(
  { databaseUrl, serviceUrl }: { readonly databaseUrl: string; readonly serviceUrl: string },
  { requests, warming, rounds }: Rounds,
): Promise<PassThrough> {
  const engine = await startEngineApart(databaseUrl);
  const agent = new Agent({ keepAlive: true });
  try {
    await post(`${engine.url}/v1/metadata`, agent, ADD(serviceUrl));
    const [toEngine, toService] = [`${engine.url}/v1/graphql`, serviceUrl];
    await times(warming, () => askShelf(toEngine, agent));
    await times(warming, () => askShelf(toService, agent));
    const ofEngine: number[] = [];
    const ofClient: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ofEngine.push(await cpuOf(() => times(requests, () => askShelf(toEngine, agent)), engine.cpu));
      ofClient.push(await cpuOf(() => times(requests, () => askShelf(toService, agent)), ownCpu));
    }
    return { engine: median(ofEngine) / requests, direct: median(ofClient) / requests };
  } finally {
    agent.destroy();
    engine.process.kill();
  }
}

const ADD = (url: string) =>
  JSON.stringify({ type: 'add_remote_schema', args: { name: 'library', definition: { url } } });

type EngineApart = {
  readonly url: string;
  readonly process: ChildProcess;
  readonly cpu: () => Promise<number>;
};

async function startEngineApart(databaseUrl: string): Promise<EngineApart> {
  const port = await freePort();
  const flags = ['--database-url', databaseUrl, '--server-port', String(port), '--admin-secret', SECRET];
  const engine = fork('bin/pergola.mjs', ['serve', ...flags], {
    execArgv: ['--import', PROBE],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const url = `http://127.0.0.1:${port}`;
  const isThere = () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (engine.exitCode === null && !(await isThere())) await new Promise((next) => setTimeout(next, 50));
  const cpu = async () => {
    engine.send('cpu');
    const [usage] = (await once(engine, 'message')) as [NodeJS.CpuUsage];
    return usage.user + usage.system;
  };
  return { url, process: engine, cpu };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === 'object' && address ? address.port : 0;
}

async function askShelf(url: string, agent: Agent): Promise<void> {
  const { data } = JSON.parse(await post(url, agent, BODY)) as { data?: { shelf: readonly unknown[] } };
  if (data?.shelf.length !== 10) throw new Error('the service has not answered');
}

function post(url: string, agent: Agent, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-engine-admin-secret': SECRET };
  return new Promise((resolve, reject) => {
    const asking = request(url, { method: 'POST', headers, agent }, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve(text);
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

/** By as many clients as SPEED.md has. */
async function times(count: number, ask: () => Promise<void>): Promise<void> {
  let left = count;
  const client = async () => {
    while (left-- > 0) await ask();
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

async function cpuOf(work: () => Promise<void>, cpu: () => Promise<number> | number): Promise<number> {
  const before = await cpu();
  await work();
  return (await cpu()) - before;
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-bench-'));
  chmodSync(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), isDurable: false });
  const peer = spawn(process.execPath, ['testing/yoga.mjs'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = (await once(peer.stdout, 'data')) as [Buffer];
  const serviceUrl = printed.toString().trim();
  const rounds = { requests: 500, warming: 2000, rounds: 11 };
  const { engine, direct } = await passThroughCpu({ databaseUrl: postgres.url, serviceUrl }, rounds);
  console.log(
    `${Math.round(engine)} µs of the engine's CPU a request; the client itself needs ${Math.round(direct)} µs`,
  );
  if (engine >= MOST) process.exitCode = 1;
  peer.kill();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

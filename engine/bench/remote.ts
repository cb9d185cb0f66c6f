/** What a query that a remote schema answers costs the engine: CPU of its process alone for each request, beside what the client
 *  needs to ask the service itself. Engine (`pergola serve`, as it is installed) and service (a GraphQL Yoga server) are processes
 *  of their own. `node engine/bench/remote.ts` prints the median of many rounds and fails above a millisecond; the test beside remote peers
 *  holds how it compares with the client. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../bin/embedded-postgres.ts';
import { type EngineApart, startEngineApart } from '../../testing/engine-apart.ts';

const QUERY = 'query ($size: Int!) { shelf(size: $size) { id title genre printed } }';
const BODY = JSON.stringify({ query: QUERY, variables: { size: 10 } });
const CLIENTS = 16;
/** The most CPU time of a request, in microseconds. */
const MOST = 1000;

export type Rounds = { readonly requests: number; readonly warming: number; readonly rounds: number };

/** Microseconds of CPU a request at the median: of the engine, and of the client that asks the service itself. */
export type PassThrough = { readonly engine: number; readonly direct: number };

export async function passThroughCpu(
  { databaseUrl, serviceUrl }: { readonly databaseUrl: string; readonly serviceUrl: string },
  { requests, warming, rounds }: Rounds,
): Promise<PassThrough> {
  const engine = await startEngineApart(databaseUrl);
  const agent = new Agent({ keepAlive: true });
  const client = { agent, headers: { 'content-type': 'application/json', ...secretOf(engine) } };
  const cpu = async () => (await engine.usage()).microseconds;
  try {
    await post(`${engine.url}/v1/metadata`, client, ADD(serviceUrl));
    const [toEngine, toService] = [`${engine.url}/v1/graphql`, serviceUrl];
    await times(warming, () => requestShelf(toEngine, client));
    await times(warming, () => requestShelf(toService, client));
    const ofEngine: number[] = [];
    const ofClient: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ofEngine.push(await cpuOf(() => times(requests, () => requestShelf(toEngine, client)), cpu));
      ofClient.push(await cpuOf(() => times(requests, () => requestShelf(toService, client)), ownCpu));
    }
    return { engine: median(ofEngine) / requests, direct: median(ofClient) / requests };
  } finally {
    agent.destroy();
    engine.close();
  }
}

const ADD = (url: string) =>
  JSON.stringify({ type: 'add_remote_schema', args: { name: 'library', definition: { url } } });

type Client = { readonly agent: Agent; readonly headers: Readonly<Record<string, string>> };

const secretOf = ({ adminSecret }: EngineApart) => ({ 'x-engine-admin-secret': adminSecret });

async function requestShelf(url: string, client: Client): Promise<void> {
  const { data } = JSON.parse(await post(url, client, BODY)) as { data?: { shelf: readonly unknown[] } };
  if (data?.shelf.length !== 10) throw new Error('the service has not answered');
}

function post(url: string, client: Client, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method: 'POST', ...client }, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve(text);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Runs as many clients in parallel as docs/SPEED.md has. */
async function times(count: number, run: () => Promise<void>): Promise<void> {
  let left = count;
  const client = async () => {
    while (left-- > 0) await run();
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

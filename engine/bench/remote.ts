/** What a query that a remote schema answers costs the engine: CPU of this process for each request, less what the same client
 *  needs to ask the service itself. The service is a GraphQL Yoga server in a process of its own, whose CPU does not count.
 *  `node engine/bench/remote.ts` prints it; the test beside remote peers holds it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../bin/embedded-postgres.ts';
import { startTestEngine } from '../../testing/engine.ts';

const QUERY = 'query ($size: Int!) { shelf(size: $size) { id title genre printed } }';
const REQUESTS = 100;
const ROUNDS = 3;

/** Microseconds of CPU a request: by way of the service itself, and beyond that by way of the engine. */
export type PassThrough = { readonly direct: number; readonly overhead: number };

/** The best of some rounds. */
export async function passThroughCpu(
  engineUrl: string,
  serviceUrl: string,
  secret: string,
): Promise<PassThrough> {
  const ask = async (url: string) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-engine-admin-secret': secret },
      body: JSON.stringify({ query: QUERY, variables: { size: 10 } }),
    });
    const { data } = (await response.json()) as { data: { shelf: readonly unknown[] } };
    if (data.shelf.length !== 10) throw new Error('the service has not answered');
  };
  const engine = `${engineUrl}/v1/graphql`;
  for (const url of [engine, serviceUrl]) await cpuOf(() => ask(url));
  const rounds: PassThrough[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const direct = await cpuOf(() => ask(serviceUrl));
    rounds.push({ direct, overhead: (await cpuOf(() => ask(engine))) - direct });
  }
  return rounds.reduce((best, each) => (each.overhead < best.overhead ? each : best));
}

async function cpuOf(ask: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let i = 0; i < REQUESTS; i++) await ask();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-bench-'));
  chmodSync(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), isDurable: false });
  const peer = spawn(process.execPath, ['testing/yoga.mjs'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = (await once(peer.stdout, 'data')) as [Buffer];
  const url = printed.toString().trim();
  const engine = await startTestEngine({ databaseUrl: postgres.url });
  await engine.admin('add_remote_schema', { name: 'library', definition: { url } });
  const { direct, overhead } = await passThroughCpu(engine.url, url, engine.adminSecret);
  console.log(
    `${Math.round(direct)} µs of CPU to ask the service, ${Math.round(overhead)} µs more by way of us`,
  );
  await engine.close();
  peer.kill();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

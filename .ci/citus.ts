/** Compares the answers of a Citus cluster of two, then of four workers with those of a plain Postgres: the requests of
 *  testing/citus/operations.ts, and afterwards the rows of every table; then random requests to random worlds (testing/citus/random.ts), and
 *  those of tenants with a Postgres that has the rows of one tenant (testing/citus/tenants.ts).
 *  In: the folder with the cluster (--shared), --workers for one number of workers; --seed S --world W --worlds N --tenants N for other worlds.
 *  `npm run citus -- --worlds 0 --tenants 32` sends 5,000 requests of tenants.
 *  Out: what fails or differs, `N passed, N failed`, --out JSON. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { Comparison } from '../testing/citus/comparison.ts';
import { randomWorlds } from '../testing/citus/random.ts';
import { tenantWorlds } from '../testing/citus/tenants.ts';
import type { Servers } from '../testing/citus/worlds.ts';

const { values: options } = parseArgs({
  options: {
    shared: { type: 'string', default: '../shared' },
    workers: { type: 'string' },
    seed: { type: 'string', default: '2' },
    world: { type: 'string', default: '0' },
    worlds: { type: 'string', default: '4' },
    tenants: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const cluster = resolve(options.shared, 'citus/citus');
const folder = mkdtempSync(join(tmpdir(), 'pergola-citus-'));
const environment = {
  ...process.env,
  CITUS_HOME: process.env['CITUS_HOME'] ?? '/tmp/pergola-citus',
  CITUS_PORT: process.env['CITUS_PORT'] ?? '7461',
};
const counts = { passed: 0, failed: 0 };
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
try {
  for (const workers of options.workers ? [options.workers] : ['2', '4']) await compare(workers);
} finally {
  run('clean');
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`citus: ${counts.passed} passed, ${counts.failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;

async function compare(workers: string): Promise<void> {
  run('clean');
  run('up', workers);
  const servers = { citusUrl: run('url').trim(), postgresUrl: postgres.url };
  const comparison = new Comparison(servers);
  try {
    await comparison.open();
    for await (const { name, problem } of comparison.run()) {
      counts[problem === null ? 'passed' : 'failed'] += 1;
      if (problem !== null) console.log(`FAIL ${name} (${workers} workers): ${problem}`);
    }
  } finally {
    await comparison.close();
  }
  await compareWorlds(workers, servers);
  await compareTenants(workers, servers);
}

async function compareWorlds(workers: string, servers: Servers): Promise<void> {
  run('clean');
  run('up', workers);
  const [seed, from, count] = [options.seed, options.world, options.worlds].map(Number) as [
    number,
    number,
    number,
  ];
  const sums = { queries: 0, mutations: 0, refused: 0, refusals: 0 };
  for await (const verdict of randomWorlds(servers, { seed, from, count })) {
    const { world, refusal, queries, mutations, refused, problems } = verdict;
    sums.queries += queries;
    sums.mutations += mutations;
    sums.refused += refused;
    sums.refusals += refusal === null ? 0 : 1;
    counts.failed += problems.length;
    const where = `--workers ${workers} --seed ${seed} --world ${world} --worlds 1`;
    for (const problem of problems) console.log(`FAIL ${where}: ${problem}`);
  }
  counts.passed += sums.queries + sums.mutations;
  const { queries, mutations, refused, refusals } = sums;
  console.log(
    `${workers} workers: ${queries} queries, ${mutations} mutations and ${refused} refused ones of ${count} random worlds, ${refusals} refused`,
  );
}

/** Compares requests of tenants with those to a Postgres that has the rows of one tenant only. */
async function compareTenants(workers: string, servers: Servers): Promise<void> {
  const [seed, from, count] = [options.seed, options.world, options.tenants].map(Number) as [
    number,
    number,
    number,
  ];
  const sums = { queries: 0, mutations: 0 };
  for await (const verdict of tenantWorlds(servers, { seed, from, count })) {
    const { world, queries, mutations, problems } = verdict;
    sums.queries += queries;
    sums.mutations += mutations;
    counts.failed += problems.length;
    const where = `--workers ${workers} --seed ${seed} --world ${world} --worlds 0 --tenants 1`;
    for (const problem of problems) console.log(`FAIL ${where}: ${problem}`);
  }
  counts.passed += sums.queries + sums.mutations;
  console.log(`${workers} workers: ${sums.queries} queries and ${sums.mutations} mutations of tenants`);
}

function run(...args: readonly string[]): string {
  return execFileSync(cluster, args, {
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

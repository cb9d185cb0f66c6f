/** Compares the answers of a Citus cluster of two, then of four workers with those of a plain Postgres: the requests of
 *  testing/citus/operations.ts, and afterwards the rows of every table; then random requests to random worlds (testing/citus/random.ts), and
 *  those of tenants with a Postgres that has the rows of one tenant (testing/citus/tenants.ts). Then the conformance cases of the API run over
 *  tables that are distributed at random (testing/citus/conformance), and workers fail while clients read and write
 *  (testing/citus/failures.ts).
 *  In: the folder with the cluster (--shared), --workers 2,4 for the numbers of workers (0: no comparison); --seed S --world W --worlds N
 *  --tenants N for other worlds; --failures N for failures of N seconds (0: none); --cases N for N
 *  classes of conformance cases (0: none, or all), --only RE for those with such names; --schemas 0 for no
 *  comparison with a cluster that is sharded by schema; --load FILE to measure requests with many tenants
 *  (testing/citus/load.ts), and write the figures to FILE.
 *  `npm run citus -- --worlds 0 --tenants 32 --failures 0 --cases 0` sends 5,000 requests of tenants, `npm run citus -- --workers 0 --failures 30` has
 *  failures only.
 *  Out: what fails or differs, `N passed, N failed`, --out JSON. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { Cluster } from '../testing/citus/cluster.ts';
import { Comparison } from '../testing/citus/comparison.ts';
import { conformance } from '../testing/citus/conformance/conformance.ts';
import { failures } from '../testing/citus/failures.ts';
import { load } from '../testing/citus/load.ts';
import { OPERATIONS } from '../testing/citus/operations.ts';
import { randomWorlds } from '../testing/citus/random.ts';
import { tenantWorlds } from '../testing/citus/tenants.ts';
import type { Servers } from '../testing/citus/worlds.ts';
import { writeRecord } from './record.ts';

const { values: options } = parseArgs({
  options: {
    shared: { type: 'string', default: '../shared' },
    workers: { type: 'string', default: '2,4' },
    seed: { type: 'string', default: '2' },
    world: { type: 'string', default: '0' },
    worlds: { type: 'string', default: '2' },
    tenants: { type: 'string', default: '1' },
    failures: { type: 'string', default: '2' },
    cases: { type: 'string', default: '6' },
    only: { type: 'string' },
    schemas: { type: 'string', default: '1' },
    load: { type: 'string' },
    out: { type: 'string' },
  },
});
/** The most that a request of a tenant may cost, as a multiple of pgbench and of the engine over a plain Postgres. */
const MOST_RATIO = 1.3;
const cluster = new Cluster(resolve(options.shared, 'citus/citus'));
const folder = mkdtempSync(join(tmpdir(), 'pergola-citus-'));
const counts = { passed: 0, failed: 0 };
const began = performance.now();
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
try {
  for (const workers of options.workers.split(',').filter((each) => each !== '0')) await compare(workers);
  if (options.schemas !== '0') await compareSchemas();
  if (options.cases !== '0') await compareCases();
  if (options.load !== undefined) await measureLoad(options.load);
  if (options.failures !== '0') await fail();
} finally {
  cluster.clean();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`citus: ${counts.passed} passed, ${counts.failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;

/** Returns the seconds since the start. */
function seconds(): number {
  return Math.round((performance.now() - began) / 1000);
}

async function compare(workers: string): Promise<void> {
  cluster.restart(workers);
  const servers = { citusUrl: cluster.url, postgresUrl: postgres.url };
  await compareOperations(workers, new Comparison(servers));
  console.log(`${workers} workers: ${OPERATIONS.length} operations, ${seconds()} s`);
  await compareWorlds(workers, servers);
  await compareTenants(workers, servers);
}

async function compareOperations(where: string, comparison: Comparison): Promise<void> {
  try {
    await comparison.open();
    for await (const { name, problem } of comparison.run()) {
      counts[problem === null ? 'passed' : 'failed'] += 1;
      if (problem !== null) console.log(`FAIL ${name} (${where} workers): ${problem}`);
    }
  } finally {
    await comparison.close();
  }
}

/** Compares the operations with a cluster each schema of which is one shard. */
async function compareSchemas(): Promise<void> {
  cluster.restart('2');
  const servers = { citusUrl: cluster.url, postgresUrl: postgres.url };
  await compareOperations('by schema, 2', new Comparison(servers, 'by schema'));
  console.log(`by schema: ${OPERATIONS.length} operations, ${seconds()} s`);
}

async function compareWorlds(workers: string, servers: Servers): Promise<void> {
  cluster.restart(workers);
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
    `${workers} workers: ${queries} queries, ${mutations} mutations and ${refused} refused ones of ${count} random worlds, ${refusals} refused, ${seconds()} s`,
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
  console.log(
    `${workers} workers: ${sums.queries} queries and ${sums.mutations} mutations of tenants, ${seconds()} s`,
  );
}

/** Compares the answers to conformance cases, whose tables are distributed at random. */
async function compareCases(): Promise<void> {
  cluster.restart('2');
  const { alike, refused, notAllowed, problems } = await conformance(
    { citusUrl: cluster.url, postgresUrl: postgres.url },
    {
      folder: resolve(options.shared, 'conformance'),
      seed: Number(options.seed),
      classes: options.cases === 'all' ? 0 : Number(options.cases),
      only: options.only,
      temporary: join(folder, 'keys'),
    },
  );
  counts.passed += alike.size;
  counts.failed += problems.size;
  for (const [name, reason] of [...refused, ...notAllowed]) console.log(`refused: ${name}: ${reason}`);
  for (const [name, problem] of problems) console.log(`FAIL --seed ${options.seed} ${name}: ${problem}`);
  console.log(
    `conformance cases: ${alike.size} alike, ${refused.size} refused by the engine, ${notAllowed.size} not allowed by Citus, ${problems.size} differ, ${seconds()} s`,
  );
}

/** Measures requests with many tenants, and writes the figures to a file. */
async function measureLoad(file: string): Promise<void> {
  cluster.restart('2');
  const figures = await load(cluster, postgres.url, folder);
  writeRecord(file, figures);
  for (const [name, figure] of Object.entries(figures)) {
    const { isOfTenant, ratio, pgbench, engine, cluster: ofStatements, plainEngine } = figure;
    const isTooMuch = isOfTenant && ratio > MOST_RATIO;
    counts[isTooMuch ? 'failed' : 'passed'] += 1;
    const texts = [pgbench, engine, ofStatements, plainEngine].map((each) => each.toFixed(3));
    console.log(
      `${isTooMuch ? 'FAIL ' : ''}${name}: ${ratio.toFixed(2)} ×; ms of pgbench, engine, cluster, engine on Postgres: ${texts.join(', ')}`,
    );
  }
}

/** Lets clients read and write while a worker fails and while another is added. */
async function fail(): Promise<void> {
  cluster.restart('2');
  for await (const { failure, answers, errors, problems } of failures(
    cluster,
    Number(options.failures) * 1000,
  )) {
    counts.passed += problems.length === 0 ? 1 : 0;
    counts.failed += problems.length;
    for (const problem of problems) console.log(`FAIL ${failure}: ${problem}`);
    console.log(`${failure}: ${answers} answers, errors ${JSON.stringify(errors)}, ${seconds()} s`);
  }
}

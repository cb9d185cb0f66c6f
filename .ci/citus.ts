/** Compares the answers of a Citus cluster of two and of four workers with those of a plain Postgres: the requests of
 *  testing/citus/operations.ts, and afterwards the rows of every table; random requests to random worlds (testing/citus/random.ts), and
 *  those of tenants with a Postgres that has the rows of one tenant (testing/citus/tenants.ts); the conformance cases of the API over
 *  tables that are distributed at random (testing/citus/conformance). Tables are distributed and moved while an engine answers
 *  (testing/citus/changes.ts), and tools run on them (testing/citus/tools.ts). Then workers fail while clients read and write (testing/citus/failures.ts).
 *  In: the folder with the cluster (--shared), --workers 2,4 for the numbers of workers (0: no comparison); --seed S --world W --worlds N
 *  --tenants N for other worlds; --failures N for failures of N seconds (0: none); --cases N for N
 *  classes of conformance cases (0: none, or all), --only RE for those with such names, --cases-workers N for the workers that they have; --schemas 0,
 *  --changes 0 and --tools 0 for no comparison with a cluster that is sharded by schema, no changes and no tools; --load FILE to measure requests with many tenants
 *  (testing/citus/load.ts), and write the figures to FILE.
 *  `npm run citus -- --worlds 0 --tenants 32 --failures 0 --cases 0` sends 5,000 requests of tenants, `npm run citus -- --workers 0 --cases 0 --failures 30` has
 *  long failures, `npm run citus-long` has all cases, more worlds, and longer failures.
 *  Out: what fails or differs, `N passed, N failed`, --out JSON. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { changes } from '../testing/citus/changes.ts';
import { Cluster } from '../testing/citus/cluster.ts';
import { Comparison, type Verdict } from '../testing/citus/comparison.ts';
import { conformance } from '../testing/citus/conformance/conformance.ts';
import { failures } from '../testing/citus/failures.ts';
import { load } from '../testing/citus/load.ts';
import { OPERATIONS } from '../testing/citus/operations.ts';
import { randomWorlds } from '../testing/citus/random.ts';
import { tenantWorlds } from '../testing/citus/tenants.ts';
import { tools } from '../testing/citus/tools.ts';
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
    cases: { type: 'string', default: '12' },
    'cases-workers': { type: 'string', default: '2' },
    only: { type: 'string' },
    schemas: { type: 'string', default: '1' },
    changes: { type: 'string', default: '1' },
    tools: { type: 'string', default: '1' },
    load: { type: 'string' },
    out: { type: 'string' },
  },
});
/** The most that a request of a tenant may cost, as a multiple of pgbench and of the engine over a plain Postgres. */
const MOST_RATIO = 1.3;
/** The comparisons that run at the same time, each with databases of its own. */
const LANES = 2;
/** The workers of the cluster in what is not run with each number of them. */
const WORKERS = 2;
const cluster = new Cluster(resolve(options.shared, 'citus/citus'));
const folder = mkdtempSync(join(tmpdir(), 'pergola-citus-'));
const counts = { passed: 0, failed: 0 };
const began = performance.now();
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
try {
  const numbers = options.workers
    .split(',')
    .map(Number)
    .filter((each) => each > 0);
  // One more than a comparison needs, for the failure that adds a worker.
  await cluster.start(Math.max(WORKERS + 1, Number(options['cases-workers']), ...numbers));
  await inLanes([
    ...numbers.map((workers) => () => compareWorlds(workers)),
    ...numbers.map((workers) => () => compareOperations(workers)),
    ...(options.cases === '0' ? [] : [compareCases]),
    ...(options.schemas === '0' ? [] : [compareSchemas]),
    ...(options.changes === '0' ? [] : [compareChanges]),
    ...(options.tools === '0' ? [] : [runTools]),
  ]);
  // Nothing else runs beside measurements and time limits.
  if (options.load !== undefined) await measureLoad(options.load);
  if (options.failures !== '0') await fail();
} finally {
  await cluster.clean();
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

/** Runs functions in their order, as many at the same time as there are lanes. */
async function inLanes(all: readonly (() => Promise<void>)[]): Promise<void> {
  const rest = all.values();
  const lane = async () => {
    for (const each of rest) await each();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

/** Calls a function with the URL of a new database of the cluster, and with that of a plain Postgres. */
function withServers<T>(workers: number, use: (servers: Servers) => Promise<T>): Promise<T> {
  return cluster.withDatabase(workers, (citusUrl) => use({ citusUrl, postgresUrl: postgres.url }));
}

function compareOperations(workers: number): Promise<void> {
  return withServers(workers, (servers) => compareWith(`${workers} workers`, new Comparison(servers)));
}

/** Distributes, moves and undistributes tables while an engine answers. */
function compareChanges(): Promise<void> {
  return withServers(WORKERS, async ({ citusUrl }) => {
    for await (const verdict of changes(citusUrl)) count(verdict, 'changes');
    console.log(`changes of distributions, ${seconds()} s`);
  });
}

/** Runs tools on the tables of a cluster. */
function runTools(): Promise<void> {
  return withServers(WORKERS, async ({ citusUrl }) => {
    for await (const verdict of tools(citusUrl, join(folder, 'tools'))) count(verdict, 'tools');
    console.log(`tools, ${seconds()} s`);
  });
}

/** Compares the operations with a cluster each schema of which is one shard. */
function compareSchemas(): Promise<void> {
  return withServers(WORKERS, (servers) => compareWith('by schema', new Comparison(servers, 'by schema')));
}

function count({ name, problem }: Verdict, where: string): void {
  counts[problem === null ? 'passed' : 'failed'] += 1;
  if (problem !== null) console.log(`FAIL ${name} (${where}): ${problem}`);
}

async function compareWith(where: string, comparison: Comparison): Promise<void> {
  try {
    await comparison.open();
    for await (const verdict of comparison.run()) count(verdict, where);
  } finally {
    await comparison.close();
  }
  console.log(`${where}: ${OPERATIONS.length} operations, ${seconds()} s`);
}

/** Compares random requests to random worlds, and then those of tenants. */
function compareWorlds(workers: number): Promise<void> {
  return withServers(workers, async (servers) => {
    await compareRandom(workers, servers);
    await compareTenants(workers, servers);
  });
}

async function compareRandom(workers: number, servers: Servers): Promise<void> {
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
async function compareTenants(workers: number, servers: Servers): Promise<void> {
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
  const chosen = {
    folder: resolve(options.shared, 'conformance'),
    seed: Number(options.seed),
    classes: options.cases === 'all' ? 0 : Number(options.cases),
    only: options.only,
    temporary: join(folder, 'keys'),
  };
  const mirror = await withServers(Number(options['cases-workers']), (servers) =>
    conformance(servers, chosen),
  );
  const { alike, refused, notAllowed, problems } = mirror;
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
  const figures = await withServers(WORKERS, (servers) => load(cluster, servers, folder));
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
  await withServers(WORKERS, async ({ citusUrl }) => {
    const milliseconds = Number(options.failures) * 1000;
    for await (const verdict of failures(cluster, citusUrl, milliseconds)) {
      const { failure, answers, errors, problems } = verdict;
      counts.passed += problems.length === 0 ? 1 : 0;
      counts.failed += problems.length;
      for (const problem of problems) console.log(`FAIL ${failure}: ${problem}`);
      console.log(`${failure}: ${answers} answers, errors ${JSON.stringify(errors)}, ${seconds()} s`);
    }
  });
}

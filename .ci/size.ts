/** Measures the engine with large metadata: a real export of 250 relations and 94 roles (--shared), and a generated schema of 1,000
 *  tables and 10 roles. For each: time from start to ready, memory, the first request of a role, the whole introspection, and
 *  tracking one more table. Then metadata writes with 100, 1,000 and 5,000 tables.
 *  Out: a table of elapsed time and of the engine's CPU time, which is more reliable on a busy machine; exit 1 when a limit is exceeded.
 *  Not here: load. */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { getIntrospectionQuery } from 'graphql';
import { bundle } from '../bin/bundle.ts';
import { FOLDER } from '../bin/bundled.mjs';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { type Engine, startEngine } from '../testing/engine-process.ts';
import { binariesWithPostgis } from './postgis.ts';
import { writeRecord } from './record.ts';
import { environmentFor, generated, huge, rolesOf, SECRET, type Subject } from './subjects.ts';

const { values: options } = parseArgs({
  options: {
    shared: { type: 'string', default: '../shared' },
    tables: { type: 'string', default: '1000' },
    roles: { type: 'string', default: '10' },
    scale: { type: 'string', default: '100,1000,5000' },
    only: { type: 'string' },
    /** The file for the figures, such as docs/speed/size.json. */
    out: { type: 'string' },
  },
});
const ROLES = Number(options.roles);
/** The limits of elapsed time: for the real export, and for writes with 1,000 tables. */
const LIMITS = { 'start to ready ms': 3000, 'memory at ready MB': 300 };
const LIMITS_OF_WRITES = { 'replace_metadata ms': 3000, 'track_table median ms': 100 };
/** The limit of the cost of a table among 5,000, as a multiple of its cost among 1,000. */
const MOST_GROWTH = 1.25;

/** Elapsed time, and CPU time of the engine. */
type Cost = { readonly ms: number; readonly cpuMs: number };
type Reading = Readonly<Record<string, number | Cost>>;

const folder = mkdtempSync(join(tmpdir(), 'pergola-size-'));
chmodSync(folder, 0o711);
// As in the image.
await bundle(FOLDER);
const postgres = await startEmbeddedPostgres({ folder, isDurable: false, binaries: binariesWithPostgis() });
const readings: Record<string, Reading> = {};
let missed = false;
try {
  const isAsked = (what: string) => (options.only ?? what) === what;
  if (isAsked('huge')) report('huge', await measure(huge(options.shared)), LIMITS);
  if (isAsked('generated')) report('generated', await measure(generated(Number(options.tables), ROLES)));
  if (isAsked('scale')) await measureScale(options.scale.split(',').map(Number));
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
if (options.out) writeRecord(options.out, readings);
process.exitCode = missed ? 1 : 0;

async function measure(subject: Subject): Promise<Reading> {
  const environment = environmentFor(subject, postgres.url);
  const first = await startEngine(environment);
  const replaced = await timed(first, () => admin(first, 'replace_metadata', subject.metadata));
  await first.stop();
  const before = performance.now();
  const engine = await startEngine(environment);
  const ready = { ms: performance.now() - before, cpuMs: cpuMs(engine) };
  try {
    const readyMb = memoryMb(engine);
    const ask = (role: string, query: string) => timed(engine, () => graphql(engine, role, query));
    const admins = await ask('admin', '{ __typename }');
    const roles = [...rolesOf(subject.metadata)].slice(0, 10);
    const firsts: Cost[] = [];
    for (const role of roles) firsts.push(await ask(role, '{ __typename }'));
    const rolesMb = memoryMb(engine);
    const whole = await ask('admin', getIntrospectionQuery());
    const again = await ask('admin', getIntrospectionQuery());
    const wholeMb = memoryMb(engine);
    return {
      'replace_metadata ms': replaced,
      'start to ready ms': ready,
      'memory at ready MB': readyMb,
      'first request of admin ms': admins,
      'first request of a role, median ms': median(firsts),
      'first request of a role, worst ms': firsts.toSorted((a, b) => a.ms - b.ms).at(-1)!,
      'memory with 11 roles MB': rolesMb,
      'introspection of admin, first ms': whole,
      'introspection of admin, again ms': again,
      'memory after it MB': wholeMb,
      'track_table median ms': await tracked(engine, subject),
      'first request of admin after it ms': await ask('admin', '{ __typename }'),
      'memory at the end MB': memoryMb(engine),
    };
  } finally {
    await engine.stop();
  }
}

/** The table that is tracked and untracked in turn. */
async function tracked(engine: Engine, { table }: Subject): Promise<Cost> {
  const tracks: Cost[] = [];
  for (let i = 0; i < 9; i++) {
    await admin(engine, 'pg_untrack_table', { source: 'default', table, cascade: true });
    tracks.push(await timed(engine, () => admin(engine, 'pg_track_table', { source: 'default', table })));
  }
  return median(tracks);
}

/** Measures writes with increasing numbers of tables. Linear means that the cost per table does not grow with their number. */
async function measureScale(sizes: readonly number[]): Promise<void> {
  const perTable: Cost[] = [];
  for (const count of sizes) {
    const subject = generated(count, ROLES);
    const engine = await startEngine(environmentFor(subject, postgres.url));
    try {
      const replaced = await timed(engine, () => admin(engine, 'replace_metadata', subject.metadata));
      const track = await tracked(engine, subject);
      perTable.push({ ms: replaced.ms / count, cpuMs: (replaced.cpuMs + track.cpuMs) / count });
      const reading = { 'replace_metadata ms': replaced, 'track_table median ms': track };
      report(subject.name, reading, count <= 1000 ? LIMITS_OF_WRITES : {});
    } finally {
      await engine.stop();
    }
  }
  const growth = perTable.at(-1)!.cpuMs / perTable.at(-2)!.cpuMs;
  console.log(`  CPU of both for a table, beside that among ${sizes.at(-2)}: ${growth.toFixed(2)}`);
  missed ||= growth > MOST_GROWTH;
}

async function admin(engine: Engine, type: string, args: unknown): Promise<void> {
  await post(`${engine.url}/v1/metadata`, { 'x-engine-admin-secret': SECRET }, { type, args });
}

async function graphql(engine: Engine, role: string, query: string): Promise<void> {
  const headers = { 'x-engine-admin-secret': SECRET, 'x-engine-role': role };
  const answer = await post(`${engine.url}/v1/graphql`, headers, { query });
  if (answer.includes('"errors"')) throw new Error(answer.slice(0, 500));
}

async function post(url: string, headers: Record<string, string>, body: unknown): Promise<string> {
  const request = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  const response = await fetch(url, request);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 2000)}`);
  return text;
}

/** Works on Linux only, like the job that runs this. */
function memoryMb({ pid }: Engine): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Returns the CPU time of the process and all its threads. Linux counts hundredths of a second. */
function cpuMs({ pid }: Engine): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function timed(engine: Engine, body: () => Promise<void>): Promise<Cost> {
  const [start, cpuBefore] = [performance.now(), cpuMs(engine)];
  await body();
  return { ms: performance.now() - start, cpuMs: cpuMs(engine) - cpuBefore };
}

function median(costs: readonly Cost[]): Cost {
  const middle = (values: readonly number[]) =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
  return { ms: middle(costs.map(({ ms }) => ms)), cpuMs: middle(costs.map((cost) => cost.cpuMs)) };
}

function report(name: string, reading: Reading, limits: Readonly<Record<string, number>> = {}): void {
  console.log(`\n${name}`);
  readings[name] = { ...readings[name], ...reading };
  for (const [what, value] of Object.entries(reading)) {
    const [elapsed, cpu] =
      typeof value === 'number' ? [value, ''] : [value.ms, `, CPU ${value.cpuMs.toFixed(0)}`];
    const most = limits[what] ?? Number.POSITIVE_INFINITY;
    const verdict = elapsed > most ? `: over the limit of ${most}` : '';
    console.log(`  ${what.padEnd(40)} ${elapsed.toFixed(0)}${cpu}${verdict}`);
    missed ||= elapsed > most;
  }
}

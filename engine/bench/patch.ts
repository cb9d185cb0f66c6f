/** What one small change of a large document costs: CPU of the engine that is written to, of another replica that follows, and
 *  of Postgres, how long the write takes, and the bytes of the write-ahead log. 5,000 tables with four permissions each, and a
 *  ledger that says who owns each of the 25,000 objects; a change is one permission and one entry, as the operator writes them.
 *  In: --tables, --changes, --profile. Out: numbers. `node engine/bench/patch.ts`, on Linux. */
import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../bin/embedded-postgres.ts';
import { type Engine, startEngine } from '../../testing/engine-process.ts';

const { values: options } = parseArgs({
  options: {
    tables: { type: 'string', default: '5000' },
    changes: { type: 'string', default: '40' },
    /** A folder for profiles of both engines. */
    profile: { type: 'string' },
  },
});
const TABLES = Number(options.tables);
const CHANGES = Number(options.changes);
const ROLES = ['reader', 'author', 'auditor', 'guest'];
const COLUMNS = ['id', 'title', 'owner', 'amount', 'details', 'created_at', 'previous_id'];
const TICKS_PER_SECOND = 100;
const SECRET = 'bench';

const folder = mkdtempSync(join(tmpdir(), 'pergola-bench-'));
chmodSync(folder, 0o755);
const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), isDurable: false });
const stops: (() => Promise<void>)[] = [];
try {
  await measure(await ready());
} finally {
  for (const stop of stops.reverse()) await stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

type Running = { readonly client: pg.Client; readonly engine: Engine; readonly replica: Engine };

async function ready(): Promise<Running> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  stops.push(() => client.end());
  for (let from = 0; from < TABLES; from += 250) await client.query(schemaOf(from));
  const engine = await started('engine');
  const ids = Array.from({ length: TABLES }, (_, i) => i);
  const put = ids.flatMap((i) => [table(i), ...ROLES.map((role) => permission(i, role, COLUMNS))]);
  await write(engine, put, {
    manager: 'bench',
    objects: Object.fromEntries(put.map(({ key }) => [key, entry(key, 1)])),
  });
  return { client, engine, replica: await started('replica') };
}

async function started(name: string): Promise<Engine> {
  const profile = options.profile && `--cpu-prof --cpu-prof-dir=${join(options.profile, name)}`;
  const engine = await startEngine({
    ...process.env,
    NODE_OPTIONS: profile ?? '',
    ENGINE_GRAPHQL_DATABASE_URL: postgres.url,
    ENGINE_GRAPHQL_ADMIN_SECRET: SECRET,
    ENGINE_GRAPHQL_ENABLED_LOG_TYPES: 'startup',
  });
  stops.push(engine.stop);
  return engine;
}

async function measure({ client, engine, replica }: Running): Promise<void> {
  for (let i = 0; i < 5; i++) await change(engine, i);
  await sleep(3000);
  const before = await counters(client, engine, replica);
  const times: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    const began = performance.now();
    await change(engine, i);
    times.push(performance.now() - began);
    await sleep(100);
  }
  await sleep(2000);
  const after = await counters(client, engine, replica);
  console.log(`one change beside ${TABLES} tables, of ${CHANGES}`);
  for (const [name, value] of Object.entries(after)) {
    console.log(`  ${name.padEnd(34)} ${((value - before[name]!) / CHANGES).toFixed(1)}`);
  }
  const sorted = times.toSorted((a, b) => a - b);
  console.log(
    `  answer ms, median and worst          ${sorted[CHANGES >> 1]!.toFixed(1)} ${sorted.at(-1)!.toFixed(1)}`,
  );
  console.log(`  memory MB: engine, replica           ${memoryMb(engine.pid)} ${memoryMb(replica.pid)}`);
}

async function counters(client: pg.Client, engine: Engine, replica: Engine): Promise<Record<string, number>> {
  const { rows } = await client.query(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
  );
  return {
    'engine: CPU ms': cpuMs(engine.pid),
    'replica: CPU ms': cpuMs(replica.pid),
    'Postgres: CPU ms': postgresMs(),
    'write-ahead log: bytes': rows[0].bytes,
  };
}

function change(engine: Engine, i: number): Promise<void> {
  const put = permission((i * 37) % TABLES, 'reader', COLUMNS.slice(0, 2 + (i % 5)));
  const { key } = put;
  return write(engine, [put], { manager: 'bench', objects: { [key]: entry(key, i + 2) } });
}

/** Writes a patch with the same request as operator/engine/client.ts. */
async function write(engine: Engine, put: readonly object[], patch: object): Promise<void> {
  const options = { allow_inconsistent_metadata: true, include_keys: true };
  const args = [
    { type: 'patch_metadata', args: { put, remove: [], ...options } },
    { type: 'patch_catalog_state', args: { type: 'operator', patch } },
  ];
  const response = await fetch(`${engine.url}/v1/metadata`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-admin-secret': SECRET },
    body: JSON.stringify({ type: 'bulk_atomic', args }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text.slice(0, 1000));
}

function schemaOf(from: number): string {
  const ids = Array.from({ length: Math.min(250, TABLES - from) }, (_, i) => from + i);
  return ids
    .map(
      (i) =>
        `create table t${i} (id int primary key, title text not null, owner text, amount numeric, details jsonb,
          created_at timestamptz default now(), previous_id int);`,
    )
    .join('\n');
}

function table(i: number) {
  const definition = {
    table: { schema: 'public', name: `t${i}` },
    configuration: { comment: `table ${i} `.repeat(20) },
  };
  return { key: `table/default/public/t${i}`, definition };
}

function permission(i: number, role: string, columns: readonly string[]) {
  const filter = { owner: { _eq: 'X-Engine-User-Id' } };
  const definition = {
    role,
    permission: { columns, filter, limit: 1000 },
    comment: `what ${role} may see `.repeat(5),
  };
  return { key: `select_permission/default/public/t${i}/${role}`, definition };
}

function entry(key: string, generation: number): object {
  const cr = `Table bench/${key.split('/')[3]}`;
  const uid = randomUUID();
  const hash = `sha256:${createHash('sha256').update(key).digest('hex')}`;
  return { manager: 'bench', uid, cr, generation, hash, deletionPolicy: 'Delete' };
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** Returns the CPU time of the server's processes. proc(5), /proc/pid/stat: field 4 is the parent. */
function postgresMs(): number {
  const server = readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8').split('\n', 1)[0]!;
  const pids = globSync('/proc/[0-9]*/stat').map((file) => file.split('/')[2]!);
  return pids.reduce((sum, pid) => sum + (parentOf(pid) === server ? cpuMs(Number(pid)) : 0), 0);
}

/** Returns the parent of a process; undefined if the process has ended. */
function parentOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1];
  } catch {
    return undefined;
  }
}

function memoryMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
}

/** How the engine carries size: a real export of 250 relations and 94 roles (--shared), and a generated schema of 1,000
 *  tables and 10 roles. For each: start to ready, memory, the first request of a role, the whole introspection, and
 *  one table tracked beside the others. Out: a table; exit 1 when the real export misses its limits. Not here: load. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { getIntrospectionQuery } from 'graphql';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { type Engine, startEngine } from './engine.ts';
import { binariesWithPostgis } from './postgis.ts';

const { values: options } = parseArgs({
  options: {
    shared: { type: 'string', default: '../shared' },
    tables: { type: 'string', default: '1000' },
    roles: { type: 'string', default: '10' },
    only: { type: 'string' },
  },
});
const SECRET = 'size';
/** Issue-level promises for the real export. */
const LIMITS = { readyMs: 3000, memoryMb: 300 };

type Subject = {
  readonly name: string;
  readonly sql: Buffer | string;
  readonly metadata: Metadata;
  /** A relation to untrack and track again while it is timed. */
  readonly table: { readonly schema: string; readonly name: string };
};
type Metadata = {
  readonly sources: readonly {
    readonly tables: readonly {
      readonly table: { readonly schema: string; readonly name: string };
      readonly select_permissions?: readonly { readonly role: string }[];
    }[];
  }[];
};
type Reading = Readonly<Record<string, number>>;

const folder = mkdtempSync(join(tmpdir(), 'pergola-size-'));
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({ folder, isDurable: false, binaries: binariesWithPostgis() });
let missed = false;
try {
  if (options.only !== 'generated') report('huge', await measure(huge()), LIMITS);
  if (options.only !== 'huge') report('generated', await measure(generated()));
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = missed ? 1 : 0;

async function measure(subject: Subject): Promise<Reading> {
  const database = databaseFor(subject);
  const environment = {
    ...process.env,
    ENGINE_GRAPHQL_DATABASE_URL: database,
    ENGINE_GRAPHQL_ADMIN_SECRET: SECRET,
    ENGINE_GRAPHQL_ENABLED_LOG_TYPES: 'startup',
  };
  const first = await startEngine(environment);
  const replaceMs = await timed(() => admin(first, 'replace_metadata', subject.metadata));
  await first.stop();
  const before = performance.now();
  const engine = await startEngine(environment);
  const readyMs = performance.now() - before;
  try {
    const readyMb = memoryMb(engine);
    const admins = await timed(() => graphql(engine, 'admin', '{ __typename }'));
    const roles = [...rolesOf(subject.metadata)].slice(0, 10);
    const firsts: number[] = [];
    for (const role of roles) firsts.push(await timed(() => graphql(engine, role, '{ __typename }')));
    const rolesMb = memoryMb(engine);
    const whole = await timed(() => graphql(engine, 'admin', getIntrospectionQuery()));
    const again = await timed(() => graphql(engine, 'admin', getIntrospectionQuery()));
    await admin(engine, 'pg_untrack_table', { source: 'default', table: subject.table, cascade: true });
    const tracks: number[] = [];
    for (let i = 0; i < 5; i++) {
      const track = { source: 'default', table: subject.table };
      tracks.push(await timed(() => admin(engine, 'pg_track_table', track)));
      if (i < 4) await admin(engine, 'pg_untrack_table', track);
    }
    const rebuilt = await timed(() => graphql(engine, 'admin', '{ __typename }'));
    return {
      'replace_metadata ms': replaceMs,
      'start to ready ms': readyMs,
      'memory at ready MB': readyMb,
      'first request of admin ms': admins,
      'first request of a role, median ms': median(firsts),
      'first request of a role, worst ms': Math.max(...firsts),
      'memory with 11 roles MB': rolesMb,
      'introspection of admin, first ms': whole,
      'introspection of admin, again ms': again,
      'track_table median ms': median(tracks),
      'first request of admin after it ms': rebuilt,
      'memory at the end MB': memoryMb(engine),
    };
  } finally {
    await engine.stop();
  }
}

function huge(): Subject {
  const from = resolve(options.shared, 'data/huge');
  if (!existsSync(from)) throw new Error(`no ${from}: name the folder with --shared, or --only generated`);
  const { args } = JSON.parse(readFileSync(join(from, 'replace_metadata.json'), 'utf8')) as { args: unknown };
  const metadata = ((args as { metadata?: Metadata }).metadata ?? args) as Metadata;
  const sql = gunzipSync(readFileSync(join(from, 'dump.sql.gz')));
  return { name: 'huge', sql, metadata, table: metadata.sources[0]!.tables[0]!.table };
}

/** Tables that refer to the one before, each with two relationships and a select permission per role. */
function generated(): Subject {
  const count = Number(options.tables);
  const roles = Array.from({ length: Number(options.roles) }, (_, i) => `role_${i}`);
  const columns = ['id', 'title', 'owner', 'amount', 'details', 'created_at', 'previous_id'];
  const sql = Array.from(
    { length: count },
    (_, i) =>
      `create table t${i} (id int primary key, title text not null, owner text, amount numeric, details jsonb,
        created_at timestamptz default now(), previous_id int references t${Math.max(0, i - 1)});`,
  ).join('\n');
  const tables = Array.from({ length: count }, (_, i) => ({
    table: { schema: 'public', name: `t${i}` },
    object_relationships: [{ name: 'previous', using: { foreign_key_constraint_on: 'previous_id' } }],
    array_relationships:
      i + 1 < count
        ? [
            {
              name: 'next',
              using: {
                foreign_key_constraint_on: {
                  column: 'previous_id',
                  table: { schema: 'public', name: `t${i + 1}` },
                },
              },
            },
          ]
        : [],
    select_permissions: roles.map((role) => ({
      role,
      permission: { columns, filter: { owner: { _eq: 'X-Engine-User-Id' } } },
    })),
  }));
  const source = {
    name: 'default',
    kind: 'postgres',
    tables,
    configuration: { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } },
  };
  const metadata = { version: 3, sources: [source] };
  return { name: 'generated', sql, metadata, table: { schema: 'public', name: `t${count - 1}` } };
}

function databaseFor({ name, sql }: Subject): string {
  psql(postgres.url, `create database ${name}`);
  const url = postgres.url.replace(/postgres$/, name);
  psql(url, 'create extension if not exists postgis');
  psql(url, sql);
  return url;
}

function psql(url: string, input: Buffer | string): void {
  execFileSync('psql', ['-q', url], { input, stdio: ['pipe', 'ignore', 'ignore'] });
}

function rolesOf(metadata: Metadata): Set<string> {
  const permissions = metadata.sources.flatMap((source) => source.tables).map((t) => t.select_permissions);
  return new Set(permissions.flatMap((rows) => rows ?? []).map((row) => row.role));
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

/** Linux only, like the job that runs this. */
function memoryMb({ pid }: Engine): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

async function timed(body: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await body();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function report(name: string, reading: Reading, limits?: typeof LIMITS): void {
  console.log(`\n${name}`);
  for (const [what, value] of Object.entries(reading)) {
    console.log(`  ${what.padEnd(40)} ${value.toFixed(0)}`);
  }
  if (!limits) return;
  const isOver =
    reading['start to ready ms']! > limits.readyMs || reading['memory at ready MB']! > limits.memoryMb;
  if (isOver) console.log(`  over the limit: ready in ${limits.readyMs} ms, below ${limits.memoryMb} MB`);
  missed ||= isOver;
}

/** Writes resources for real databases with `pergola init` and applies them unedited: the Chinook music shop, where requests with the names
 *  that people expect must have answers, and a production schema with 1,500 tables. In: the data folder (--shared), a Postgres with
 *  PostGIS. Out: the seconds of each step, what failed, `N passed, N failed`; --out JSON {passed, failed}.
 *  Not here: what init writes for a small schema (bin/init/golden.test.ts). */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { startEngine } from '../testing/engine-process.ts';
import { binariesWithPostgis } from './postgis.ts';

type Subject = {
  readonly name: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The most seconds of `pergola init`, and of everything until the API serves. */
  readonly mostInit: number;
  readonly mostInAll: number;
  readonly requests: readonly (readonly [query: string, data: unknown])[];
};

const CHINOOK: Subject = {
  name: 'chinook',
  // The dump is in a Windows code page; as UTF-8 it silently loses rows.
  environment: { PGCLIENTENCODING: 'WIN1252' },
  mostInit: 30,
  mostInAll: 60,
  requests: [
    [
      '{ Album(where: {AlbumId: {_eq: 1}}) { Title Artist { Name } Tracks(limit: 1, order_by: {TrackId: asc}) { Genre { Name } } } }',
      {
        Album: [
          {
            Title: 'For Those About To Rock We Salute You',
            Artist: { Name: 'AC/DC' },
            Tracks: [{ Genre: { Name: 'Rock' } }],
          },
        ],
      },
    ],
    [
      '{ Customer(where: {CustomerId: {_eq: 1}}) { SupportRep { LastName Employee { LastName } } } }',
      { Customer: [{ SupportRep: { LastName: 'Peacock', Employee: { LastName: 'Edwards' } } }] },
    ],
  ],
};
const HUGE: Subject = { name: 'huge', mostInit: 30, mostInAll: 120, requests: [] };

const { values: options } = parseArgs({
  options: { shared: { type: 'string', default: '../shared' }, out: { type: 'string' } },
});
const folder = mkdtempSync(join(tmpdir(), 'pergola-init-'));
const resourcesRoot = mkdtempSync(join(tmpdir(), 'pergola-resources-'));
const postgres = await startEmbeddedPostgres({
  folder,
  isDurable: false,
  binaries: binariesWithPostgis(),
});
const counts = { passed: 0, failed: 0 };
try {
  for (const subject of [CHINOOK, HUGE]) await serve(subject);
} finally {
  await postgres.stop();
  for (const path of [folder, resourcesRoot]) rmSync(path, { recursive: true, force: true });
}
console.log(`init: ${counts.passed} passed, ${counts.failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;

async function serve(subject: Subject): Promise<void> {
  const url = load(subject);
  const resources = join(resourcesRoot, subject.name);
  const start = performance.now();
  pergola('init', '--database-url', url, '-o', resources, '--role', 'reader', '--readable');
  const afterInit = performance.now();
  const environment = { ENGINE_GRAPHQL_DATABASE_URL: url, ENGINE_GRAPHQL_ADMIN_SECRET: 'init' };
  const engine = await startEngine({ ...process.env, ...environment });
  try {
    // It ends with an error when a resource is not Ready.
    pergola('apply', '-f', resources, '--engine', engine.url, '--admin-secret', 'init');
    const afterApply = performance.now();
    check(`${subject.name}: init`, seconds(start, afterInit), subject.mostInit);
    check(`${subject.name}: init, start, apply`, seconds(start, afterApply), subject.mostInAll);
    for (const [query, data] of subject.requests) {
      const answer = await ask(engine.url, query);
      report(isDeepStrictEqual(answer, { data }), `${subject.name}: ${query}`, JSON.stringify(answer));
    }
    const again = pergola('init', '--database-url', url, '-o', resources, '--role', 'reader', '--readable');
    report(
      again.startsWith('Nothing in the database'),
      `${subject.name}: a second init writes nothing`,
      again,
    );
  } finally {
    await engine.stop();
  }
}

/** Creates the database of the subject and returns its URL. */
function load({ name, environment = {} }: Subject): string {
  const dump = gunzipSync(readFileSync(join(resolve(options.shared), 'data', name, 'dump.sql.gz')));
  const url = postgres.url.replace(/postgres$/, name);
  psql(postgres.url, `create database ${name}`);
  psql(url, dump, environment);
  return url;
}

function psql(url: string, input: Buffer | string, environment: Readonly<Record<string, string>> = {}): void {
  const env = { ...process.env, ...environment };
  execFileSync('psql', ['-q', url], { input, env, stdio: ['pipe', 'ignore', 'ignore'] });
}

/** Runs a command that must succeed and returns its output. */
function pergola(...args: readonly string[]): string {
  const most = { encoding: 'utf8', maxBuffer: 1 << 28 } as const;
  return execFileSync(process.execPath, ['bin/pergola.mjs', ...args], most);
}

async function ask(url: string, query: string): Promise<unknown> {
  const response = await fetch(`${url}/v1/graphql`, {
    method: 'POST',
    headers: { 'x-engine-admin-secret': 'init', 'x-engine-role': 'reader' },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

function seconds(from: number, to: number): number {
  return (to - from) / 1000;
}

function check(what: string, measured: number, most: number): void {
  report(measured <= most, `${what}: ${measured.toFixed(1)} s, at most ${most} s`, '');
}

function report(isPassed: boolean, what: string, detail: string): void {
  counts[isPassed ? 'passed' : 'failed']++;
  console.log(`${isPassed ? 'passed' : 'FAILED'}  ${what}${isPassed ? '' : `\n  ${detail}`}`);
}

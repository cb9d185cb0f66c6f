/** `npm run hops`, the engine's part: prints the files of the engine that run code for one GraphQL request, the first time and from the
 *  cache, by V8's precise coverage. Work of timers and pools that falls into the same moment counts, too.
 *  In: nothing. Out: the files, the functions and their number. Not here: how long a request takes (engine/bench/). */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { startTestEngine } from './engine.ts';

const ENGINE = join(import.meta.dirname, '..', 'engine');
const QUERY = 'query ($id: Int) { author(where: {id: {_eq: $id}}) { id name articles { title } } }';
const SCHEMA = `
  create table author (id int primary key, name text);
  create table article (id int primary key, title text, author_id int references author);
  insert into author values (1, 'Ada');
  insert into article values (1, 'Notes', 1);`;

const folder = mkdtempSync(join(tmpdir(), 'pergola-hops-'));
// Postgres runs as another user under root, and must be able to enter.
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), isDurable: false });
const engine = await startTestEngine({ databaseUrl: postgres.url });
const inspector = new Session();
inspector.connect();
try {
  await engine.admin('run_sql', { sql: SCHEMA });
  for (const name of ['author', 'article']) {
    await engine.admin('pg_track_table', { source: 'default', table: { schema: 'public', name } });
  }
  await engine.admin('pg_create_array_relationship', {
    source: 'default',
    table: { schema: 'public', name: 'author' },
    name: 'articles',
    using: {
      foreign_key_constraint_on: { table: { schema: 'public', name: 'article' }, column: 'author_id' },
    },
  });
  await engine.graphql('{ article { id } }');
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  print('first query', await hopsOf(() => engine.graphql(QUERY, { variables: { id: 1 } })));
  await engine.graphql(QUERY, { variables: { id: 1 } });
  print('cached query', await hopsOf(() => engine.graphql(QUERY, { variables: { id: 1 } })));
} finally {
  inspector.disconnect();
  await engine.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the names of the functions that run during `body`, by file. */
async function hopsOf(body: () => Promise<unknown>): Promise<ReadonlyMap<string, readonly string[]>> {
  await inspector.post('Profiler.takePreciseCoverage');
  await body();
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  return new Map(
    result.flatMap(({ url, functions }): (readonly [string, readonly string[]])[] => {
      const file = url.startsWith('file:') ? relative(ENGINE, fileURLToPath(url)) : '..';
      const names = functions
        .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
        .map((each) => each.functionName);
      return file.startsWith('..') || names.length === 0 ? [] : [[file, names]];
    }),
  );
}

function print(name: string, hops: ReadonlyMap<string, readonly string[]>): void {
  console.log(`${name}: ${hops.size} files`);
  for (const [file, names] of [...hops].sort()) console.log(`  ${file.padEnd(36)} ${names.join(' ')}`);
}

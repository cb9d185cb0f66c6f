/** `npm run hops`, the engine's part: prints the files of the engine that run code for one GraphQL request, the first time and from the
 *  cache, by V8's precise coverage. Work of timers and pools that falls into the same moment counts, too.
 *  In: nothing. Out: the files, the functions and their number. Not here: how long a request takes (engine/bench/). */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { functionsRunBy, printRun } from './coverage.ts';
import { startTestEngine } from './engine.ts';

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
  const request = () => engine.graphql(QUERY, { variables: { id: 1 } });
  printRun('the engine for a first query', await functionsRunBy('engine/', request));
  await request();
  printRun('the engine for a cached query', await functionsRunBy('engine/', request));
} finally {
  await engine.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

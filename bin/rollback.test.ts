/** Tests `pergola rollback` on metadata on which no engine starts. Not here: damaged objects with which an engine starts
 *  (engine/end-to-end/damaged-metadata.test.ts). */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { runCommand } from '../testing/output.ts';
import { run } from './rollback.ts';

let database: TestDatabase;
let engine: TestEngine | undefined;

const start = async () => {
  engine = await startTestEngine({ databaseUrl: database.url });
  return engine;
};
const stop = async () => {
  await engine?.close();
  engine = undefined;
};
const tablesOf = async () => {
  const { body } = await engine!.admin<Exported>('export_metadata', {});
  return body.sources[0]!.tables.map(({ table }) => table.name).toSorted();
};
type Exported = {
  readonly sources: readonly { readonly tables: readonly { readonly table: { readonly name: string } }[] }[];
};

/** Stores another document as the newest version. */
const store = (document: unknown) =>
  database.sql(
    `insert into pergola.whole (part, resource_version, content, bytes)
     select 'document', resource_version, $1::json, 1 from pergola.metadata
     on conflict (part, resource_version) do update set content = excluded.content`,
    [JSON.stringify(document)],
  );
const rollback = (...argv: string[]) => runCommand(run, ['--database-url', database.url, ...argv]);

beforeEach(async () => {
  database = await createDatabase();
  await database.sql('create table author (id int primary key); create table book (id int primary key)');
  await start();
  await engine!.admin('pg_track_table', { table: 'author' });
  await engine!.admin('pg_track_table', { table: 'book' });
});
afterEach(async () => {
  await stop();
  await database.drop();
});

test.each([
  ['that is no object', 5],
  ['that is a list', []],
  ['whose restrictions are damaged', { version: 3, sources: [], api_limits: 'text' }],
])('from a document %s it goes back to each version that can be read', async (_, document) => {
  await stop();
  await store(document);
  const { newest } = (
    await database.sql('select resource_version::int as newest from pergola.metadata')
  )[0] as {
    newest: number;
  };
  await expect(start()).rejects.toThrow(
    new RegExp(`the metadata of version ${newest} cannot be read.*pergola rollback`, 's'),
  );
  const listed = await rollback();
  expect([listed.code, listed.err]).toEqual([0, '']);
  const lines = listed.out.trim().split('\n');
  const versions = Array.from({ length: newest }, (_, i) => `${newest - i}`);
  expect(lines.map((line) => line.split(' ')[0])).toEqual(versions);
  expect(lines.map((line) => line.includes('cannot be read'))).toEqual(versions.map((_, i) => i === 0));
  expect(lines[1]).toContain('track_table');

  for (const refused of [`${newest}`, '99']) {
    const { code, err } = await rollback(refused);
    expect(code).toBe(1);
    expect(err).toContain('pergola rollback: ');
  }
  await expect(start()).rejects.toThrow('pergola rollback');
  for (const [version, tables] of [
    [newest - 1, ['author']],
    [newest - 2, []],
    [newest - 1, ['author']],
  ] as const) {
    expect(await rollback(`${version}`)).toMatchObject({ code: 0, err: '' });
    await start();
    expect(await tablesOf()).toEqual(tables);
    await stop();
  }
});

test.each([[['x']], [['1', '2']], [['-1']], [['--version', '1']]])(
  '%j is refused with a hint',
  async (argv) => {
    const { code, err } = await rollback(...argv);
    expect(code).toBe(2);
    expect(err).toContain('pergola rollback --help');
  },
);

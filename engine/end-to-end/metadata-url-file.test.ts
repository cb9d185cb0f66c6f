/** Tests --metadata-database-url with a file that contains the connection string and changes while the engine runs.
 *  Reference: docs/guides/connecting.md. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';

const served = testDatabase();
const first = testDatabase();
let engine: TestEngine;
const folder = mkdtempSync(join(tmpdir(), 'pergola-metadata-url-'));
const file = join(folder, 'url');
const option = `dynamic-from-file://${file}`;
const name = (role: string) => `${role}_${process.pid}`;

const as = (role: string, { url }: TestDatabase): string => {
  const changed = new URL(url);
  changed.username = name(role);
  changed.password = 'planted';
  return changed.href;
};

beforeAll(async () => {
  for (const role of ['before', 'after'])
    await first.sql(`create role ${name(role)} superuser login password 'planted'`);
  writeFileSync(file, `${as('before', first)}\n`);
  engine = await startTestEngine({ databaseUrl: served.url, metadataDatabaseUrl: option });
}, 180_000);
afterAll(async () => {
  await engine?.close();
  rmSync(folder, { recursive: true, force: true });
});

const usersOf = async (database: TestDatabase) => {
  const rows = await database.sql(
    `select distinct usename from pg_stat_activity where datname = current_database() and application_name like 'pergola%'`,
  );
  return rows.map(({ usename }) => usename);
};

test('the engine stores its metadata where the file says', async () => {
  const added = await engine.admin('create_query_collection', { name: 'a', definition: { queries: [] } });
  expect(added.status).toBe(200);
  expect(await first.sql('select from pergola.metadata limit 1')).toHaveLength(1);
  expect(await usersOf(first)).toEqual([name('before')]);
});

test('after a change of the file, new connections use it, and the engine neither stops nor loses changes', async () => {
  writeFileSync(file, as('after', first));
  await first.sql(`alter role ${name('before')} nologin;
    select pg_terminate_backend(pid) from pg_stat_activity where usename = '${name('before')}'`);
  await expect
    .poll(async () => {
      return (await engine.admin('create_query_collection', { name: 'b', definition: { queries: [] } }))
        .status;
    })
    .toBe(200);
  await expect.poll(() => usersOf(first), { timeout: 10_000 }).toEqual([name('after')]);
  const other = await startTestEngine({
    databaseUrl: served.url,
    metadataDatabaseUrl: option,
    adminSecret: engine.adminSecret,
    schemaSyncPollInterval: 0,
  });
  await other.admin('create_query_collection', { name: 'c', definition: { queries: [] } });
  await other.close();
  const names = async () => {
    const { body } = await engine.admin<{ query_collections: { name: string }[] }>('export_metadata', {});
    return body.query_collections.map((collection) => collection.name);
  };
  await expect.poll(names, { timeout: 10_000 }).toEqual(['a', 'b', 'c']);
});

test('a file that is missing for a moment is an error without secrets, and the next connection reads it again', async () => {
  rmSync(file);
  await first.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${name('after')}'`,
  );
  const change = (collection: string) =>
    engine.admin('create_query_collection', { name: collection, definition: { queries: [] } });
  const refused = await change('d');
  expect(refused).toMatchObject({ status: 500, body: { code: 'postgres-error' } });
  expect(JSON.stringify(refused)).not.toContain('planted');
  writeFileSync(file, as('after', first));
  await expect.poll(async () => (await change('e')).status, { timeout: 10_000 }).toBe(200);
});

test.each([
  [`dynamic-from-file://${folder}/nothing`, 'cannot read the database URL from file'],
  ['dynamic-from-file://url', 'needs an absolute path'],
  [`dynamic-from-file://${folder}/wrong`, 'is not a connection string of Postgres'],
])('%s does not start the engine', async (metadataDatabaseUrl, text) => {
  writeFileSync(join(folder, 'wrong'), 'mysql://planted@somewhere');
  const starting = startTestEngine({ databaseUrl: served.url, metadataDatabaseUrl });
  await expect(starting).rejects.toThrow(text);
  await expect(starting).rejects.not.toThrow('planted');
});

/** An engine that starts on a stored document with objects that cannot be parsed. Behaviour: docs/reference/behaviour/metadata.md,
 *  "Damaged objects". */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonRecord } from '../json/value.ts';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;
const others: AdminTestEngine[] = [];

const permission = (role: string) =>
  op('pg_create_select_permission', { table: 'author', role, permission: { columns: ['id'], filter: {} } });
const cron = (name: string) =>
  op('create_cron_trigger', {
    name,
    webhook: 'http://host',
    schedule: '0 0 1 1 *',
    include_in_metadata: true,
  });

beforeEach(async () => {
  engine = await startTestEngine();
  await engine.must(
    op('run_sql', {
      sql: 'create table author (id int primary key); create table book (id int primary key)',
    }),
  );
  await engine.must(op('pg_track_table', { table: 'author' }));
  for (const operation of [permission('a'), permission('b'), cron('nightly')]) await engine.must(operation);
  for (const role_name of ['x', 'y'])
    await engine.must(op('add_inherited_role', { role_name, role_set: ['a', 'b'] }));
});
afterEach(async () => {
  await Promise.all(others.splice(0).map((other) => other.close()));
  await engine.close();
});

const exported = async (on: AdminTestEngine): Promise<JsonRecord> => {
  const answer = (await on.metadata({ type: 'export_metadata', version: 2, args: {} })).body;
  return (answer as { metadata: JsonRecord }).metadata;
};

/** Stores a full copy of the document in which the value at the path is another one, and starts an engine on it. */
async function startDamaged(path: string, value: unknown): Promise<AdminTestEngine> {
  await engine.state.gateway.store.compact(engine.state.snapshot());
  await engine.database.sql(
    `update pergola.whole set content = jsonb_set(content::jsonb, '${path}', '${JSON.stringify(value)}')::json
      where part = 'document' and resource_version = (select max(resource_version) from pergola.whole where part = 'document')`,
  );
  const other = await startTestEngine({}, engine);
  others.push(other);
  return other;
}

const inconsistent = async (on: AdminTestEngine) => {
  const { body } = await on.metadata(op('get_inconsistent_metadata', { include_keys: true }));
  return (body as { inconsistent_objects: readonly { key: string }[] }).inconsistent_objects.map(
    ({ key }) => key,
  );
};

const circle = [
  { role_set: ['y', 'a'], role_name: 'x' },
  { role_set: ['x', 'a'], role_name: 'y' },
];

test.each<[path: string, value: unknown, key: string]>([
  ['{sources,0,tables,0,select_permissions,1,permission}', 5, 'select_permission/default/public/author/b'],
  ['{cron_triggers,0,schedule}', 'never', 'cron_trigger/nightly'],
  ['{cron_triggers,0,webhook}', 5, 'cron_trigger/nightly'],
  ['{inherited_roles}', circle, 'inherited_role/x'],
  ['{inherited_roles}', 'text', 'inherited_roles'],
])(
  '%s damaged as %j is inconsistent, exported as stored, and kept by later writes',
  async (path, value, key) => {
    const damaged = await startDamaged(path, value);
    const before = await exported(damaged);
    expect(JSON.stringify(before)).toContain(JSON.stringify(value));
    expect(await inconsistent(damaged)).toContain(key);
    expect([...damaged.state.snapshot().model.sources.get('default')!.tables.keys()]).toEqual([
      '["public","author"]',
    ]);

    await damaged.must(op('pg_track_table', { table: 'book' }));
    const restarted = await startTestEngine({}, engine);
    others.push(restarted);
    const after = await exported(restarted);
    expect(JSON.stringify(after)).toContain(JSON.stringify(value));
    expect(await inconsistent(restarted)).toContain(key);
    expect(restarted.state.snapshot().model.sources.get('default')!.tables.size).toBe(2);

    await restarted.must(op('drop_inconsistent_metadata'));
    expect(await inconsistent(restarted)).toEqual([]);
    const last = await startTestEngine({}, engine);
    others.push(last);
    expect(await inconsistent(last)).toEqual([]);
  },
);

test('a list of sources that is no list leaves an engine without sources', async () => {
  const damaged = await startDamaged('{sources}', 'text');
  expect(await inconsistent(damaged)).toContain('sources');
  expect((await exported(damaged))['sources']).toBe('text');
});

test('putting a valid object in place of a damaged one repairs it', async () => {
  const damaged = await startDamaged('{cron_triggers,0,webhook}', 5);
  await damaged.must(cron('nightly'));
  expect(await inconsistent(damaged)).toEqual([]);
  expect((await exported(damaged))['cron_triggers']).toHaveLength(1);
});

test('patch_metadata removes a damaged object by its key, and keeps others', async () => {
  const damaged = await startDamaged('{cron_triggers,0,webhook}', 5);
  await damaged.must(op('patch_metadata', { put: [], remove: [] }));
  expect(await inconsistent(damaged)).toEqual(['cron_trigger/nightly']);
  await damaged.must(op('patch_metadata', { put: [], remove: ['cron_trigger/nightly'] }));
  expect(await inconsistent(damaged)).toEqual([]);
});

test('a document that is no object stops the start with its version', async () => {
  await engine.database.sql(`update pergola.whole set content = '5' where part = 'document'`);
  await expect(startTestEngine({}, engine)).rejects.toThrow(/the metadata of version \d+ cannot be read/);
});

test('a stored change that cannot be parsed damages only its object', async () => {
  await engine.state.gateway.store.compact(engine.state.snapshot());
  await engine.must(permission('c'));
  await engine.database.sql(
    `update pergola.change set edits = jsonb_set(edits::jsonb, '{0,definition,permission}', '5')::json
      where resource_version = (select max(resource_version) from pergola.change)`,
  );
  const other = await startTestEngine({}, engine);
  others.push(other);
  expect(await inconsistent(other)).toEqual(['select_permission/default/public/author/c']);
  await other.must(op('pg_track_table', { table: 'book' }));
  expect(await inconsistent(other)).toEqual(['select_permission/default/public/author/c']);
  await other.must(permission('c'));
  expect(await inconsistent(other)).toEqual([]);
});

test('a running engine follows a change that it cannot parse', async () => {
  const key = 'select_permission/default/public/author/c';
  const edits = JSON.stringify([{ key, definition: { role: 'c', permission: 5 } }]);
  await engine.database.sql(
    `with next as (update pergola.metadata set resource_version = resource_version + 1 returning resource_version)
     insert into pergola.change (resource_version, edits, operator_patches, bytes)
     select resource_version, '${edits}', '[]', 100 from next`,
  );
  await engine.state.refresh();
  expect(await inconsistent(engine)).toEqual([key]);
});

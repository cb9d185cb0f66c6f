/** Tests which parts of a snapshot change when its source is read again. Not here: noticing a change (source-watch.test.ts). */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from '../admin/testing/engine.ts';
import { refreshCatalog } from './refresh-catalog.ts';

let engine: AdminTestEngine;

beforeEach(async () => {
  engine = await startTestEngine({ sourceCheckIntervalMs: 0 });
  await engine.must(op('run_sql', { sql: 'create table author (id int primary key, name text)' }));
  await engine.must(op('track_table', 'author'));
});
afterEach(() => engine.close());

const triggers = () => engine.database.sql("select from pg_trigger where tgrelid = 'author'::regclass");
const again = () => refreshCatalog(engine.state.snapshot(), engine.state.gateway, 'default');
const printsOf = (snapshot: Awaited<ReturnType<typeof again>>) => {
  const catalog = snapshot?.catalogs.get('default');
  return catalog && !('error' in catalog) ? catalog.fingerprints : undefined;
};

test('a change that does not affect the catalog keeps the model and therefore every cached plan', async () => {
  const before = engine.state.snapshot();
  await engine.database.sql('alter table author alter name set statistics 7');
  const after = await again();
  expect(after?.model).toBe(before.model);
  expect(printsOf(after)).not.toEqual(printsOf(before));
});

test('a new column is in the new model, and the stored document is unchanged', async () => {
  const before = engine.state.snapshot();
  await engine.database.sql('alter table author add born date');
  const after = await again();
  const table = after?.model.sources.get('default')?.tables.get('["public","author"]');
  expect(table?.columns.map(({ name }) => name)).toContain('born');
  expect(after?.versions).toEqual(before.versions);
});

test('triggers of a recreated table are restored', async () => {
  const trigger = { name: 'told', webhook: 'http://127.0.0.1:9', insert: { columns: '*' } };
  await engine.must(op('pg_create_event_trigger', { source: 'default', table: 'author', ...trigger }));
  expect(await triggers()).toHaveLength(1);
  await engine.database.sql('drop table author');
  engine.state.publish((await again())!);
  await engine.database.sql('create table author (id int primary key, name text)');
  expect(await triggers()).toHaveLength(0);
  await again();
  expect(await triggers()).toHaveLength(1);
});

test.each(['before the catalog is read', 'while it is read'])(
  'a change that another engine follows %s is left to that engine',
  async (time) => {
    const trigger = { name: 'told', webhook: 'http://127.0.0.1:9', update: { columns: ['name'] } };
    await engine.must(op('pg_create_event_trigger', { source: 'default', table: 'author', ...trigger }));
    const other = await startTestEngine({ sourceCheckIntervalMs: 0 }, engine);
    const outdated = engine.state.snapshot();
    await other.must(op('run_sql', { sql: 'alter table author rename name to title' }));
    const { gateway } = engine.state;
    if (time === 'while it is read') {
      vi.spyOn(gateway.store, 'versions').mockResolvedValue(outdated.versions);
    }
    const next = await refreshCatalog(outdated, gateway, 'default').finally(other.close);
    expect([next === undefined, (await triggers()).length]).toEqual([true, 1]);
  },
);

/** Requests of PermissionTests to a real engine. */
import { beforeAll, expect, test } from 'vitest';
import { replaceMetadata } from '../../testing/engine.ts';
import { testWorld } from '../../testing/world.ts';
import { sendTest } from './permission-test.ts';

const { engine } = testWorld('create table note (id int primary key)');

beforeAll(async () => {
  const select_permissions = [{ role: 'reader', permission: { columns: ['id'], filter: {} } }];
  await replaceMetadata(engine, {
    tables: [{ table: { schema: 'public', name: 'note' }, select_permissions }],
  });
});

test('the engine counts them as a client of their own', async () => {
  const address = { url: engine.url, adminSecret: engine.adminSecret };
  const request = { role: 'reader', query: 'query Notes { note { id } }' };
  expect(await sendTest(address, request)).toEqual({ data: { note: [] }, errors: [] });
  await sendTest({ ...address, client: 'a pipeline' }, request);
  const { body } = await engine.admin<{ operations: readonly object[] }>('get_field_usage', {});
  expect(body.operations).toMatchObject([
    { role: 'reader', operation: 'Notes', client: 'a pipeline', requests: 1 },
    { role: 'reader', operation: 'Notes', client: 'pergola-operator', requests: 1 },
  ]);
});

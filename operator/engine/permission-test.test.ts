/** Requests of PermissionTests to a real engine. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { replaceMetadata, startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { sendTest } from './permission-test.ts';

let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql('create table note (id int primary key)');
  engine = await startTestEngine({ databaseUrl: database.url });
  const select_permissions = [{ role: 'reader', permission: { columns: ['id'], filter: {} } }];
  await replaceMetadata(engine, {
    tables: [{ table: { schema: 'public', name: 'note' }, select_permissions }],
  });
});
afterAll(async () => {
  await engine?.close();
  await database?.drop();
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

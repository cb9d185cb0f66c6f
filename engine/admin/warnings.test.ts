/** Warnings about objects of custom resources, through admin requests. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

const AUTHOR = 'table/default/public/author';
const LEDGER = {
  manager: 'kubernetes',
  objects: { [AUTHOR]: { manager: 'kubernetes', uid: '1', cr: 'Table app/author', hash: 'x' } },
};
const ownTable = op('set_catalog_state', { type: 'operator', state: LEDGER });
const customize = op('set_table_customization', {
  table: 'author',
  configuration: { custom_name: 'writer' },
});
const WARNING = {
  code: 'managed-object',
  message: `${AUTHOR} belongs to the custom resource Table app/author, whose operator may put it back; change that instead`,
  type: 'table',
  name: AUTHOR,
};

beforeEach(async () => {
  engine = await startTestEngine();
  await engine.must(op('run_sql', { sql: 'create table author (id int); create table book (id int)' }));
  await engine.must(op('bulk', [op('track_table', 'author'), op('track_table', 'book'), ownTable]));
});
afterEach(() => engine.close());

const told = () => engine.events.filter(({ kind }) => kind === 'managed objects changed');

test('changing an object that a custom resource owns is answered and logged with a warning', async () => {
  expect(await engine.must(customize)).toEqual({ message: 'success', warnings: [WARNING] });
  expect(told()).toEqual([
    {
      kind: 'managed objects changed',
      by: { author: 'admin', client: null, operations: ['set_table_customization'] },
      keys: [AUTHOR],
    },
  ]);
});

test('in a bulk the answer of the causing operation has the warning', async () => {
  const answer = await engine.must(op('bulk', [op('untrack_table', 'book'), op('untrack_table', 'author')]));
  expect(answer).toEqual([{ message: 'success' }, { message: 'success', warnings: [WARNING] }]);
});

test('SQL that drops the table of a custom resource is answered with a warning', async () => {
  const answer = await engine.must(op('run_sql', { sql: 'drop table author' }));
  expect(answer).toMatchObject({ result_type: 'CommandOk', warnings: [WARNING] });
});

test('objects without an owner, objects nested in an owned one, and dry runs cause no warning', async () => {
  const permission = { table: 'author', role: 'user', permission: { columns: '*', filter: {} } };
  expect(await engine.must(op('create_select_permission', permission))).toEqual({ message: 'success' });
  expect(await engine.must(op('untrack_table', 'book'))).toEqual({ message: 'success' });
  expect(told()).toEqual([]);
});

test('the operator gets no warning about its own changes', async () => {
  const [answer] = (await engine.must(op('bulk_atomic', [customize, ownTable]))) as unknown[];
  expect(answer).toEqual({ message: 'success' });
  expect(told()).toEqual([]);
});

test('with allow_warnings false, replace_metadata is refused if it would remove an owned object', async () => {
  const metadata = { version: 3, sources: [{ ...engine.state.snapshot().metadata.sources[0], tables: [] }] };
  const args = { metadata, allow_warnings: false };
  expect(await engine.metadata(op('replace_metadata', args))).toMatchObject({
    status: 400,
    body: { code: 'metadata-warnings', path: '$.args', internal: [WARNING] },
  });
  expect(engine.state.snapshot().metadata.sources[0]?.tables).toHaveLength(2);
  expect(await engine.metadata(op('replace_metadata', { metadata }))).toMatchObject({
    status: 200,
    body: { is_consistent: true, warnings: [WARNING] },
  });
});

test('with allow_warnings false, inconsistent objects are refused even if they are allowed', async () => {
  const source = engine.state.snapshot().metadata.sources[0];
  const metadata = {
    version: 3,
    sources: [{ ...source, tables: [{ table: 'author' }, { table: 'nobody' }] }],
  };
  const args = { metadata, allow_inconsistent_metadata: true, allow_warnings: false };
  expect(await engine.metadata(op('replace_metadata', args))).toMatchObject({
    status: 400,
    body: { code: 'metadata-warnings', internal: [{ type: 'table' }] },
  });
});

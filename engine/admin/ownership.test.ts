/** Tests who owns which object, and the difference of two versions of the document, which shows no secret. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

beforeEach(async () => {
  engine = await startTestEngine({ metadataRevisions: 10, env: { HOOK: 'http://localhost:1' } });
  await engine.must(op('run_sql', { sql: 'create table book (id int primary key, title text)' }));
});
afterEach(() => engine.close());

const answer = async (type: string, args: unknown = {}) =>
  (await engine.metadata(op(type, args))).body as never;
const version = () => engine.state.snapshot().resourceVersion;
const BOOK = 'table/default/public/book';

test('an engine without an operator owns nothing', async () => {
  await engine.must(op('track_table', 'book'));
  expect(await answer('get_ownership')).toMatchObject({
    is_managed: false,
    resources: [],
    unserved: [],
    released: [],
    unowned: { count: 2, keys: ['source/default', BOOK] },
  });
});

test('resources are listed with what they own, what is missing, and what waits for a confirmation', async () => {
  await engine.must(op('track_table', 'book'));
  const entry = {
    manager: 'm',
    uid: '1',
    cr: 'Table shop/book',
    generation: 3,
    hash: 'h',
    deletionPolicy: 'Delete',
  };
  const reservation = { manager: 'm', cr: 'Table shop/old', releasedAt: '2026-01-01T00:00:00Z' };
  const state = {
    manager: 'm',
    objects: {
      [BOOK]: entry,
      'table/default/public/gone': { ...entry, isPruneHeld: true, revokedAt: '2026-01-02T00:00:00Z' },
      broken: 7,
    },
    reservations: { 'table/default/public/old': reservation },
    unserved: {
      'Table shop/bad': {
        ...{ manager: 'm', reason: 'InvalidSpec', since: '2026-01-03T00:00:00Z' },
        message: 'why',
      },
    },
  };
  await engine.must(op('set_catalog_state', { type: 'operator', state }));
  expect(await answer('get_ownership')).toEqual({
    resource_version: version(),
    is_managed: true,
    resources: [
      {
        ...{ resource: 'Table shop/book', manager: 'm', generation: 3, deletion_policy: 'Delete' },
        ...{ objects: 2, missing: 1, deletion_held: 1 },
      },
    ],
    unserved: [
      {
        ...{ resource: 'Table shop/bad', reason: 'InvalidSpec', since: '2026-01-03T00:00:00Z' },
        message: 'why',
      },
    ],
    released: [
      { key: 'table/default/public/old', resource: 'Table shop/old', released_at: '2026-01-01T00:00:00Z' },
    ],
    unowned: { count: 1, keys: ['source/default'] },
  });
  expect(await answer('get_ownership', { resource: 'Table shop/book' })).toEqual({
    resource: 'Table shop/book',
    objects: [
      { key: BOOK, exists: true, is_deletion_held: false },
      {
        ...{ key: 'table/default/public/gone', exists: false, is_deletion_held: true },
        revoked_at: '2026-01-02T00:00:00Z',
      },
    ],
  });
});

test('the manifest of a resource is returned as the operator has stored it, or that it is too long', async () => {
  const manifest = { apiVersion: 'pergola.dev/v1alpha1', kind: 'Table', spec: { table: 'book' } };
  const record = (text: string) => ({ manager: 'm', manifest: text });
  const manifests = {
    'Table shop/book': record(JSON.stringify(manifest)),
    'Table shop/long': record(''),
    'Table shop/broken': record('{'),
    'Table shop/other': 7,
  };
  await engine.must(
    op('set_catalog_state', { type: 'operator', state: { manager: 'm', objects: {}, manifests } }),
  );
  const of = (resource: string) => answer('get_ownership', { resource });
  const nothing = (resource: string) => ({ resource, objects: [] });
  expect(await of('Table shop/book')).toEqual({ ...nothing('Table shop/book'), manifest });
  expect(await of('Table shop/long')).toEqual({ ...nothing('Table shop/long'), is_manifest_stored: false });
  for (const name of ['Table shop/broken', 'Table shop/other', 'Table shop/unknown', 'constructor']) {
    expect(await of(name)).toEqual(nothing(name));
  }
  expect(JSON.stringify(await answer('get_ownership'))).not.toContain('manifest');
});

test('numbers of a manifest keep all of their digits', async () => {
  const manifest = '{"kind":"Table","spec":{"filter":{"id":{"_gt":9007199254740993}}}}';
  const manifests = { 'Table shop/book': { manager: 'm', manifest } };
  await engine.must(
    op('set_catalog_state', { type: 'operator', state: { manager: 'm', objects: {}, manifests } }),
  );
  const owned = await answer('get_ownership', { resource: 'Table shop/book' });
  expect(JSON.stringify(owned)).toContain('"_gt":9007199254740993');
});

test('the difference of two versions has objects before and after, and who owns them now', async () => {
  await engine.must(op('track_table', 'book'));
  const first = version();
  const permission = { columns: ['id'], filter: {} };
  await engine.must(op('create_select_permission', { table: 'book', role: 'reader', permission }));
  const second = version();
  const configuration = { custom_name: 'Book' };
  await engine.must(op('pg_set_table_customization', { table: 'book', configuration }));
  await engine.must(op('drop_select_permission', { table: 'book', role: 'reader' }));
  const cr = 'Table shop/book';
  const entry = { manager: 'm', uid: '1', cr, generation: 1, hash: 'h', deletionPolicy: 'Delete' };
  await engine.must(op('set_catalog_state', { type: 'operator', state: { objects: { [BOOK]: entry } } }));
  const key = 'select_permission/default/public/book/reader';
  expect(await answer('compare_metadata_revisions', { from: first, to: second })).toEqual({
    ...{ from: first, to: second, count: 1 },
    changes: [{ key, change: 'added', after: expect.objectContaining({ role: 'reader' }) }],
  });
  expect(await answer('compare_metadata_revisions', { from: second })).toMatchObject({
    to: version(),
    changes: [
      { key, change: 'removed', before: { role: 'reader' } },
      { key: BOOK, change: 'changed', owner: cr, after: { configuration } },
    ],
  });
  expect(await answer('compare_metadata_revisions', { from: version() + 1 })).toMatchObject({
    code: 'not-exists',
  });
});

test('a secret is not shown, but that it changed is', async () => {
  const trigger = (secret: string) => ({
    ...{
      name: 'nightly',
      schedule: '0 3 * * *',
      webhook: '{{HOOK}}',
      include_in_metadata: true,
      replace: true,
    },
    headers: [{ name: 'authorization', value: `Bearer ${secret}` }],
  });
  await engine.must(op('create_cron_trigger', trigger('first-secret')));
  const first = version();
  await engine.must(op('create_cron_trigger', trigger('second-secret')));
  const found = await answer('compare_metadata_revisions', { from: first });
  expect(found).toMatchObject({
    changes: [{ key: 'cron_trigger/nightly', change: 'changed', is_hidden: true }],
  });
  expect(JSON.stringify(found)).not.toMatch(/first-secret|second-secret/);
});

test('a dry run lists the objects that it would change and those that it names, with their owners and without secrets', async () => {
  const configuration = { custom_name: 'Book', comment: 'All books' };
  await engine.must(op('track_table', { table: 'book', configuration }));
  const [mine, preset] = [
    'select_permission/default/public/book/reader',
    'insert_permission/default/public/book/reader',
  ];
  const rule = { role: 'reader', permission: { columns: ['id'], filter: {} } };
  const cr = 'TablePermission shop/reader-book';
  const state = { manager: 'm', objects: { [mine]: { manager: 'm', uid: '1', cr } } };
  await engine.must(op('patch_metadata', { put: [{ key: mine, definition: rule }] }));
  await engine.must(op('set_catalog_state', { type: 'operator', state }));
  const put = [
    { key: BOOK, definition: { table: 'book' } },
    { key: mine, definition: rule },
    { key: preset, definition: { role: 'reader', permission: { check: {}, set: { title: 'a-secret' } } } },
  ];
  const read = version();
  const found = await answer('patch_metadata', { put, dry_run: true, include_changes: true });
  expect(found).toMatchObject({
    resource_version: read,
    count: 2,
    changes: [
      { key: preset, change: 'added' },
      { key: mine, change: 'unchanged', owner: cr },
      { key: BOOK, change: 'changed', before: { configuration }, after: {} },
    ],
  });
  expect(JSON.stringify(found)).not.toContain('a-secret');
  expect((found as { changes: { after?: object }[] }).changes[2]!.after).not.toHaveProperty('configuration');
  expect(await answer('patch_metadata', { put, include_changes: true })).toMatchObject({
    code: 'parse-failed',
    path: '$.args.include_changes',
  });
  const change = { ...op('patch_metadata', { put: [] }), resource_version: read - 1 };
  expect((await engine.metadata(change)).body).toMatchObject({ code: 'conflict' });
});

test('an object is described with its owner, and with the definitions of nested objects on request', async () => {
  await engine.must(op('track_table', 'book'));
  const key = 'select_permission/default/public/book/reader';
  const definition = { role: 'reader', permission: { columns: ['id'], filter: {} } };
  await engine.must(op('patch_metadata', { put: [{ key, definition }] }));
  const cr = 'Table shop/book';
  const state = { manager: 'm', objects: { [BOOK]: { manager: 'm', uid: '1', cr } } };
  expect(await answer('describe_object', { key: BOOK })).not.toHaveProperty('owner');
  await engine.must(op('set_catalog_state', { type: 'operator', state }));
  expect(await answer('describe_object', { key: BOOK })).not.toHaveProperty('objects.0.definition');
  expect(await answer('describe_object', { key: BOOK, include_nested: true })).toMatchObject({
    owner: cr,
    objects: [{ key, definition }],
  });
});

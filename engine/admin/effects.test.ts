/** The effects that a dry run reports: access per permission, and the schema of each role. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Effects } from './effects.ts';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

const READER = 'select_permission/default/public/author/reader';
const reader = (columns: readonly string[], filter: object = {}) => ({
  key: READER,
  definition: { role: 'reader', permission: { columns, filter } },
});

beforeAll(async () => {
  engine = await startTestEngine();
  await engine.must(op('run_sql', { sql: 'create table author (id int, name text, born int)' }));
  await engine.must(op('track_table', 'author'));
  await engine.must(op('patch_metadata', { put: [reader(['id', 'name'], { born: { _gt: 1900 } })] }));
});
afterAll(() => engine.close());

async function effects(type: string, args: object): Promise<Effects> {
  const version = type === 'replace_metadata' ? { version: 2 } : {};
  const answer = await engine.must({
    ...op(type, { ...args, dry_run: true, include_effects: true }),
    ...version,
  });
  return (answer as { readonly effects: Effects }).effects;
}

test('a patch: the permission reaches more rows and fewer columns, and a field is gone', async () => {
  const found = await effects('patch_metadata', { put: [reader(['id'])] });
  expect(found).toMatchObject({
    access: [
      {
        key: READER,
        role: 'reader',
        verdict: 'other',
        parts: [
          { name: 'columns', verdict: 'narrower' },
          { name: 'filter', verdict: 'wider' },
        ],
      },
    ],
    is_complete: true,
  });
  expect(found.schemas.map(({ role }) => role)).toEqual(['reader']);
  expect(found.schemas[0]!.changes).toContainEqual({
    severity: 'breaking',
    type: 'FIELD_REMOVED',
    description: 'Field author.name was removed.',
  });
});

test('removing the table removes its permissions', async () => {
  const found = await effects('patch_metadata', { remove: ['table/default/public/author'] });
  expect(found.access).toMatchObject([{ key: READER, change: 'revoked' }]);
  expect(found.schemas).toMatchObject([{ role: 'reader', breaking: 1, changes: [{ type: 'ROLE_REMOVED' }] }]);
});

test('a replacement and a rollback report the same', async () => {
  const { resource_version, metadata } = (await engine.must({
    ...op('export_metadata', {}),
    version: 2,
  })) as { resource_version: number; metadata: object };
  expect(await effects('replace_metadata', { metadata })).toEqual({
    access: [],
    schemas: [],
    is_complete: true,
  });
  await engine.must(op('patch_metadata', { put: [reader(['id'])] }));
  const back = await effects('rollback_metadata', { resource_version });
  expect(back.access).toMatchObject([{ key: READER, verdict: 'other' }]);
  expect(back.schemas).toMatchObject([{ role: 'reader', breaking: 0 }]);
});

test('a change of permissions compares the roles that have them or inherit them, and other changes every role', async () => {
  const select = (role: string, columns: readonly string[]) => ({
    key: `select_permission/default/public/author/${role}`,
    definition: { role, permission: { columns, filter: {} } },
  });
  const inherits = (role_name: string, ...role_set: readonly string[]) => ({
    key: `inherited_role/${role_name}`,
    definition: { role_name, role_set },
  });
  const put = [
    ...['one', 'two'].map((role) => select(role, ['id', 'name', 'born'])),
    // Each comes before its parent.
    ...[
      inherits('a-last', 'b-last'),
      inherits('b-last', 'c-last'),
      inherits('c-last', 'child'),
      inherits('child', 'one'),
      inherits('other', 'two'),
    ],
  ];
  await engine.must(op('patch_metadata', { put }));
  const broken = async (args: object) =>
    (await effects('patch_metadata', args)).schemas
      .filter(({ breaking }) => breaking > 0)
      .map(({ role }) => role);
  expect(await broken({ put: [select('one', ['id', 'name'])] })).toEqual([
    'a-last',
    'b-last',
    'c-last',
    'child',
    'one',
  ]);
  expect(await broken({ put: [select('one', ['id']), select('two', ['id'])] })).toEqual([
    'a-last',
    'b-last',
    'c-last',
    'child',
    'one',
    'other',
    'two',
  ]);
  const table = {
    table: { schema: 'public', name: 'author' },
    configuration: { column_config: { name: { custom_name: 'called' } } },
  };
  const every = await broken({ put: [{ key: 'table/default/public/author', definition: table }] });
  expect(every).toEqual(expect.arrayContaining(['one', 'two', 'child', 'other']));
  await engine.must(op('patch_metadata', { remove: put.map(({ key }) => key) }));
});

test('nothing is stored, and without the option there are no effects', async () => {
  const before = engine.state.snapshot().resourceVersion;
  await effects('patch_metadata', { remove: [READER] });
  expect(engine.state.snapshot().resourceVersion).toBe(before);
  const plain = await engine.must(op('patch_metadata', { remove: [READER], dry_run: true }));
  expect(plain).not.toHaveProperty('effects');
});

test('a request that is no dry run is refused, and writes nothing', async () => {
  const before = engine.state.snapshot().resourceVersion;
  const answer = await engine.query(op('patch_metadata', { remove: [READER], include_effects: true }));
  expect(answer).toMatchObject({
    status: 400,
    body: {
      code: 'parse-failed',
      path: '$.args.include_effects',
      error: 'include_effects needs dry_run: true',
    },
  });
  expect(engine.state.snapshot().resourceVersion).toBe(before);
});

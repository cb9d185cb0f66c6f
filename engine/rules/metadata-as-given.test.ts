/** The document is exported as it was given. The documents are generated from the declared model: every optional member of every object
 *  with null, empty, with its default, with another value and absent; all of them also through the API of a real engine.
 *  Rule: docs/reference/behaviour/metadata.md, "Export". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { FULL, replaced, VARIANTS, type Variant } from '../../testing/metadata-variants.ts';
import { testDatabase } from '../../testing/world.ts';
import { isRecord, isSameJson, type JsonRecord } from '../json/value.ts';
import { exportMetadata } from '../metadata/export.ts';
import { parseDocument } from '../metadata/parse.ts';

/** Forms that are kept as given although another one has the same meaning. */
const OTHER_FORMS: readonly (readonly [string, Variant['path'], unknown])[] = [
  [
    'the naming convention of the reference',
    ['sources', 0, 'customization', 'naming_convention'],
    'hasura-default',
  ],
  ['the kind of an action as the command line writes it', ['actions', 0, 'definition', 'kind'], ''],
  [
    'a root field with its name only',
    ['sources', 0, 'tables', 0, 'configuration', 'custom_root_fields', 'select'],
    { name: 'a', comment: null },
  ],
  [
    'the type of a field with its nullability',
    ['sources', 0, 'logical_models', 0, 'fields', 0],
    { name: 'a', type: { scalar: 'integer', nullable: false } },
  ],
  [
    'a flat relationship to a remote schema',
    ['sources', 0, 'tables', 0, 'remote_relationships', 0, 'definition'],
    { remote_schema: 'a', hasura_fields: ['id'], remote_field: { f: { arguments: { id: '$id' } } } },
  ],
  [
    'one column of a foreign key',
    ['sources', 0, 'tables', 0, 'object_relationships', 0, 'using'],
    { foreign_key_constraint_on: 'a' },
  ],
];

/** Forms that are exported as the reference exports them. */
const LONG_FORMS: readonly (readonly [string, Variant['path'], unknown, unknown])[] = [
  ['the bare name of a table', ['sources', 0, 'tables', 0, 'table'], 'a', { name: 'a', schema: 'public' }],
  [
    'the bare name of a function',
    ['sources', 0, 'functions', 0, 'function'],
    'a',
    { name: 'a', schema: 'public' },
  ],
  ['kind pg', ['sources', 0, 'kind'], 'pg', 'postgres'],
  [
    'a list of one column',
    ['sources', 0, 'tables', 0, 'object_relationships', 0, 'using'],
    { foreign_key_constraint_on: ['a'] },
    { foreign_key_constraint_on: 'a' },
  ],
  [
    'the identifier of the specification',
    ['sources', 0, 'tables', 0, 'configuration'],
    { identifier: 'a' },
    { custom_name: 'a' },
  ],
];

describe('a document is exported as it was given', () => {
  test('with every member', () => {
    expect(VARIANTS.length).toBeGreaterThan(400);
    expect(exportMetadata(parseDocument(FULL))).toEqual(FULL);
  });
  test.each(['null', 'absent', 'empty', 'default', 'chosen'])('with each optional member %s', (kind) => {
    const variants = VARIANTS.filter((variant) => variant.kind === kind);
    expect(variants.length).toBeGreaterThan(20);
    const lost = variants.filter(({ path, value }) => {
      const given = replaced(FULL, path, value);
      return !isSameJson(exportMetadata(parseDocument(given)), given);
    });
    expect(lost.map(({ path }) => path.join('.'))).toEqual([]);
  });
  test.each(OTHER_FORMS)('%s', (_name, path, value) => {
    const given = replaced(FULL, path, value);
    expect(exportMetadata(parseDocument(given))).toEqual(given);
  });
  test.each(LONG_FORMS)('but %s in its long form', (_name, path, value, long) => {
    expect(exportMetadata(parseDocument(replaced(FULL, path, value)))).toEqual(replaced(FULL, path, long));
  });
  test('but without keys that the model does not have', () => {
    const given = replaced(FULL, ['sources', 0, 'tables', 0], {
      table: { schema: 'public', name: 'a', x: 1 },
      unknown: 1,
    });
    const kept = replaced(FULL, ['sources', 0, 'tables', 0], { table: { schema: 'public', name: 'a' } });
    expect(exportMetadata(parseDocument(given))).toEqual(kept);
  });
});

describe('by the API', () => {
  const database = testDatabase();
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startTestEngine({ databaseUrl: database.url });
  });
  afterAll(() => engine.close());
  const apply = async (metadata: unknown) => {
    const args = { allow_inconsistent_metadata: true, metadata };
    const { status, body } = await engine.admin('replace_metadata', args, { version: 2 });
    expect([status, status === 200 || body]).toEqual([200, true]);
  };
  const exported = async () => (await engine.admin('export_metadata', {})).body;

  /** Each kind of value at as many members at once as fit: a member within one that is gone is skipped. */
  const documents = ['null', 'absent', 'empty', 'default', 'chosen'].map((kind) => {
    const outermost = VARIANTS.filter((variant) => variant.kind === kind && variant.path.length > 2);
    const given = outermost.reduce<unknown>((made, { path, value }) => {
      const owner = path
        .slice(0, -1)
        .reduce<unknown>((inner, key) => (inner as JsonRecord | undefined)?.[key as string], made);
      return isRecord(owner) ? replaced(made, path, value) : made;
    }, FULL);
    return [kind, given] as const;
  });

  test.each([['sample', FULL] as const, ...documents])('%s', async (_kind, given) => {
    await apply(given);
    expect(await exported()).toEqual(given);
    // An edit elsewhere changes nothing of it.
    const collection = { name: 'z', definition: { queries: [] } };
    await engine.must('create_query_collection', collection);
    expect(await engine.admin('drop_query_collection', { collection: 'z', cascade: true })).toMatchObject({
      status: 200,
    });
    expect(await exported()).toEqual(given);
  });
});

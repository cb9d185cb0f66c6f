/** The document is exported as it was given. The documents are generated from the declared model: every optional member of every object
 *  with null, empty, with its default, with another value and absent; all of them also through the API of a real engine.
 *  Rule: docs/reference/behaviour/metadata.md, "Export". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { isRecord, isSameJson, type JsonRecord } from '../json/value.ts';
import { exportMetadata } from '../metadata/export.ts';
import { DEFAULTS } from '../metadata/normal-form.ts';
import { parseDocument } from '../metadata/parse.ts';
import { CHOICE_MARK } from '../metadata/schema/common.ts';
import { Metadata } from '../metadata/schema/metadata.ts';
import { asJsonSchema, type JsonSchema } from '../metadata/walk-schema.ts';

/** Values of members that a schema alone does not make valid. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  name: 'a',
  code: 'select 1',
  schedule: '* * * * *',
  role_set: ['b'],
  template: '{{$.default}}',
  database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' },
  ssl_configuration: { sslmode: 'prefer' },
  foreign_key_constraint_on: { table: { schema: 'public', name: 'b' }, columns: ['a', 'b'] },
  cleanup_config: { schedule: '* * * * *', clear_older_than: 1 },
};

/** Returns a value that fits the schema, with a sample of each optional member. */
function sampleOf(schema: JsonSchema, key = ''): unknown {
  if (SAMPLES[key] !== undefined) return SAMPLES[key];
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf) return sampleOf(schema.anyOf.find(({ type }) => type !== 'null')!);
  if (schema.items) return [sampleOf(schema.items)];
  if (schema.patternProperties) return { a: sampleOf(Object.values(schema.patternProperties)[0]!) };
  if (schema.properties) {
    const choice = schema[CHOICE_MARK]?.slice(1) ?? [];
    const members = Object.entries(schema.properties)
      .filter(([name]) => !choice.includes(name))
      .slice(0, schema.maxProperties);
    return Object.fromEntries(members.map(([name, member]) => [name, sampleOf(member, name)]));
  }
  const byType: Record<string, unknown> = {
    // The only other pattern is that of an absolute path.
    string: schema.pattern?.startsWith('^/') ? '/a' : 'a',
    boolean: true,
    integer: schema.minimum ?? 1,
    number: 1,
    object: {},
  };
  return schema.type === undefined ? { any: [1] } : byType[schema.type];
}

type Variant = {
  readonly path: readonly (string | number)[];
  readonly kind: string;
  readonly value: unknown;
};

const ABSENT = Symbol('absent');

/** Returns other values of each optional member within the value, with the path of the member. */
function* variantsOf(schema: JsonSchema, value: unknown, path: Variant['path'] = []): Generator<Variant> {
  if (schema.anyOf) {
    const branch = schema.anyOf.find(({ type }) => type !== 'null')!;
    yield* variantsOf(branch, value, path);
  } else if (schema.items && Array.isArray(value)) {
    yield* variantsOf(schema.items, value[0], [...path, 0]);
  } else if (schema.patternProperties && isRecord(value)) {
    yield* variantsOf(Object.values(schema.patternProperties)[0]!, value['a'], [...path, 'a']);
  } else if (schema.properties && isRecord(value)) {
    const defaults = DEFAULTS.get(schema.properties) ?? {};
    for (const [key, member] of Object.entries(schema.properties)) {
      if (value[key] === undefined) continue;
      const at = [...path, key];
      if (schema[CHOICE_MARK]?.includes(key)) {
        yield* choicesOf(schema, value, path);
        continue;
      }
      if (!schema.required?.includes(key) && schema.minProperties === undefined) {
        yield { path: at, kind: 'null', value: null };
        yield { path: at, kind: 'absent', value: ABSENT };
        if (member.type === 'array') yield { path: at, kind: 'empty', value: [] };
        if (member.patternProperties) yield { path: at, kind: 'empty', value: {} };
        if (member.properties && !member.required) yield { path: at, kind: 'empty', value: {} };
        if (key in defaults) yield { path: at, kind: 'default', value: defaults[key] };
      }
      yield* variantsOf(member, value[key], at);
    }
  }
}

/** Returns the object with each other member of those of which it has exactly one. */
function* choicesOf(schema: JsonSchema, value: JsonRecord, path: Variant['path']): Generator<Variant> {
  const [first = '', ...others] = schema[CHOICE_MARK] ?? [];
  const { [first]: _, ...rest } = value;
  for (const name of others) {
    yield { path, kind: 'chosen', value: { ...rest, [name]: sampleOf(schema.properties![name]!, name) } };
  }
}

/** Returns the value with another one at the path. */
function replaced(value: unknown, [key, ...rest]: Variant['path'], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? replaced(item, rest, by) : item));
  const { [key]: old, ...others } = value as JsonRecord;
  const next = replaced(old, rest, by);
  return next === ABSENT ? others : { ...others, [key]: next };
}

const SCHEMA = asJsonSchema(Metadata);
const FULL = ['scalars', 'enums', 'input_objects', 'objects'].reduce<unknown>(
  (made, category) => replaced(made, ['custom_types', category, 0, 'name'], category),
  sampleOf(SCHEMA),
);
const VARIANTS = [...variantsOf(SCHEMA, FULL)];

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
  let database: TestDatabase;
  let engine: TestEngine;
  beforeAll(async () => {
    database = await createDatabase();
    engine = await startTestEngine({ databaseUrl: database.url });
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });
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
    expect(await engine.admin('create_query_collection', collection)).toMatchObject({ status: 200 });
    expect(await engine.admin('drop_query_collection', { collection: 'z', cascade: true })).toMatchObject({
      status: 200,
    });
    expect(await exported()).toEqual(given);
  });
});

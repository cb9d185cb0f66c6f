/** A repository of the reference that is imported and exported has no changed line: as a directory of files, as one JSON document by the API, and
 *  by a client that sends the document with sorted keys, as the command line of the reference does.
 *  Rule: docs/reference/behaviour/metadata.md, "Export". */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { printPath } from '../errors/engine-error.ts';
import { isRecord, type JsonRecord } from '../json/value.ts';
import { FILES, includedFile, toDirectory } from '../metadata/directory.ts';
import { fromDirectory } from '../metadata/read-directory.ts';
import { printYaml, YAML_SCHEMA } from '../metadata/yaml.ts';
import { readDirectory, writeDirectory } from '../store/directory.ts';
import { REPOSITORIES } from './testing/repositories.ts';

const repositories = Object.entries(REPOSITORIES);
const folderOf = (files: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-repository-'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
};

describe('a directory', () => {
  test.each(repositories)('%s is written as it was read, into an empty folder', (_name, files) => {
    expect(Object.fromEntries(toDirectory(readDirectory(folderOf(files))))).toEqual(files);
  });
  test.each(repositories)('%s keeps comments and other quotes of its files', async (_name, files) => {
    const file = 'version.yaml';
    const own = Object.fromEntries(
      Object.entries(files).map(([name, text]) => [
        name,
        `# ours\n${text.replaceAll('"!', "'!").replaceAll('yaml"', "yaml'")}\n`,
      ]),
    );
    const folder = folderOf(own);
    for (let i = 0; i < 2; i++) await writeDirectory(folder, readDirectory(folder));
    for (const [name, text] of Object.entries(own))
      expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
    expect(own[file]).toContain('# ours');
  });
});

describe('a key that the model does not have', () => {
  const loaded = (text: string) => load(text, { schema: YAML_SCHEMA });
  type Path = readonly (string | number)[];
  /** The paths of the objects in a value, `[]` for the value itself. */
  const objectsIn = (value: unknown, path: Path = []): Path[] =>
    Array.isArray(value)
      ? value.flatMap((item, i) => objectsIn(item, [...path, i]))
      : isRecord(value)
        ? [path, ...Object.entries(value).flatMap(([key, item]) => objectsIn(item, [...path, key]))]
        : [];
  const withKey = (value: unknown, [step, ...rest]: Path): unknown => {
    if (step === undefined) return { ...(value as JsonRecord), zz_more: 'x' };
    if (Array.isArray(value)) return value.map((item, i) => (i === step ? withKey(item, rest) : item));
    return { ...(value as JsonRecord), [step]: withKey((value as JsonRecord)[step], rest) };
  };

  /** Returns `kept`, or the position that is named for the key: in the report, or in the error if its value is no value of a map. */
  const outcomeOf = (read: Parameters<typeof fromDirectory>[0]) => {
    try {
      const { metadata, unknown } = fromDirectory(read);
      return [...toDirectory(metadata).values()].join('').includes('zz_more') ? 'kept' : unknown.join();
    } catch (error) {
      return /^.*?zz_more/.exec((error as Error).message)?.[0];
    }
  };

  test.each(repositories)('is kept or named with its file and path, anywhere in %s', (_name, files) => {
    expect(fromDirectory((name) => files[name]).unknown).toEqual([]);
    for (const [file, text] of Object.entries(files).filter(([name]) => name.endsWith('.yaml'))) {
      for (const path of objectsIn(loaded(text))) {
        const own = printYaml(withKey(loaded(text), path));
        const position = `${file}: ${printPath([...path, 'zz_more'])}`;
        expect([position, outcomeOf((name) => (name === file ? own : files[name]))]).toEqual([
          position,
          expect.toBeOneOf(['kept', position]),
        ]);
      }
    }
  });
});

/** Returns the document of a directory, read without the code under test. */
function documentOf(files: Readonly<Record<string, string>>): JsonRecord {
  const resolve = (value: unknown, file: string): unknown => {
    const included = includedFile(value);
    if (included !== undefined) return read(join(dirname(file), included));
    if (Array.isArray(value)) return value.map((item) => resolve(item, file));
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, file)]));
  };
  const read = (file: string): unknown => resolve(load(files[file] ?? 'null', { schema: YAML_SCHEMA }), file);
  const sources = read('databases/databases.yaml') as readonly JsonRecord[];
  const rest = FILES.map(({ file, key }) => [key, read(file)] as const).filter(([, value]) => value !== null);
  // The JSON of the reference has the parts of a source in another order than its files.
  const arranged = sources.map(
    ({ name, kind, tables, functions, native_queries, logical_models, ...more }) => ({
      name,
      kind,
      tables,
      ...(functions === undefined ? {} : { functions }),
      ...(native_queries === undefined ? {} : { native_queries }),
      ...(logical_models === undefined ? {} : { logical_models }),
      ...more,
    }),
  );
  return { version: 3, sources: arranged, ...Object.fromEntries(rest), ...ACTIONS_AS_JSON };
}

const ACTIONS_AS_JSON = {
  actions: [
    {
      name: 'login',
      definition: {
        handler: 'http://a/login',
        output_type: 'Session',
        forward_client_headers: true,
        headers: [{ name: 'a', value: 'b' }],
        arguments: [{ name: 'email', type: 'String!' }],
        type: 'mutation',
        kind: 'synchronous',
        timeout: 60,
      },
      comment: 'signs in',
      permissions: [{ role: 'z' }, { role: 'a' }],
    },
  ],
  custom_types: {
    input_objects: [{ name: 'B', fields: [{ name: 'y', type: 'Int', description: 'd' }] }],
    objects: [
      { name: 'Session', fields: [{ name: 'token', type: 'String' }] },
      { name: 'Author', fields: [{ name: 'mood', type: 'Mood' }], description: 'writes' },
    ],
    scalars: [{ name: 'Zone' }, { name: 'Day' }],
    enums: [{ name: 'Mood', values: [{ description: null, is_deprecated: null, value: 'glad' }] }],
  },
};

/** Returns the value with the keys of its objects sorted. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, sorted(item)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

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
    await engine.must('replace_metadata', args, { version: 2 });
  };
  const text = (document: unknown) => JSON.stringify(document, null, 1);
  const exported = async () => text((await engine.admin('export_metadata', {})).body);
  const perform = (type: string, args: object) => engine.must(type, args);

  test.each(repositories)('%s is exported as it was given, each time', async (_name, files) => {
    const document = documentOf(files);
    for (let i = 0; i < 2; i++) {
      await apply(document);
      expect(await exported()).toBe(text(document));
    }
  });

  test.each(repositories.filter(([name]) => name !== 'two sources'))(
    '%s is exported in the order of the reference when it was sent with sorted keys',
    async (_name, files) => {
      const document = documentOf(files);
      const given = {
        ...document,
        sources: (document['sources'] as readonly JsonRecord[]).map(withSortedPools),
      };
      await apply(sorted(given));
      const keys = Object.keys(JSON.parse(await exported()));
      const { version, sources, ...rest } = given as JsonRecord;
      const all = Object.fromEntries(keys.map((key) => [key, { version, sources, ...rest }[key]]));
      expect(keys.slice(0, 2)).toEqual(['version', 'sources']);
      expect(await exported()).toBe(text(all));
    },
  );

  test.each(repositories)('a change elsewhere keeps the order of the rest of %s', async (_name, files) => {
    const document = documentOf(files);
    await apply(document);
    await perform('create_query_collection', { name: 'zzz', definition: { queries: [] } });
    await perform('drop_query_collection', { collection: 'zzz', cascade: true });
    await perform('create_action_permission', { action: 'login', role: 'm' });
    const [login] = ACTIONS_AS_JSON.actions;
    const permissions = [{ role: 'z' }, { role: 'a' }, { role: 'm' }];
    const { query_collections: collections, ...rest } = document;
    const kept = (collections as readonly unknown[]).length > 0 ? document : rest;
    expect(await exported()).toBe(text({ ...kept, actions: [{ ...login, permissions }] }));
  });
});

/** The files have these keys in the order of an earlier version. */
function withSortedPools(source: JsonRecord): JsonRecord {
  return { ...source, configuration: sorted(source['configuration']) };
}

test('with the names of the reference, by the API and by --metadata-dir', async () => {
  const database = await createDatabase();
  await database.sql('create table mood (value text primary key); create table "user" (id int primary key)');
  const options = { databaseUrl: database.url, headerPrefix: 'x-hasura-' };
  const named = (text: string) => text.replaceAll('X-Engine', 'X-Hasura').replaceAll('x-engine', 'x-hasura');
  const document = JSON.parse(named(JSON.stringify(documentOf(REPOSITORIES['blog']!))));
  const first = await startTestEngine(options);
  const args = { allow_inconsistent_metadata: true, metadata: document };
  await first.must('replace_metadata', args, { version: 2 });
  expect(JSON.stringify((await first.admin('export_metadata', {})).body)).toBe(JSON.stringify(document));
  await first.close();
  await database.sql(`create table post (id int primary key, author_id int references "user", title text, body text, published bool,
    hidden_at timestamptz); create table score (id int primary key, post_id int); insert into mood values ('glad')`);
  const files = Object.fromEntries(
    Object.entries(REPOSITORIES['blog']!).map(([file, text]) => [file, named(text)]),
  );
  const folder = folderOf({
    ...files,
    'databases/default/tables/tables.yaml': `${files['databases/default/tables/tables.yaml']!.replace('- "!include public_user', '- "!include public_score.yaml"\n- "!include public_user')}`,
    'databases/default/tables/public_score.yaml': 'table:\n  name: score\n  schema: public\n',
  });
  const second = await startTestEngine({ ...options, metadataDir: folder });
  const { body } = await second.admin<Parameters<typeof writeDirectory>[1]>('export_metadata', {});
  expect(JSON.stringify(body)).toContain('X-Hasura-User-Id');
  expect(JSON.stringify(body)).not.toContain('ngine-');
  await second.close();
  await database.drop();
});

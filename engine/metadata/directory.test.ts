/** The metadata directory, written and read back. */
import '../../testing/seed.ts';
import { array, assert, constantFrom, property, string, tuple } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Files, toDirectory } from './directory.ts';
import { exportMetadata } from './export.ts';
import { parseMetadata } from './parse.ts';
import { DirectoryError, fromDirectory } from './read-directory.ts';
import type { Metadata } from './schema/metadata.ts';

const connection = {
  connection_info: { database_url: { from_env: 'URL' }, isolation_level: 'serializable' },
};
const library = parseMetadata({
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: connection,
      tables: [
        {
          table: 'author',
          array_relationships: [
            { name: 'books', using: { foreign_key_constraint_on: { table: 'book', column: 'author_id' } } },
          ],
          select_permissions: [
            { role: 'user', permission: { columns: ['id'], filter: { id: { _eq: 'X-Engine-User-Id' } } } },
          ],
        },
        { table: { schema: 'app', name: 'book' } },
      ],
      functions: [{ function: { schema: 'app', name: 'find' }, permissions: [{ role: 'user' }] }],
    },
    { name: 'archive', kind: 'postgres', configuration: connection, tables: [] },
  ],
  query_collections: [
    { name: 'c', definition: { queries: [{ name: 'q', query: 'query {\n  author { id }\n}' }] } },
  ],
  allowlist: [{ collection: 'c' }],
  graphql_schema_introspection: { disabled_for_roles: ['user'] },
  api_limits: { depth_limit: { global: 5 } },
  network: { tls_allowlist: [{ host: 'a', suffix: '1' }] },
});

const readFrom = (files: Files) => fromDirectory((file) => files.get(file));
const printed = (metadata: Metadata) => JSON.stringify(exportMetadata(metadata));
const withFile = (file: string, text: string) => new Map(toDirectory(library)).set(file, text);
const problemOf = (files: Files): string => {
  try {
    readFrom(files);
  } catch (error) {
    if (error instanceof DirectoryError) return error.message;
    throw error;
  }
  return 'none';
};

describe('written', () => {
  test('each table and function has its file, and lists include them', () => {
    const files = toDirectory(library);
    expect([...files.keys()].sort()).toEqual([
      'allow_list.yaml',
      'api_limits.yaml',
      'databases/archive/tables/tables.yaml',
      'databases/databases.yaml',
      'databases/default/functions/app_find.yaml',
      'databases/default/functions/functions.yaml',
      'databases/default/tables/app_book.yaml',
      'databases/default/tables/public_author.yaml',
      'databases/default/tables/tables.yaml',
      'graphql_schema_introspection.yaml',
      'network.yaml',
      'query_collections.yaml',
      'version.yaml',
    ]);
    expect(files.get('version.yaml')).toBe('version: 3\n');
    expect(files.get('databases/default/tables/tables.yaml')).toBe(
      '- "!include app_book.yaml"\n- "!include public_author.yaml"\n',
    );
    expect(files.get('databases/databases.yaml')).toContain('tables: "!include default/tables/tables.yaml"');
    expect(files.get('databases/default/functions/app_find.yaml')).toBe(
      'function:\n  schema: app\n  name: find\npermissions:\n  - role: user\n',
    );
  });

  test('equal documents are equal files, whatever order they were made in', () => {
    const [first, ...rest] = library.sources;
    const shuffled = { ...library, sources: [{ ...first!, tables: first!.tables.toReversed() }, ...rest] };
    expect([...toDirectory(shuffled)]).toEqual([...toDirectory(library)]);
  });

  test('names that would be one file, another folder or no file are kept apart', () => {
    const names = [
      { schema: 'a_b', name: 'c' },
      { schema: 'a', name: 'b_c' },
      { schema: 'a', name: 'B_C' },
      { schema: '..', name: '../../x' },
      { schema: 'a', name: 'x:*?' },
    ];
    const document = parseMetadata({
      version: 3,
      sources: [
        {
          name: '..',
          kind: 'postgres',
          configuration: connection,
          tables: names.map((table) => ({ table })),
        },
        { name: 'databases.yaml', kind: 'postgres', configuration: connection, tables: [] },
      ],
    });
    const files = toDirectory(document);
    const folded = [...files.keys()].map((file) => file.toLowerCase());
    expect(new Set(folded).size).toBe(folded.length);
    for (const file of folded) expect(file.split('/')).not.toContain('..');
    expect(printed(readFrom(files).metadata)).toBe(printed(document));
  });
});

describe('read back', () => {
  test('it is the document, byte for byte, and the same files', () => {
    const { metadata, files } = readFrom(toDirectory(library));
    expect(printed(metadata)).toBe(printed(library));
    expect([...toDirectory(metadata)]).toEqual([...toDirectory(library)]);
    expect([...files].sort()).toEqual([...toDirectory(library).keys()].sort());
  });

  test('any text in it comes back as it was', () => {
    const awkward = constantFrom(
      'yes',
      '0x1f',
      '1e3',
      '2001-01-01',
      '~',
      ' a',
      'a: b',
      '- x',
      '!include x',
      '#',
      '\n',
    );
    assert(
      property(
        array(tuple(awkward, string({ unit: 'binary', maxLength: 12 })), { maxLength: 4 }),
        (texts) => {
          const queries = texts.map(([a, b], i) => ({
            name: `q${i}${a}`,
            query: `${a}${b.replaceAll('\0', '')}x`,
          }));
          const document = { ...library, query_collections: [{ name: 'c', definition: { queries } }] };
          expect(printed(readFrom(toDirectory(document)).metadata)).toBe(printed(document));
        },
      ),
      { numRuns: 100 },
    );
  });

  test('an include may be a tag', () => {
    const text = '- !include app_book.yaml\n- !include "public_author.yaml"\n';
    const { metadata } = readFrom(withFile('databases/default/tables/tables.yaml', text));
    expect(printed(metadata)).toBe(printed(library));
  });

  test('an older directory is source `default`', () => {
    const files = new Map([
      ['version.yaml', 'version: 2'],
      ['tables.yaml', '- table: author\n- table: book\n'],
      ['functions.yaml', '[]'],
      ['query_collections.yaml', ''],
    ]);
    const [source] = readFrom(files).metadata.sources;
    expect(source).toMatchObject({ name: 'default', tables: [{ table: { name: 'author' } }, {}] });
  });

  test.each(['', '\n', '# - !include one.yaml\n', '---\n# none\n', 'null'])(
    'a file may be empty or have only comments: %j',
    (text) => {
      const empty = (file: string) => readFrom(withFile(file, text)).metadata;
      expect(empty('allow_list.yaml').allowlist).toBeUndefined();
      expect(empty('actions.yaml').actions).toBeUndefined();
      expect(empty('databases/default/tables/tables.yaml').sources[0]!.tables).toEqual([]);
      expect(empty('databases/default/functions/functions.yaml').sources[0]!.functions ?? []).toEqual([]);
      expect(problemOf(withFile('databases/databases.yaml', text))).toBe(
        'databases/databases.yaml: the file is empty; write [] for no sources',
      );
    },
  );

  test.each<[string, string, string, string]>([
    ['a missing key', 'databases/default/tables/app_book.yaml', '{}', '$: key "table" not found'],
    ['a wrong value', 'allow_list.yaml', '[{collection: 1}]', '$[0].collection: '],
    ['text that is no YAML', 'network.yaml', 'a: [', 'flow'],
    ['a second document', 'network.yaml', '{}\n---\n{}', 'expected one document, but there are several'],
    ['an empty table', 'databases/default/tables/app_book.yaml', '# none', 'encountered Null'],
    [
      'a file that is not there',
      'databases/default/tables/tables.yaml',
      '["!include x.yaml"]',
      'there is no file',
    ],
    [
      'a file outside of the directory',
      'databases/databases.yaml',
      '["!include ../../x.yaml"]',
      '../../x.yaml is outside of the directory',
    ],
    [
      'an absolute path',
      'databases/databases.yaml',
      '["!include /etc/x.yaml"]',
      'is outside of the directory',
    ],
    [
      'an alias inside of its own anchor',
      'network.yaml',
      'a: &a [1, [*a]]',
      'network.yaml: an alias is inside of its anchor',
    ],
    [
      'a file that includes itself',
      'network.yaml',
      '{a: !include network.yaml}',
      'network.yaml includes itself',
    ],
  ])('%s is told with its file', (_name, file, text, expected) => {
    const problem = problemOf(withFile(file, text));
    expect(problem).toMatch(new RegExp(`^${file.replaceAll('.', '\\.')}: `));
    expect(problem).toContain(expected);
  });

  test('a folder without a version is no metadata directory', () => {
    expect(problemOf(new Map())).toBe('version.yaml is missing: this is no metadata directory');
  });
});

/** Unknown JSON → the model: what is read, what is refused, and with which words. */
import { describe, expect, test } from 'vitest';
import { EngineError, printPath } from '../errors/engine-error.ts';
import { normaliseObject, parseArgs, parseDocument, parseMetadata, parsingDocument } from './parse.ts';
import type { Metadata } from './schema/metadata.ts';

const connection = { connection_info: { database_url: { from_env: 'URL' } } };
const sourceWith = (...tables: unknown[]) => ({
  name: 'default',
  kind: 'postgres',
  configuration: connection,
  tables,
});
const documentWith = (...tables: unknown[]) => ({ version: 3, sources: [sourceWith(...tables)] });
const author = { schema: 'public', name: 'author' };

function refusalOf(parse: () => unknown): readonly [string, string, string] {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return [error.codeIn('specification'), printPath(error.path), error.messageIn('specification')];
  }
  throw new Error('it was accepted');
}

function normalTable(table: object): object {
  return parseMetadata(documentWith({ table: 'author', ...table })).sources[0]!.tables[0]!;
}

test('a bare table name is a table of schema public', () => {
  expect(normalTable({})).toEqual({ table: author });
  expect(normalTable({ table: { name: 'author' } })).toEqual({ table: author });
});

test('an identifier is a custom name', () => {
  const configuration = { identifier: 'Writer' };
  expect(normalTable({ configuration })).toEqual({ table: author, configuration: { custom_name: 'Writer' } });
});

test('names of columns in the short form join their configuration, which has priority', () => {
  const configuration = {
    custom_column_names: { id: 'short', name: 'title' },
    column_config: { id: { custom_name: 'long', comment: 'the key' } },
  };
  expect(normalTable({ configuration })).toEqual({
    table: author,
    configuration: {
      column_config: { id: { custom_name: 'long', comment: 'the key' }, name: { custom_name: 'title' } },
    },
  });
});

test('one column of a foreign key may be written without a list', () => {
  const object_relationships = [
    { name: 'a', using: { foreign_key_constraint_on: 'x' } },
    { name: 'b', using: { foreign_key_constraint_on: ['x', 'y'] } },
    { name: 'c', using: { foreign_key_constraint_on: { table: 'other', column: 'z' } } },
  ];
  expect(normalTable({ object_relationships })).toEqual({
    table: author,
    object_relationships: [
      { name: 'a', using: { foreign_key_constraint_on: ['x'] } },
      { name: 'b', using: { foreign_key_constraint_on: ['x', 'y'] } },
      {
        name: 'c',
        using: { foreign_key_constraint_on: { table: { schema: 'public', name: 'other' }, columns: ['z'] } },
      },
    ],
  });
});

test('earlier public names are read as the neutral ones', () => {
  const remote_field = { user: { arguments: { id: '$id' } } };
  const remote_relationships = [
    { name: 'r', definition: { remote_schema: 'users', hasura_fields: ['id'], remote_field } },
  ];
  expect(normalTable({ remote_relationships })).toEqual({
    table: author,
    remote_relationships: [
      {
        name: 'r',
        definition: { to_remote_schema: { remote_schema: 'users', lhs_fields: ['id'], remote_field } },
      },
    ],
  });
  const source = { ...sourceWith(), kind: 'pg', customization: { naming_convention: 'hasura-default' } };
  expect(parseMetadata({ version: 3, sources: [source] }).sources[0]).toEqual({
    ...sourceWith(),
    customization: { naming_convention: 'default' },
  });
});

test('null, an empty list and a default mean the same as nothing said', () => {
  expect(
    normalTable({
      is_enum: false,
      configuration: {},
      object_relationships: [],
      array_relationships: null,
      select_permissions: [
        {
          role: 'u',
          comment: null,
          permission: { columns: [], filter: {}, allow_aggregations: false, limit: null },
        },
      ],
    }),
  ).toEqual({ table: author, select_permissions: [{ role: 'u', permission: { columns: [], filter: {} } }] });
});

test('no root fields at all is not the same as nothing said', () => {
  const permission = { columns: '*', filter: {}, query_root_fields: [] };
  expect(normalTable({ select_permissions: [{ role: 'u', permission }] })).toEqual({
    table: author,
    select_permissions: [{ role: 'u', permission }],
  });
});

test('boolean expressions and presets are kept to the letter', () => {
  const check = { _or: [], a: null, $and: [{ b: { _eq: 'X-Engine-User-Id' } }], c: {} };
  const set = { a: null, b: [], c: 'x-engine-user-id' };
  const insert_permissions = [{ role: 'u', permission: { check, set, columns: ['a'] } }];
  expect(normalTable({ insert_permissions })).toEqual({
    table: author,
    insert_permissions: [{ role: 'u', permission: { check, columns: ['a'], set } }],
  });
});

test('unknown keys are dropped without failing', () => {
  expect(normalTable({ colour: 'red', configuration: { custom_name: 'A', colour: 1 } })).toEqual({
    table: author,
    configuration: { custom_name: 'A' },
  });
});

test('parsing what was parsed changes nothing', () => {
  const parsed = parseMetadata(
    documentWith({ table: 'author', configuration: { custom_column_names: { a: 'b' } } }),
  );
  expect(parseMetadata(parsed)).toEqual(parsed);
});

test('a document of format 2 is one source named default', () => {
  const document = { version: 2, tables: [{ table: 'author' }], functions: [{ function: 'f' }] };
  expect(parseMetadata(document)).toMatchObject({
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        tables: [{ table: author }],
        functions: [{ function: { name: 'f' } }],
      },
    ],
  });
});

test('a document of format 1 says no version and lists functions by name', () => {
  const { sources } = parseMetadata({ tables: [], functions: [{ schema: 's', name: 'f' }] });
  expect(sources[0]?.functions).toEqual([{ function: { schema: 's', name: 'f' } }]);
});

test.each([
  ['text', 'x', '$', 'parsing Object failed, expected Object, but encountered String'],
  ['no sources', { version: 3 }, '$', 'key "sources" not found'],
  ['a version to come', { version: 4 }, '$.version', 'expected 1, 2 or 3, encountered 4'],
  [
    'a source that is none',
    { version: 3, sources: [1] },
    '$.sources[0]',
    'parsing Object failed, expected Object, but encountered Number',
  ],
  ['a table without a name', documentWith({}), '$.sources[0].tables[0]', 'key "table" not found'],
  [
    'an empty name',
    documentWith({ table: '' }),
    '$.sources[0].tables[0].table.name',
    'empty string not allowed',
  ],
  [
    'a role without a rule',
    documentWith({ table: 'a', select_permissions: [{ role: 'u' }] }),
    '$.sources[0].tables[0].select_permissions[0]',
    'key "permission" not found',
  ],
  [
    'columns of a wrong type',
    documentWith({ table: 'a', select_permissions: [{ role: 'u', permission: { columns: 5, filter: {} } }] }),
    '$.sources[0].tables[0].select_permissions[0].permission.columns',
    'expected "*" or Array, but encountered Number',
  ],
  [
    'a column of a wrong type',
    documentWith({
      table: 'a',
      select_permissions: [{ role: 'u', permission: { columns: ['a', 5], filter: {} } }],
    }),
    '$.sources[0].tables[0].select_permissions[0].permission.columns[1]',
    'parsing Text failed, expected String, but encountered Number',
  ],
  [
    'two ways at once',
    documentWith({
      table: 'a',
      object_relationships: [
        {
          name: 'r',
          using: {
            foreign_key_constraint_on: 'x',
            manual_configuration: { remote_table: 'b', column_mapping: { x: 'y' } },
          },
        },
      ],
    }),
    '$.sources[0].tables[0].object_relationships[0].using',
    'expected exactly one of "foreign_key_constraint_on", "manual_configuration"',
  ],
  [
    'a name GraphQL cannot say',
    documentWith({ table: 'a', configuration: { custom_name: 'a-b' } }),
    '$.sources[0].tables[0].configuration.custom_name',
    '"a-b" is not a valid GraphQL name',
  ],
  [
    'a kind that is no text',
    { version: 3, sources: [{ ...sourceWith(), kind: '' }] },
    '$.sources[0].kind',
    'expected one of "postgres", "citus", "cockroach", "alloy", but encountered ""',
  ],
])('%s is refused at its place', (_, document, path, text) => {
  expect(refusalOf(() => parseMetadata(document))).toEqual(['parse-failed', path, text]);
});

test('a document that says one table twice is refused', () => {
  const twice = documentWith({ table: 'author' }, { table: { schema: 'public', name: 'author' } });
  expect(refusalOf(() => parseMetadata(twice))).toEqual([
    'already-exists',
    '$',
    'multiple declarations exist for the following tables : author',
  ]);
});

test('arguments say the source they mean, default when they do not', () => {
  expect(parseArgs('untrack_table', { table: 'author' })).toEqual({ source: 'default', table: author });
  expect(parseArgs('untrack_table', { table: 'author', source: 's' }).source).toBe('s');
});

test('track_table takes a bare table as its arguments', () => {
  const expected = { source: 'default', table: author };
  expect(parseArgs('track_table', 'author')).toEqual(expected);
  expect(parseArgs('track_table', { schema: 'public', name: 'author' })).toEqual(expected);
  expect(parseArgs('track_table', { table: 'author', is_enum: true })).toEqual({
    ...expected,
    is_enum: true,
  });
});

test('drop_relationship takes the relationship under either name', () => {
  const expected = { source: 'default', table: author, relationship: 'r' };
  expect(parseArgs('drop_relationship', { table: 'author', relationship: 'r' })).toEqual(expected);
  expect(parseArgs('drop_relationship', { table: 'author', name: 'r' })).toEqual(expected);
});

test('a document to replace the metadata with passes as it is', () => {
  const document = { version: 3, sources: [], whatever: null };
  expect(parseArgs('replace_metadata', document)).toEqual(document);
});

test.each([
  ['track_table', [], '$', 'parsing Object failed, expected Object, but encountered Array'],
  ['run_sql', {}, '$', 'key "sql" not found'],
  [
    'run_sql',
    { sql: 'select 1', cascade: 'yes' },
    '$.cascade',
    'parsing Bool failed, expected Boolean, but encountered String',
  ],
  [
    'create_select_permission',
    { table: 'a', role: '', permission: { columns: '*', filter: {} } },
    '$.role',
    'empty string not allowed',
  ],
  [
    'create_select_permission',
    { table: 'a', role: 'u', permission: { columns: '*' } },
    '$.permission',
    'key "filter" not found',
  ],
  ['create_object_relationship', { table: 'a', name: '', using: {} }, '$.name', 'empty string not allowed'],
  [
    'create_array_relationship',
    { table: 'a', name: 'r', using: { foreign_key_constraint_on: 'x' } },
    '$.using.foreign_key_constraint_on',
    'Expecting object { table, columns }.',
  ],
  ['bulk', {}, '$', 'parsing [] failed, expected Array, but encountered Object'],
  [
    'set_catalog_state',
    { type: 'me', state: {} },
    '$.type',
    'expected one of "cli", "console", "operator", but encountered "me"',
  ],
  [
    'create_select_permission',
    { table: 'a', role: 'u', permission: { columns: '*', filter: {}, limit: -1 } },
    '$.permission.limit',
    'unexpected negative value',
  ],
] as const)('arguments of %s: %j are refused', (name, args, path, text) => {
  expect(refusalOf(() => parseArgs(name, args))).toEqual(['parse-failed', path, text]);
});

test('an object alone has the normal form it has in a document', () => {
  expect(normaliseObject('table', { table: 'author', is_enum: false, select_permissions: [{}] })).toEqual({
    table: author,
  });
  expect(normaliseObject('source', { name: 's', kind: 'pg', configuration: connection })).toEqual({
    name: 's',
    kind: 'postgres',
    configuration: connection,
  });
});

test('an object alone is refused like in a document', () => {
  expect(refusalOf(() => normaliseObject('table', { is_enum: true }))).toEqual([
    'parse-failed',
    '$',
    'key "table" not found',
  ]);
});

test('a stored document may have headers without a value, which clients can no longer send', () => {
  const cron = { name: 'c', webhook: 'http://x', schedule: '0 0 * * *', include_in_metadata: true };
  const document = { version: 3, sources: [], cron_triggers: [{ ...cron, headers: [{ name: 'X' }] }] };
  expect(parseDocument(document, 'store')).toMatchObject({ cron_triggers: [{ headers: [{ name: 'X' }] }] });
  expect(() => parseDocument(document)).toThrow('expecting value or value_from_env keys');
});

describe('a document that resembles a known one', () => {
  const permission = (column: string) => ({ role: 'user', permission: { columns: [column], filter: {} } });
  const tables = (column: string) => [
    { table: 'author', select_permissions: [permission('id')] },
    { table: 'book', select_permissions: [permission(column)] },
  ];
  const known = parseDocument(documentWith(...tables('id')));
  const tablesOf = (document: Metadata) => document.sources[0]!.tables;

  test('has the tables of the known one where their text is the same', () => {
    const next = parseDocument(documentWith(...tables('title')), 'client', known);
    expect(tablesOf(next)[0]).toBe(tablesOf(known)[0]);
    expect(tablesOf(next)[1]).not.toBe(tablesOf(known)[1]);
    expect(next).toEqual(parseDocument(documentWith(...tables('title'))));
  });

  test('keeps the order of its own tables, and of the keys in them', () => {
    const [author, book] = tables('id');
    const turned = { select_permissions: author!.select_permissions, table: 'author' };
    const next = parseDocument(documentWith(book, turned), 'client', known);
    expect(tablesOf(next)).toEqual(tablesOf(parseDocument(documentWith(book, turned))));
    expect(tablesOf(next)[0]).toBe(tablesOf(known)[1]);
  });

  test('does not take tables from another source', () => {
    const other = { ...sourceWith(...tables('id')), name: 'other' };
    const next = parseDocument({ version: 3, sources: [other] }, 'client', known);
    expect(tablesOf(next)[0]).not.toBe(tablesOf(known)[0]);
  });

  test('is refused like any other', () => {
    const wrong = documentWith(tables('id')[0], { table: 'book', select_permissions: [{ role: 7 }] });
    expect(refusalOf(() => parseDocument(wrong, 'client', known))).toEqual(
      refusalOf(() => parseDocument(wrong)),
    );
  });

  test('is parsed in a step for each table', () => {
    const steps = parsingDocument(
      documentWith(...Array.from({ length: 50 }, (_, i) => ({ table: `t${i}` }))),
    );
    let count = 0;
    while (!steps.next().done) count++;
    expect(count).toBeGreaterThan(3 * 50);
  });
});

test('a table that is valid only as a stored one is refused from a client, whatever was parsed before', () => {
  const trigger = { name: 't', definition: {}, webhook: 'http://hook', headers: [{ name: 'X' }] };
  const document = documentWith({ table: 'author', event_triggers: [trigger] });
  const stored = parseDocument(document, 'store');
  expect(refusalOf(() => parseDocument(document))[0]).toBe('parse-failed');
  expect(refusalOf(() => parseDocument(document, 'client', stored))[0]).toBe('parse-failed');
});

/** What clients are shown of the document. */
import { expect, test } from 'vitest';
import { canonicalMetadata, exportMetadata } from './export.ts';
import { parseMetadata } from './parse.ts';
import { emptyMetadata } from './schema/metadata.ts';

const connection = { connection_info: { database_url: { from_env: 'URL' } } };
const tables = [
  {
    table: 'b',
    object_relationships: [
      { name: 'z', using: { foreign_key_constraint_on: ['x'] } },
      { name: 'y', using: { foreign_key_constraint_on: ['x', 'y'] } },
    ],
    array_relationships: [
      { name: 'many', using: { foreign_key_constraint_on: { table: 'a', columns: ['c'] } } },
      { name: 'most', using: { foreign_key_constraint_on: { table: 'a', columns: ['c', 'd'] } } },
    ],
    select_permissions: [
      { permission: { filter: {}, columns: '*' }, role: 'v' },
      { role: 'u', permission: { columns: '*', filter: {} } },
    ],
  },
  { table: { name: 'z', schema: 'app' } },
  { table: 'a', configuration: { column_config: { id: { custom_name: 'key' }, name: { comment: 'c' } } } },
];
const metadata = parseMetadata({
  version: 3,
  sources: [
    { name: 'second', kind: 'postgres', configuration: connection, tables },
    { name: 'first', kind: 'postgres', configuration: connection, tables: [] },
  ],
  query_collections: [
    { name: 'b', definition: { queries: [] } },
    { name: 'a', definition: { queries: [] } },
  ],
});
const target = { schema: 'public', name: 'a' };

test('an empty document still says its version and its sources', () => {
  expect(exportMetadata(emptyMetadata)).toEqual({ version: 3, sources: [] });
});

test('sources keep their order; everything else is sorted by name', () => {
  const exported = canonicalMetadata(metadata);
  expect(exported.sources.map((source) => source.name)).toEqual(['second', 'first']);
  const [source] = exported.sources;
  expect(source?.tables.map(({ table }) => `${table.schema}.${table.name}`)).toEqual([
    'app.z',
    'public.a',
    'public.b',
  ]);
  expect(source?.tables[2]?.object_relationships?.map((r) => r.name)).toEqual(['y', 'z']);
  expect(source?.tables[2]?.select_permissions?.map((p) => p.role)).toEqual(['u', 'v']);
  expect(exported.query_collections?.map((c) => c.name)).toEqual(['a', 'b']);
});

test('one column of a foreign key is shown without a list', () => {
  const exported = exportMetadata(metadata) as { sources: { tables: object[] }[] };
  expect(exported.sources[0]?.tables[2]).toMatchObject({
    object_relationships: [
      { name: 'y', using: { foreign_key_constraint_on: ['x', 'y'] } },
      { name: 'z', using: { foreign_key_constraint_on: 'x' } },
    ],
    array_relationships: [
      { name: 'many', using: { foreign_key_constraint_on: { column: 'c', table: target } } },
      { name: 'most', using: { foreign_key_constraint_on: { columns: ['c', 'd'], table: target } } },
    ],
  });
});

test('names of columns are shown under the key that they were given', () => {
  const exported = exportMetadata(metadata) as { sources: { tables: object[] }[] };
  expect(exported.sources[0]?.tables[1]).toEqual({
    table: target,
    configuration: {
      column_config: { id: { custom_name: 'key' }, name: { comment: 'c' } },
    },
  });
});

test('keys come in the order of the model, so that equal documents are equal texts', () => {
  const shuffled = {
    ...metadata,
    sources: metadata.sources.map((s) => ({ ...s, tables: s.tables.toReversed() })),
  };
  expect(JSON.stringify(exportMetadata(shuffled))).toBe(JSON.stringify(exportMetadata(metadata)));
  expect(JSON.stringify(exportMetadata(metadata))).toContain(
    '{"role":"v","permission":{"columns":"*","filter":{}}}',
  );
});

test('what is exported is read back as what it was', () => {
  expect(parseMetadata(exportMetadata(metadata))).toEqual(canonicalMetadata(metadata));
  expect(canonicalMetadata(canonicalMetadata(metadata))).toEqual(canonicalMetadata(metadata));
});

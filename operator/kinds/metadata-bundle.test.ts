/** Tests the objects of bundles: documents that are parts, and exclusions that no object can have. */
import { expect, test } from 'vitest';
import { metadataBundle } from './metadata-bundle.ts';

const COLLECTION = { name: 'screens', definition: { queries: [{ name: 'a', query: '{ author { id } }' }] } };
const SOURCE = {
  name: 'main',
  kind: 'postgres',
  configuration: { connection_info: { database_url: { from_env: 'URL' } } },
};

const keysOf = (spec: Readonly<Record<string, unknown>>, text = '') =>
  metadataBundle
    .translate({ engineRef: { name: 'main' }, ...spec }, { valueFrom: () => text })
    .map(({ key }) => key);

test.each([
  ['without a version', { query_collections: [COLLECTION] }],
  ['of version 3', { version: 3, query_collections: [COLLECTION] }],
  ['of version 3 with an empty list', { version: 3, sources: [], query_collections: [COLLECTION] }],
])('a part %s has no source', (_, metadata) => {
  expect(keysOf({ metadata })).toEqual(['query_collection/screens']);
  const from = [{ configMapKeyRef: { name: 'parts', key: 'a' } }];
  expect(keysOf({ from }, JSON.stringify(metadata))).toEqual(['query_collection/screens']);
});

test('two parts without sources stand for different objects', () => {
  const [first, second] = [
    { custom_types: { scalars: [{ name: 'Money' }] } },
    { query_collections: [COLLECTION] },
  ];
  expect(keysOf({ metadata: first })).toEqual(['custom_type/Money']);
  expect(keysOf({ metadata: second })).toEqual(['query_collection/screens']);
});

test('a document of an older version, with tables, has the source default', () => {
  expect(keysOf({ metadata: { version: 2, tables: [] } })).toEqual(['source/default']);
});

test('a part of another version is refused', () => {
  expect(() => keysOf({ metadata: { version: 2 } })).toThrow(
    'spec.metadata: expected 3, but encountered 2 at $.version',
  );
});

test.each([
  [{ kind: 'source', name: 'main' }, ['query_collection/screens']],
  [{ kind: 'query_collection', name: 'screens' }, ['source/main']],
  [{ kind: 'api_limits', name: '' }, ['source/main', 'query_collection/screens']],
  [
    { kind: 'Source', name: 'main' },
    'spec.exclude[0].kind: there is no kind Source; the nearest name is "source"',
  ],
  [{ kind: 'table', name: 'author' }, 'spec.exclude[0].name: a key of table has 3 names'],
  [{ kind: 'source', name: '' }, 'spec.exclude[0].name: a key of source has 1 name'],
  [{ kind: 'api_limits', name: 'main' }, 'spec.exclude[0].name: a key of api_limits has no name'],
])('the exclusion %j', (exclusion, expected) => {
  const metadata = { version: 3, sources: [{ ...SOURCE, tables: [] }], query_collections: [COLLECTION] };
  const keys = () => keysOf({ metadata, exclude: [exclusion] });
  if (typeof expected === 'string') expect(keys).toThrow(expected);
  else expect(keys()).toEqual(expected);
});

/** The difference of two documents. */
import '../../testing/seed.ts';
import { type Arbitrary, array, assert, constantFrom, property, record, subarray, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../json/parse-json.ts';
import { changedKeys, editsBetween } from './diff.ts';
import { type Edit, editObjects, putObject, removeObject } from './edit.ts';
import { canonicalMetadata } from './export.ts';
import { type MetadataObject, metadataOf, objectsOf } from './objects.ts';
import { parseEdits, parseMetadata } from './parse.ts';
import type { Metadata } from './schema/metadata.ts';
import { finish } from './steps.ts';
import { applyChanges, diffMetadata } from './testing/diff-metadata.ts';

const connection = { connection_info: { database_url: { from_env: 'URL' } } };
const rule = (role: string, columns: readonly string[]) => ({ role, permission: { columns, filter: {} } });

const table = (name: string): Arbitrary<object> =>
  record({
    roles: subarray(['u', 'v', 'w']),
    columns: subarray(['a', 'b']),
    relationships: subarray(['r', 's']),
    isEnum: constantFrom(true, false),
  }).map(({ roles, columns, relationships, isEnum }) => ({
    table: name,
    is_enum: isEnum,
    object_relationships: relationships.map((r) => ({ name: r, using: { foreign_key_constraint_on: r } })),
    select_permissions: roles.map((role) => rule(role, columns)),
    insert_permissions: roles.slice(1).map((role) => ({ role, permission: { check: {}, columns } })),
  }));

const source = (name: string): Arbitrary<object> =>
  tuple(table('a'), table('b'), table('c'), subarray([0, 1, 2])).map(([a, b, c, kept]) => ({
    name,
    kind: 'postgres',
    configuration: connection,
    tables: kept.map((i) => [a, b, c][i]),
  }));

const document: Arbitrary<Metadata> = record({
  first: source('first'),
  second: source('second'),
  kept: subarray([0, 1]),
  collections: subarray(['p', 'q']),
  types: array(constantFrom('T', 'U'), { maxLength: 1 }),
  limit: constantFrom(undefined, 1, 2),
}).map(({ first, second, kept, collections, types, limit }) =>
  parseMetadata({
    version: 3,
    sources: kept.map((i) => [first, second][i]),
    query_collections: collections.map((name) => ({ name, definition: { queries: [] } })),
    allowlist: collections.map((collection) => ({ collection })),
    custom_types: { scalars: types.map((name) => ({ name })) },
    ...(limit === undefined ? {} : { api_limits: { depth_limit: { global: limit } } }),
  }),
);

/** Sources keep the order they were added in, which is not part of the meaning. */
function meaning(metadata: Metadata): unknown {
  const { sources, ...rest } = canonicalMetadata(metadata);
  return { ...rest, sources: sources.toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}

test('applying the difference of two documents to the first gives the second', () => {
  assert(
    property(document, document, (a, b) => {
      expect(meaning(applyChanges(a, diffMetadata(a, b)))).toEqual(meaning(b));
    }),
    { numRuns: 60 },
  );
});

test('change by change, objects can be put and removed in the order given', () => {
  assert(
    property(document, document, (a, b) => {
      const made = objectsOf(b);
      const result = diffMetadata(a, b).reduce(
        (next, { action, key }) =>
          action === 'delete' ? removeObject(next, key) : putObject(next, made.get(key)!),
        a,
      );
      expect(meaning(result)).toEqual(meaning(b));
    }),
    { numRuns: 60 },
  );
});

test('the keys that changed are those of the difference, after an edit that shares the rest too', () => {
  assert(
    property(document, document, (a, b) => {
      const keysOf = (from: Metadata, to: Metadata) => diffMetadata(from, to).map(({ key }) => key);
      expect(finish(changedKeys(a, b)).toSorted()).toEqual(keysOf(a, b).toSorted());
      const [first] = objectsOf(a).keys();
      const edited = first === undefined ? a : removeObject(a, first);
      expect(finish(changedKeys(a, edited)).toSorted()).toEqual(keysOf(a, edited).toSorted());
    }),
    { numRuns: 60 },
  );
});

/** As they come back from where they were stored. */
const stored = (edits: readonly Edit[]) => parseEdits(parseJson(JSON.stringify(edits)) as readonly Edit[]);

test('edits between two documents make the very text of the second of the first, or there are none', () => {
  let said = 0;
  assert(
    property(document, document, (a, b) => {
      const edits = finish(editsBetween(a, b));
      if (edits) {
        said++;
        expect(JSON.stringify(editObjects(a, stored(edits)))).toBe(JSON.stringify(b));
      }
    }),
    { numRuns: 200 },
  );
  expect(said).toBeGreaterThan(20);
});

test('what edits have made can be said as edits', () => {
  assert(
    property(document, document, subarray([...Array(40).keys()]), (a, b, chosen) => {
      const there = objectsOf(a);
      const put = [...objectsOf(b).values()].filter(({ parent }, i) => {
        return chosen.includes(i) && (parent === null || there.has(parent));
      });
      const kept = new Set(put.flatMap(({ key, parent }) => [key, parent]));
      const gone = [...there.keys()].filter((key, i) => chosen.includes(39 - i) && !kept.has(key));
      const removed = gone
        .map((key) => ({ key, definition: undefined }))
        .filter(({ key }) => !key.startsWith('source'));
      const after = editObjects(a, [...removed, ...put]);
      const edits = finish(editsBetween(a, after));
      expect(edits).toBeDefined();
      expect(JSON.stringify(editObjects(a, stored(edits!)))).toBe(JSON.stringify(after));
    }),
    { numRuns: 100 },
  );
});

test('edits keep how numbers are written, and the order of what an object says', () => {
  const [before, after] = ['1.0', '1.00'].map((text) =>
    parseMetadata(
      parseJson(`{"version": 3, "sources": [{"name": "s", "kind": "postgres",
        "configuration": {"connection_info": {"database_url": "postgres://"}},
        "tables": [{"select_permissions": [
          {"role": "u", "permission": {"filter": {"b": {"_eq": ${text}}, "a": {"_eq": 9007199254740993}}, "columns": []}}
        ], "table": "t"}]}]}`),
    ),
  ) as [Metadata, Metadata];
  const edits = finish(editsBetween(before, after))!;
  expect(edits.map(({ key }) => key)).toEqual(['select_permission/s/public/t/u']);
  expect(JSON.stringify(editObjects(before, stored(edits)))).toBe(JSON.stringify(after));
  const [source] = before.sources;
  const table = { ...source!.tables[0]!, is_enum: true };
  const enumerated = { ...before, sources: [{ ...source!, tables: [table] }] };
  const said = finish(editsBetween(before, enumerated))!;
  expect(JSON.stringify(editObjects(before, said))).toBe(JSON.stringify(enumerated));
});

test('another order of siblings cannot be said as edits', () => {
  const of = (...names: string[]) =>
    parseMetadata({
      version: 3,
      sources: [],
      query_collections: names.map((name) => ({ name, definition: { queries: [] } })),
    });
  expect(finish(editsBetween(of('a', 'b'), of('b', 'a')))).toBeUndefined();
  expect(finish(editsBetween(of('a', 'b'), of('b', 'c')))).toHaveLength(2);
  expect(finish(editsBetween(of('a'), of('a')))).toEqual([]);
  const many = Array.from({ length: 6000 }, (_, i) => `c${i}`);
  expect(finish(editsBetween(of(...many), of(...many)))).toEqual([]);
  expect(finish(editsBetween(of(...many), of(...many.slice(0, -1))))).toBeUndefined();
  const document = of(...many);
  const keys = ['query_collection/c1', 'query_collection/c5998'];
  expect(finish(editsBetween(document, keys.reduce(removeObject, document)))?.map(({ key }) => key)).toEqual(
    keys,
  );
});

test('a document does not differ from itself', () => {
  assert(
    property(document, (a) => {
      expect(diffMetadata(a, canonicalMetadata(a))).toEqual([]);
    }),
    { numRuns: 20 },
  );
});

test('the objects of any document make the document', () => {
  assert(
    property(document, (a) => {
      expect(metadataOf(objectsOf(a).values())).toEqual(a);
    }),
    { numRuns: 20 },
  );
});

test('a change of a table says nothing about its permissions', () => {
  const before = parseMetadata({
    version: 3,
    sources: [
      {
        name: 's',
        kind: 'postgres',
        configuration: connection,
        tables: [{ table: 'a', select_permissions: [rule('u', ['x'])] }],
      },
    ],
  });
  const object = objectsOf(before).get('table/s/public/a') as MetadataObject;
  const after = putObject(before, {
    ...object,
    definition: { ...(object.definition as object), is_enum: true },
  });
  expect(diffMetadata(before, after).map(({ key, action }) => [key, action])).toEqual([
    ['table/s/public/a', 'update'],
  ]);
});

test('nested objects are deleted before what they are nested in, and made after it', () => {
  const full = parseMetadata({
    version: 3,
    sources: [
      {
        name: 's',
        kind: 'postgres',
        configuration: connection,
        tables: [{ table: 'a', select_permissions: [rule('u', ['x'])] }],
      },
    ],
  });
  const empty = parseMetadata({ version: 3, sources: [] });
  const keys = ['source/s', 'table/s/public/a', 'select_permission/s/public/a/u'];
  expect(diffMetadata(empty, full).map(({ key }) => key)).toEqual(keys);
  expect(diffMetadata(full, empty).map(({ key }) => key)).toEqual(keys.toReversed());
});

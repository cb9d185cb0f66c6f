/** Which queries of collections do not fit the schema, and what is said of them. */
import { expect, test } from 'vitest';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
import { resolve } from '../resolve/resolve.ts';
import { brokenQueries } from './stored-query.ts';
import { MODEL } from './testing/ask.ts';

const stored = (queries: Readonly<Record<string, string>>, rest: Partial<Metadata> = {}) => {
  const all = Object.entries(queries).map(([name, query]) => ({ name, query }));
  const query_collections = [{ name: 'app', definition: { queries: all } }];
  return brokenQueries({ ...emptyMetadata, query_collections, ...rest }, MODEL);
};

test('queries that fit are not mentioned', () => {
  const one = '{ author { id } }';
  const two = 'query a { author { id } } query b { article { id } }';
  expect(stored({ one, two })).toEqual([]);
});

test('a field that is not there is named with its place in the response', () => {
  expect(stored({ old: '{ author { id nickname } }' })).toMatchObject([
    {
      type: 'query_collections',
      name: 'query_collections old in app',
      reason:
        'Inconsistent object: In query collection "app" the query "old" is invalid with the following error(s): ' +
        `"$.author.nickname: field 'nickname' not found in object 'author'"`,
      definition: { name: 'old', query: '{ author { id nickname } }' },
      key: 'query_collection/app',
      query: 'old',
    },
  ]);
});

test('every operation of a document must fit', () => {
  const reasons = stored({ q: 'query a { author { id } } query b { nowhere { id } }' });
  expect(reasons.map(({ reason }) => reason)).toEqual([expect.stringContaining(`field 'nowhere' not found`)]);
});

test('what is no GraphQL is broken, too, and every query is looked at', () => {
  expect(stored({ a: '{', b: '{ author { id } }', c: '{ nowhere }' }).map(({ query }) => query)).toEqual([
    'a',
    'c',
  ]);
});

test('endpoints that answer with the query are named', () => {
  const definition = { query: { collection_name: 'app', query_name: 'q' } };
  const rest_endpoints = [{ name: 'list', url: 'list', methods: ['GET' as const], definition }];
  const [broken] = stored({ q: '{ nowhere }' }, { rest_endpoints });
  expect(broken!.reason).toMatch(/\. This query is being used in the following REST endpoint\(s\): "list"$/);
});

const away = (customization?: object) => ({
  name: 'away',
  definition: { url: 'http://away', ...(customization ? { customization } : {}) },
});
const action = { name: 'charge', definition: { handler: 'http://hooks', output_type: 'Nowhere' } };
const source = (rest: object) => ({
  name: 'archive',
  kind: 'postgres',
  configuration: {},
  tables: [],
  ...rest,
});
/** A document with parts that MODEL does not have, as if they did not answer or were inconsistent. */
const BROKEN: Readonly<Record<string, Partial<Metadata>>> = {
  'a remote schema': { remote_schemas: [away()] },
  'a remote schema in a namespace': { remote_schemas: [away({ root_fields_namespace: 'far' })] },
  'an action': { actions: [action as never] },
  'a source': { sources: [source({}) as never] },
  'a source in a namespace': {
    sources: [source({ customization: { root_fields: { namespace: 'far' } } }) as never],
  },
  'a target of relationships': {
    remote_schemas: [away({ root_fields_namespace: 'far' })],
    sources: [
      {
        ...source({ name: 'default' }),
        tables: [
          {
            table: { schema: 'public', name: 'author' },
            remote_relationships: [
              {
                name: 'invoices',
                definition: { to_remote_schema: { remote_schema: 'away', lhs_fields: [], remote_field: {} } },
              },
            ],
          },
        ],
      } as never,
    ],
  },
};

/** Errors that no missing part explains. */
const WRONG: Readonly<Record<string, string>> = {
  'a syntax error': '{ author {',
  'an unknown column': '{ author { id nickname } }',
  'an unknown argument': '{ author(sort: 1) { id } }',
  'a variable of another type': 'query ($n: String!) { author(limit: $n) { id } }',
  'a field without a selection': '{ author }',
  'a selection of a scalar': '{ author { id { id } } }',
  'an unknown directive': '{ author @upper { id } }',
  'an unknown field of introspection': '{ __nowhere }',
  'an error beside what may be missing': '{ far { a } charge author { nickname } }',
  'an error in a mutation': 'mutation { insert_author(objects: []) { nowhere } }',
};

test.each(Object.keys(BROKEN).flatMap((part) => Object.keys(WRONG).map((what) => [what, part] as const)))(
  '%s is reported while %s is missing',
  (what, part) => {
    const reasons = stored({ q: WRONG[what]! }, BROKEN[part]).map(({ query }) => query);
    expect(reasons).toEqual(['q']);
  },
);

test.each([
  ['a remote schema', '{ anything(at: 1) { all { the } way } author { id } }', true],
  ['a remote schema', 'query ($x: Far) { anything(at: $x) { id } }', true],
  ['a remote schema', 'mutation { anything }', true],
  ['a remote schema', 'subscription { anything }', true],
  [
    'a remote schema',
    'query { ...f } fragment f on query_root { anything { ...g } } fragment g on Far { a }',
    true,
  ],
  ['a remote schema in a namespace', '{ far { anything } }', true],
  ['a remote schema in a namespace', '{ anything }', false],
  ['an action', 'mutation { charge(amount: 1) { id } }', true],
  ['an action', '{ charge(id: 1) { output } }', true],
  ['an action', '{ anything }', false],
  ['a source', '{ anything { id } }', true],
  ['a source in a namespace', '{ far { anything } }', true],
  ['a source in a namespace', '{ anything }', false],
  ['a target of relationships', '{ author { invoices { id } } }', true],
  ['a target of relationships', '{ article { author { invoices { id } } } }', true],
  ['a target of relationships', '{ article { invoices { id } } }', false],
  ['a target of relationships', '{ author { payments { id } } }', false],
])('while %s is missing, %s may need it: %j', (part, query, mayNeedIt) => {
  expect(stored({ q: query }, BROKEN[part]).map((broken) => broken.query)).toEqual(mayNeedIt ? [] : ['q']);
  expect(stored({ q: query })).toHaveLength(1);
});

test('a root type that only a missing part could have is not judged', () => {
  const query_collections = [
    { name: 'app', definition: { queries: [{ name: 'q', query: 'mutation { anything }' }] } },
  ];
  const empty = { ...emptyMetadata, query_collections };
  const { model } = resolve(empty, new Map(), {} as never);
  expect(brokenQueries(empty, model)).toMatchObject([
    { reason: expect.stringContaining('no mutations exist') },
  ]);
  expect(brokenQueries({ ...empty, ...BROKEN['a remote schema'] }, model)).toEqual([]);
});

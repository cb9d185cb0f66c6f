/** Which queries of collections do not fit the schema, and what is said of them. */
import { expect, test } from 'vitest';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
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

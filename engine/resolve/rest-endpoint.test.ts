/** Which endpoints are refused, and why. Reference: docs/reference/behaviour/errors.md. */
import { expect, test } from 'vitest';
import type { RestEndpoint, RestMethod } from '../metadata/schema/collection.ts';
import { emptyMetadata } from '../metadata/schema/metadata.ts';
import type { Inconsistency } from './model/inconsistency.ts';
import { resolveEndpoints } from './rest-endpoint.ts';

const QUERIES = {
  all: '{ book { id } }',
  live: 'subscription { book { id } }',
  two: 'query a { book { id } } query b { book { id } }',
  none: 'fragment f on book { id }',
  spread: 'query { book { ...f } } fragment f on book { id }',
  broken: '{',
};

const endpoint = (url: string, methods: readonly RestMethod[] = ['GET'], query = 'all'): RestEndpoint => ({
  name: `${methods} ${url}`,
  url,
  methods: [...methods],
  definition: { query: { collection_name: 'stored', query_name: query } },
});

function resolved(...endpoints: readonly RestEndpoint[]) {
  const found: Inconsistency[] = [];
  const queries = Object.entries(QUERIES).map(([name, query]) => ({ name, query }));
  const routes = resolveEndpoints(
    {
      ...emptyMetadata,
      query_collections: [{ name: 'stored', definition: { queries } }],
      rest_endpoints: [...endpoints],
    },
    (inconsistency) => found.push(inconsistency),
  );
  const match = (path: string) =>
    routes.match(path.split('/')).map((found) => [found.endpoint.name, found.values]);
  return { match, found, reasons: found.map(({ reason }) => reason) };
}

test.each(['foo//bar', 'foo/', '/foo', 'foo/:/bar'])('%s has an empty segment', (url) => {
  const { reasons, match } = resolved(endpoint(url));
  expect(reasons).toEqual([`Empty segments or unnamed variables are not allowed: ${url}`]);
  expect(match(url)).toEqual([]);
});

test('an inconsistency names the endpoint and what it is refused with', () => {
  const { found } = resolved(endpoint('foo/:id/bar/:id'));
  expect(found).toMatchObject([
    {
      type: 'rest_endpoint',
      name: 'rest_endpoint GET foo/:id/bar/:id',
      reason: 'Duplicate variables found in endpoint path: foo/:id/bar/:id',
      definition: { url: 'foo/:id/bar/:id', methods: ['GET'], comment: null },
      key: 'rest_endpoint/GET%20foo%2F%3Aid%2Fbar%2F%3Aid',
      cause: { kind: 'invalidConfiguration', status: 400 },
    },
  ]);
});

test.each([
  ['a', ':x'],
  [':x', 'a'],
  [':x', ':y'],
  ['a/:x', 'a/b'],
  [':x/b', 'a/:y'],
])('%s and %s overlap; the later one gives way', (first, second) => {
  const { reasons, match } = resolved(endpoint(first, ['GET', 'POST']), endpoint(second, ['PUT', 'GET']));
  expect(reasons).toEqual([`Ambiguous URL paths: ${[first, second].sort().join(', ')}`]);
  const path = first.split('/').map((segment, i) => (segment[0] === ':' ? second.split('/')[i] : segment));
  expect(match(path.join('/'))).toMatchObject([[`GET,POST ${first}`, {}]]);
});

test.each([
  ['a', 'b'],
  ['a', 'a/b'],
  ['a/:x', 'b/:x'],
  ['a/:x/c', 'a/:x/d'],
])('%s and %s do not overlap', (first, second) => {
  expect(resolved(endpoint(first), endpoint(second)).reasons).toEqual([]);
});

test('one path may have endpoints for different methods', () => {
  const { reasons, match } = resolved(
    endpoint('a/:x'),
    endpoint('a/:y', ['PUT']),
    endpoint('a/b', ['DELETE']),
  );
  expect(reasons).toEqual([]);
  expect(match('a/b')).toEqual([
    ['DELETE a/b', {}],
    ['GET a/:x', { x: 'b' }],
    ['PUT a/:y', { y: 'b' }],
  ]);
  expect(match('a/c')).toHaveLength(2);
  expect(match('a/')).toEqual([]);
  expect(match('a')).toEqual([]);
});

test.each([
  ['missing', 'query with name "missing" does not exist in collection "stored"'],
  ['live', 'query with name live is a subscription'],
  ['two', 'query with name two has multiple definitions.'],
  ['none', 'query with name none has no definitions.'],
  ['broken', 'query with name broken is not valid GraphQL'],
])('the document %s is refused', (query, reason) => {
  const { reasons, match } = resolved(endpoint('a', ['GET'], query));
  expect(reasons).toEqual([`Inconsistent object: in endpoint GET a: ${reason}`]);
  expect(match('a')).toEqual([]);
});

test('a collection that is not there is refused', () => {
  const query = { collection_name: 'other', query_name: 'all' };
  expect(resolved({ ...endpoint('a'), definition: { query } }).reasons).toEqual([
    'Inconsistent object: in endpoint GET a: collection with name "other" does not exist',
  ]);
});

test('fragments beside the query are fine', () => {
  expect(resolved(endpoint('a', ['GET'], 'spread')).reasons).toEqual([]);
});

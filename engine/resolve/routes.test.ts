/** Which endpoints a path leads to, and whose paths overlap. */

import { describe, expect, test } from 'vitest';
import type { RestMethod } from '../metadata/schema/collection.ts';
import { parseTemplate, type ResolvedEndpoint, Routes } from './routes.ts';

function endpoint(url: string, methods: readonly RestMethod[] = ['GET']): ResolvedEndpoint {
  const rest = { comment: null, query: '{ __typename }', maxAgeSeconds: null };
  return { name: url, url, methods, segments: parseTemplate(url), ...rest };
}

function routesOf(...endpoints: readonly ResolvedEndpoint[]) {
  const routes = new Routes();
  for (const each of endpoints) routes.add(each);
  const match = (path: string) =>
    routes.match(path.split('/')).map(({ endpoint: { name }, values }) => [name, values]);
  const rivals = (url: string, methods: readonly RestMethod[] = ['GET']) =>
    routes.rivals(parseTemplate(url), methods).map(({ name }) => name);
  return { routes, match, rivals };
}

test('a template is literals and variables', () => {
  expect(parseTemplate('author/:id')).toEqual([
    { kind: 'literal', text: 'author' },
    { kind: 'variable', name: 'id' },
  ]);
});

test('a variable may not stand twice in a template', () => {
  expect(() => parseTemplate(':a/x/:a')).toThrow('Duplicate variables found in endpoint path: :a/x/:a');
});

describe('a path leads', () => {
  const { match } = routesOf(endpoint('author'), endpoint('author/:id'), endpoint(':kind/:id/books'));

  test('to the endpoint of its literals', () => {
    expect(match('author')).toEqual([['author', {}]]);
  });

  test('to one whose variables it gives a value, as it is written', () => {
    expect(match('author/a%20b')).toEqual([['author/:id', { id: 'a%20b' }]]);
    expect(match('author/7/books')).toEqual([[':kind/:id/books', { kind: 'author', id: '7' }]]);
  });

  test.each(['', 'book', 'author/', 'author/7/', 'author/7/loans', 'author/7/books/1', 'Author'])(
    'nowhere when it is %j',
    (path) => expect(match(path)).toEqual([]),
  );

  test('to a variable called like something that objects inherit', () => {
    expect(routesOf(endpoint('x/:constructor')).match('x/1')).toEqual([
      ['x/:constructor', { constructor: '1' }],
    ]);
    expect(match('constructor')).toEqual([]);
  });
});

test('one path may lead to several endpoints, each with methods of its own', () => {
  const { match } = routesOf(endpoint('a/:id', ['GET']), endpoint('a/:key', ['POST']));
  expect(match('a/1')).toEqual([
    ['a/:id', { id: '1' }],
    ['a/:key', { key: '1' }],
  ]);
});

describe('rivals are endpoints that some request would lead to as well', () => {
  const { rivals } = routesOf(endpoint('a/:id'), endpoint('a/b'), endpoint(':x/c', ['POST']));

  test.each([
    ['a/:other', ['a/b', 'a/:id']],
    ['a/b', ['a/b', 'a/:id']],
    ['a/c', ['a/:id']],
    [':any/:other', ['a/b', 'a/:id']],
    ['z/:id', []],
    ['a', []],
    ['a/b/c', []],
  ])('of %s', (url, expected) => expect(rivals(url)).toEqual(expected));

  test('with a method in common', () => {
    expect(rivals('a/c', ['POST'])).toEqual([':x/c']);
    expect(rivals('a/c', ['PUT'])).toEqual([]);
    expect(rivals('a/c', ['PUT', 'POST', 'GET'])).toEqual(['a/:id', ':x/c']);
  });
});

test('endpoints are listed in the order they were added', () => {
  const { routes } = routesOf(endpoint('b'), endpoint('a'));
  expect(routes.endpoints.map(({ name }) => name)).toEqual(['b', 'a']);
});

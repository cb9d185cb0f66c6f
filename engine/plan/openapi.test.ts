/** The description of REST endpoints: paths, parameters, bodies, responses. */
import { expect, test } from 'vitest';
import type { RestMethod } from '../metadata/schema/collection.ts';
import { parseTemplate, Routes } from '../resolve/routes.ts';
import { openapiDocument } from './openapi.ts';
import { MODEL } from './testing/ask.ts';

type Given = { readonly url: string; readonly query: string; readonly methods?: readonly RestMethod[] };

function describe(...endpoints: readonly Given[]) {
  const routes = new Routes();
  for (const { url, query, methods } of endpoints) {
    const rest = { comment: null, maxAgeSeconds: null, segments: parseTemplate(url) };
    routes.add({ name: url, url, methods: methods ?? ['GET'], query, ...rest });
  }
  return openapiDocument({ ...MODEL, routes }, '1.0', 'x-engine-');
}

const only = (given: Given, method = 'get') => Object.values(describe(given).paths)[0]![method]!;
const schemaOf = (given: Given) => only(given).responses[200].content['application/json'].schema;

test('variables of the path are in braces, and asked for', () => {
  const query = 'query ($id: Int!) { author_by_pk(id: $id) { name } }';
  const { paths } = describe({ url: 'author/:id/name', query });
  expect(Object.keys(paths)).toEqual(['/api/rest/author/{id}/name']);
  expect(paths['/api/rest/author/{id}/name']!['get']!.parameters.slice(1)).toEqual([
    { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
  ]);
});

test('every operation may bring the secret', () => {
  const { parameters } = only({ url: 'a', query: '{ author { id } }' });
  expect(parameters).toMatchObject([{ name: 'x-engine-admin-secret', in: 'header', required: false }]);
});

const FILTERED = `query ($name: String!, $limit: Int = 5, $order: order_by) {
  author(where: { name: { _eq: $name } }, limit: $limit, order_by: { id: $order }) { id } }`;

test('other variables are in the query string, where there is no body', () => {
  for (const method of ['GET', 'DELETE'] as const) {
    const operation = only({ url: 'a', query: FILTERED, methods: [method] }, method.toLowerCase());
    expect(operation.requestBody).toBeUndefined();
    const values = [
      'asc',
      'asc_nulls_first',
      'asc_nulls_last',
      'desc',
      'desc_nulls_first',
      'desc_nulls_last',
    ];
    expect(operation.parameters.slice(1)).toEqual([
      { name: 'name', in: 'query', required: true, schema: { type: 'string' } },
      { name: 'limit', in: 'query', required: false, schema: { type: 'integer', nullable: true } },
      {
        name: 'order',
        in: 'query',
        required: false,
        schema: { type: 'string', enum: values, nullable: true },
      },
    ]);
  }
});

test('they are in the body of POST, PUT and PATCH', () => {
  for (const method of ['POST', 'PUT', 'PATCH'] as const) {
    const operation = only({ url: 'a', query: FILTERED, methods: [method] }, method.toLowerCase());
    expect(operation.parameters).toHaveLength(1);
    expect(operation.requestBody).toMatchObject({
      required: true,
      content: { 'application/json': { schema: { type: 'object', required: ['name'] } } },
    });
  }
});

test('the response is what the document selects, under its aliases, fragments and all', () => {
  const query = `{ people: author { ...f key: id } author_by_pk(id: 1) { ... on author { meta } } }
    fragment f on author { name articles { title } }`;
  expect(schemaOf({ url: 'a', query })).toEqual({
    type: 'object',
    properties: {
      people: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            articles: { type: 'array', items: { type: 'object', properties: { title: { type: 'string' } } } },
            key: { type: 'integer' },
          },
        },
      },
      author_by_pk: {
        type: 'object',
        nullable: true,
        properties: { meta: { description: 'jsonb', nullable: true } },
      },
    },
  });
});

test('fragments in fragments end somewhere', () => {
  const deep = Array.from({ length: 20 }, (_, i) => {
    const next =
      i === 19 ? 'id' : `a: articles { author { ...f${i + 1} } } b: articles { author { ...f${i + 1} } }`;
    return `fragment f${i} on author { ${next} }`;
  });
  const schema = schemaOf({ url: 'a', query: `{ author { ...f0 } } ${deep.join(' ')}` });
  expect(JSON.stringify(schema).length).toBeLessThan(1_000_000);
});

test('methods of one path are beside each other', () => {
  const query = '{ author { id } }';
  const { paths } = describe({ url: 'a', query }, { url: 'a', query, methods: ['POST', 'PUT'] });
  expect(Object.keys(paths['/api/rest/a']!)).toEqual(['get', 'post', 'put']);
});

test('an endpoint whose document does not fit is left out', () => {
  expect(describe({ url: 'a', query: '{ nowhere }' }, { url: 'b', query: '{' }).paths).toEqual({});
});

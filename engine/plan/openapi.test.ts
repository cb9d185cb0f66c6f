/** The description of REST endpoints: paths, parameters, bodies, responses, components and problems, generated over types, nullability,
 *  defaults, positions and methods. Reference: docs/reference/behaviour/endpoints.md. */
import { expect, test } from 'vitest';
import type { RestMethod } from '../metadata/schema/collection.ts';
import { parseTemplate, Routes } from '../resolve/routes.ts';
import { lintedDocument, openapiDocument } from './openapi.ts';
import { MODEL } from './testing/ask.ts';

type Given = {
  readonly url: string;
  readonly query: string;
  readonly methods?: readonly RestMethod[];
  readonly comment?: string;
};

function describe(...endpoints: readonly Given[]) {
  const routes = new Routes();
  for (const { url, query, methods, comment = null } of endpoints) {
    const rest = { comment, maxAgeSeconds: null, segments: parseTemplate(url) };
    routes.add({ name: url, url, methods: methods ?? ['GET'], query, ...rest });
  }
  return openapiDocument({ ...MODEL, routes }, 'x-engine-');
}

const operation = (given: Given, method = 'get') =>
  Object.values(describe({ methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], ...given }).paths!)[0]![
    method
  ]!;
const schemaOf = (given: Given) => operation(given).responses['200']!.content['application/json'].schema;

const UUID = '[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89aAbB][a-f0-9]{3}-[a-f0-9]{12}';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The scalars that OpenAPI has a type for. The others are components without a type, and no parameters. */
const SCALARS = [
  { name: 'Int', known: { type: 'integer' }, literal: '5', value: 5 },
  { name: 'Float', known: { type: 'number' }, literal: '1.5', value: 1.5 },
  { name: 'Boolean', known: { type: 'boolean' }, literal: 'true', value: true },
  { name: 'String', known: { type: 'string' }, literal: '"a"', value: 'a' },
  { name: 'uuid', known: { type: 'string', pattern: UUID }, literal: '"a"', value: 'a' },
  { name: 'numeric', known: null, literal: '1', value: 1 },
  { name: 'jsonb', known: null, literal: '{a: [1, null]}', value: { a: [1, null] } },
];

const VARIABLES = SCALARS.flatMap((scalar) =>
  [false, true].flatMap((isNonNull) =>
    [false, true].flatMap((hasDefault) =>
      ['path', 'query'].map((position) => ({ ...scalar, isNonNull, hasDefault, position })),
    ),
  ),
);

test.each(VARIABLES)(
  'a variable $name, non-null $isNonNull, with a default $hasDefault, in the $position',
  ({ name, known, literal, value, isNonNull, hasDefault, position }) => {
    const query = `query ($v: ${name}${isNonNull ? '!' : ''}${hasDefault ? ` = ${literal}` : ''}) { author { id } }`;
    const url = position === 'path' ? 'a/:v' : 'a';
    const isRequired = isNonNull && !hasDefault;
    const given = hasDefault ? { default: value } : {};
    const parameter = {
      name: 'v',
      in: position,
      required: position === 'path' || isRequired,
      ...(position === 'path' || isRequired
        ? { description: '_"v" is required (enter it either in parameters or request body)_' }
        : {}),
      schema: known ? { ...given, ...known } : { type: 'string' },
    };
    const isInlined = known !== null && name !== 'uuid';
    const described = { title: name, nullable: !isNonNull, ...known };
    const schema =
      isInlined || hasDefault
        ? { ...described, ...given }
        : { $ref: `#/components/schemas/${name}${isNonNull ? '!' : ''}` };
    for (const method of METHODS) {
      const { parameters, requestBody } = operation({ url, query }, method);
      expect(parameters.slice(1)).toEqual(known || position === 'path' ? [parameter] : []);
      expect(requestBody).toEqual(
        method === 'get' || method === 'delete'
          ? undefined
          : {
              description: 'Query parameters can also be provided in the request body as a JSON object',
              required: isRequired && known === null,
              content: { 'application/json': { schema: { type: 'object', properties: { v: schema } } } },
            },
      );
    }
    const { schemas } = describe({ url, query }).components;
    if (!isInlined) expect(schemas).toMatchObject({ [`${name}${isNonNull ? '!' : ''}`]: described });
    else expect(schemas).toBeUndefined();
  },
);

test('parameters are sorted after the secret; lists, enums and inputs are in bodies only', () => {
  const query =
    'query ($z: Int, $ids: [Int!]!, $order: order_by, $where: author_bool_exp!, $a: String!) { author { id } }';
  const { parameters, requestBody } = operation({ url: 'x', query }, 'post');
  expect(parameters.map(({ name }) => name)).toEqual(['x-engine-admin-secret', 'a', 'z']);
  expect(parameters[0]).toEqual({
    name: 'x-engine-admin-secret',
    in: 'header',
    description: 'Your x-engine-admin-secret will be used for authentication of the API request.',
    schema: { type: 'string' },
  });
  expect(requestBody).toMatchObject({ required: true });
  expect(requestBody!.content['application/json'].schema.properties).toEqual({
    a: { title: 'String', nullable: false, type: 'string' },
    ids: { type: 'array', nullable: false, items: { title: 'Int', nullable: false, type: 'integer' } },
    order: { $ref: '#/components/schemas/order_by' },
    where: { $ref: '#/components/schemas/author_bool_exp!' },
    z: { title: 'Int', nullable: true, type: 'integer' },
  });
});

test('inputs are components that refer to each other, and enums list their values', () => {
  const query = 'query ($where: author_bool_exp, $order: order_by!) { author { id } }';
  const { schemas = {} } = describe({ url: 'x', query, methods: ['POST'] }).components;
  expect(schemas['author_bool_exp']).toMatchObject({
    title: 'author_bool_exp',
    type: 'object',
    nullable: true,
    properties: {
      _not: { $ref: '#/components/schemas/author_bool_exp' },
      _and: { type: 'array', nullable: true, items: { $ref: '#/components/schemas/author_bool_exp!' } },
      articles: { $ref: '#/components/schemas/article_bool_exp' },
      id: { $ref: '#/components/schemas/Int_comparison_exp' },
    },
  });
  expect(schemas['order_by!']).toMatchObject({
    title: 'order_by',
    nullable: false,
    enum: ['asc', 'asc_nulls_first', 'asc_nulls_last', 'desc', 'desc_nulls_first', 'desc_nulls_last'],
  });
  const names = JSON.stringify(schemas).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  for (const [, name] of names) expect(schemas).toHaveProperty([name!]);
});

test('the response is what the document selects, under its aliases, fragments and all', () => {
  const query = `{ people: author { ...f key: id __typename } author_by_pk(id: 1) { ... on author { meta } } }
    fragment f on author { name articles { title } articles { id } }`;
  expect(schemaOf({ url: 'a', query })).toEqual({
    properties: {
      people: {
        type: 'array',
        nullable: false,
        items: {
          ...object('author', false),
          properties: {
            name: { title: 'String', nullable: false, type: 'string' },
            articles: {
              type: 'array',
              nullable: false,
              items: {
                ...object('article', false),
                properties: {
                  title: { title: 'String', nullable: false, type: 'string' },
                  id: { title: 'Int', nullable: false, type: 'integer' },
                },
              },
            },
            key: { title: 'Int', nullable: false, type: 'integer' },
            __typename: { title: 'String', nullable: false, type: 'string' },
          },
        },
      },
      author_by_pk: {
        ...object('author', true),
        properties: { meta: { $ref: '#/components/schemas/jsonb' } },
      },
    },
  });
});

function object(title: string, nullable: boolean) {
  return { title, nullable, type: 'object', description: `columns and relationships of "${title}"` };
}

test('operations name their method and path, and print comment and query', () => {
  const query = 'query ($id: Int!) { author_by_pk(id: $id) { name } }';
  for (const method of METHODS) {
    const { summary, description, responses } = operation(
      { url: 'author/:id', query, comment: 'One.' },
      method,
    );
    expect([summary, description]).toEqual([
      'author/:id',
      `One.***\nThe GraphQl query for this endpoint is:\n\`\`\` graphql\n${query}\n\`\`\``,
    ]);
    expect(responses['200']!.description).toBe(`Responses for ${method.toUpperCase()} /api/rest/author/{id}`);
  }
});

test('methods of one path are beside each other', () => {
  const query = '{ author { id } }';
  const { paths } = describe({ url: 'a', query }, { url: 'a', query, methods: ['PUT', 'POST'] });
  expect(Object.keys(paths!['/api/rest/a']!)).toEqual(['get', 'post', 'put']);
});

const ABOUT = 'This OpenAPI specification is automatically generated by Pergola.';

test('without endpoints there are no paths', () => {
  expect(describe()).toEqual({
    openapi: '3.0.0',
    info: { title: 'Rest Endpoints', description: ABOUT, version: '' },
    components: {},
  });
});

test.each([
  ['{ nowhere author { id } }', "$.nowhere: field 'nowhere' not found in object 'query_root'"],
  ['{ author { id lost } }', "$.author.lost: field 'lost' not found in object 'author'"],
  ['{ x: author { id { a } } }', "$.author.id: scalar 'Int' does not accept a selection set"],
  ['{ author }', "$.author: object of type 'author' must have a selection set"],
  ['query ($v: lost!) { author { id } }', "$.v: type 'lost' not found in the schema"],
  ['query ($v: [author]) { author { id } }', "$.v: object 'author' cannot be used in an input type"],
])('an endpoint that does not fit stays, and is reported: %s', (query, problem) => {
  const { info, paths } = describe({ url: 'a', query }, { url: 'b', query: '{ author { id } }' });
  expect(info.description).toBe(`${ABOUT}\n\nEndpoint "a":\n- ⚠️ ${problem}`);
  expect(Object.keys(paths!)).toEqual(['/api/rest/a', '/api/rest/b']);
});

test('fragments in fragments end somewhere', () => {
  const deep = Array.from({ length: 20 }, (_, i) => {
    const next =
      i === 19 ? 'id' : `a: articles { author { ...f${i + 1} } } b: articles { author { ...f${i + 1} } }`;
    return `fragment f${i} on author { ${next} }`;
  });
  const schema = schemaOf({ url: 'a', query: `{ author { ...f0 } } ${deep.join(' ')}` });
  expect(JSON.stringify(schema).length).toBeLessThan(2_000_000);
});

test('the form for generators has ids, servers, security, errors, and names that the specification allows', () => {
  const query = 'query ($key: uuid!, $order: order_by = asc) { everything { key is_on } }';
  const given = describe({ url: 'a-b', query, methods: ['GET', 'POST'] }, { url: 'a.b', query });
  const linted = lintedDocument(given, { version: 'v2.1.0', headerPrefix: 'x-engine-' });
  expect(linted).toMatchObject({ info: { version: 'v2.1.0' }, servers: [{ url: '/' }] });
  expect(linted.security).toEqual([{ adminSecret: [] }, { token: [] }, {}]);
  const { get, post } = linted.paths!['/api/rest/a-b']!;
  const other = linted.paths!['/api/rest/a.b']!['get']!;
  expect([get, post, other].map((each) => each!.operationId)).toEqual(['get_a_b', 'post_a_b', 'get_a_b_2']);
  expect(Object.keys(get!.responses)).toEqual(['200', '4XX']);
  expect(get!.parameters.map(({ name }) => name)).toEqual(['key']);
  expect(post!.requestBody!.content['application/json'].schema.properties).toMatchObject({
    key: { $ref: '#/components/schemas/uuid.nonNull' },
    order: { type: 'string', nullable: true, enum: expect.arrayContaining(['asc', null]), default: 'asc' },
  });
  for (const name of Object.keys(linted.components.schemas!)) expect(name).toMatch(/^[\w.-]+$/);
  expect(lintedDocument(describe(), { version: '', headerPrefix: 'x-engine-' }).paths).toEqual({});
});

/** Variables of REST endpoints: each type from each source (path, query string, JSON body with and without its content type, form), good, empty,
 *  null, of a wrong kind, unknown and absent. Reference: docs/reference/behaviour/endpoints.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;

/** A column of each type with one value, as text in a URL and as JSON, and a text that is no value of it. */
const TYPES = [
  { type: 'Int', sql: 'int', text: '7', json: 7, wrong: 'x' },
  { type: 'Float', sql: 'float4', text: '1.5', json: 1.5, wrong: 'x' },
  { type: 'Boolean', sql: 'boolean', text: 'true', json: true, wrong: 'x' },
  { type: 'String', sql: 'text', text: 'a b', json: 'a b', wrong: null },
  {
    type: 'bigint',
    sql: 'int8',
    text: '9007199254740993',
    json: '9007199254740993',
    wrong: 'x',
  },
  { type: 'numeric', sql: 'numeric', text: '2.50', json: 2.5, wrong: 'x' },
  {
    type: 'date',
    sql: 'date',
    text: '2020-02-29',
    json: '2020-02-29',
    wrong: '2020-13-01',
  },
  {
    type: 'uuid',
    sql: 'uuid',
    text: '6a7dbc54-8a2b-4a7e-9a57-3b1f7f8e9c01',
    json: '6a7dbc54-8a2b-4a7e-9a57-3b1f7f8e9c01',
    wrong: 'x',
  },
] as const;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const queryOf = (type: string, isRequired: boolean) => {
  const column = `of_${type.toLowerCase()}`;
  return `query ($v: ${type}${isRequired ? '!' : ''}) { thing(where: {${column}: {_eq: $v}}) { id } }`;
};

beforeAll(async () => {
  const columns = TYPES.map(({ type, sql }) => `of_${type.toLowerCase()} ${sql}`).join(', ');
  const values = TYPES.map(({ text }) => `'${text}'`).join(', ');
  const queries = TYPES.flatMap(({ type }) => [
    { name: `${type}`, query: queryOf(type, false) },
    { name: `${type}_required`, query: queryOf(type, true) },
  ]);
  const endpoints = queries.flatMap(({ name }) =>
    [name, `${name}/:v`].map((url) => {
      const definition = { query: { collection_name: 'stored', query_name: name } };
      return ['create_rest_endpoint', { name: url, url, methods: METHODS, definition }] as const;
    }),
  );
  const rows = (filter: object) => ({ columns: '*', filter });
  world = await startWorld({
    sql: `create table thing (id int primary key, ${columns}); insert into thing values (1, ${values})`,
    tables: ['thing'],
    operations: [
      [
        'pg_create_select_permission',
        { table: 'thing', role: 'blind', permission: rows({ id: { _gt: 1 } }) },
      ],
      ['create_query_collection', { name: 'stored', definition: { queries } }],
      ...endpoints,
    ],
  });
});

afterAll(() => world?.close());

type Way = (name: string, text: string, value: unknown) => Sent;

type Sent = { readonly path: string; readonly init: RequestInit };

/** The ways to send a value. Those of a URL and of a form send its text, and the others its JSON. */
const SOURCES = {
  path: (name, text) => ({ path: `${name}/${encodeURIComponent(text)}`, init: {} }),
  query: (name, text) => ({ path: `${name}?${new URLSearchParams({ v: text })}`, init: {} }),
  form: (name, text) => ({ path: name, init: { method: 'POST', body: new URLSearchParams({ v: text }) } }),
  json: (name, _, value) => body(name, value, 'application/json'),
  'json without a content type': (name, _, value) => body(name, value, null),
  'json labelled as a form': (name, _, value) => body(name, value, 'application/x-www-form-urlencoded'),
} as const satisfies Readonly<Record<string, Way>>;

type Source = keyof typeof SOURCES;

function through(source: Source, name: string, text: string, value: unknown = text): Sent {
  return (SOURCES[source] as Way)(name, text, value);
}

const IN_URL = ['path', 'query', 'form'] as const;
const IN_JSON = ['json', 'json without a content type', 'json labelled as a form'] as const;

function body(path: string, value: unknown, contentType: string | null, method = 'POST'): Sent {
  // Bytes have no content type of their own.
  const bytes = new TextEncoder().encode(JSON.stringify({ v: value }));
  return { path, init: { method, body: bytes, headers: contentType ? { 'content-type': contentType } : {} } };
}

async function send({ path, init }: Sent, role = 'admin'): Promise<readonly [status: number, body: unknown]> {
  const headers = { ...init.headers, 'x-engine-role': role };
  const response = await world.engine.fetch(`/api/rest/${path}`, { ...init, headers });
  return [response.status, await response.json()];
}

const FOUND = [200, { thing: [{ id: 1 }] }];
const NONE = [200, { thing: [] }];
const missing = [
  400,
  { path: '$', error: 'expecting a value for non-nullable variable: "v"', code: 'validation-failed' },
];

/** The answer without a value: a comparison with null is refused. */
const nothing = (type: string) => [
  400,
  {
    path: `$.selectionSet.thing.args.where.of_${type.toLowerCase()}._eq`,
    error: `unexpected null value for type '${type}'`,
    code: 'validation-failed',
  },
];

const GOOD = TYPES.flatMap((each) =>
  (Object.keys(SOURCES) as Source[]).map((source) => ({ ...each, source })),
);

test.each(GOOD)('$type from the $source is found by its value, within the permission', async (each) => {
  for (const name of [each.type, `${each.type}_required`]) {
    const sent = through(each.source, name, each.text, each.json);
    expect(await send(sent)).toEqual(FOUND);
    expect(await send(sent, 'blind')).toEqual(NONE);
  }
});

const WRONG = TYPES.flatMap(({ type, wrong }) =>
  (Object.keys(SOURCES) as Source[]).flatMap((source) => (wrong === null ? [] : [{ type, wrong, source }])),
);

test.each(WRONG)('$type from the $source refuses $wrong', async ({ type, wrong, source }) => {
  const [status, answer] = await send(through(source, type, wrong, wrong));
  expect([status, answer]).toMatchObject([400, { code: expect.any(String), path: expect.any(String) }]);
  expect(['parse-failed', 'validation-failed', 'data-exception']).toContain(
    (answer as { code: string }).code,
  );
});

const EMPTY = TYPES.flatMap(({ type }) => (['query', 'form'] as const).map((source) => ({ type, source })));

test.each(EMPTY)(
  'empty text of $type from the $source is not given, but for Boolean and where it is required',
  async ({ type, source }) => {
    const empty = await send(through(source, type, '', ''));
    expect(empty).toEqual(type === 'Boolean' ? FOUND : nothing(type));
    const [status, answer] = await send(through(source, `${type}_required`, '', ''));
    if (type === 'Boolean') expect([status, answer]).toEqual(FOUND);
    else if (type === 'String') expect([status, answer]).toEqual(NONE);
    else expect(status).toBe(400);
  },
);

test.each(TYPES)('$type that is absent or null is refused where it is required', async ({ type }) => {
  expect(await send({ path: `${type}_required`, init: {} })).toEqual(missing);
  for (const source of IN_JSON) {
    const [status, answer] = await send(through(source, `${type}_required`, '', null));
    expect([status, answer]).toMatchObject([400, { code: 'validation-failed' }]);
  }
  expect(await send({ path: type, init: {} })).toEqual(nothing(type));
});

test.each(IN_URL)('the %s loses against JSON, unless it is the path', async (source) => {
  const json = { v: 7 };
  const { path } = through(source, 'Int', '8', 8);
  const [name] = source === 'form' ? ['Int'] : [path];
  const init = {
    method: 'POST',
    body: JSON.stringify(json),
    headers: { 'content-type': 'application/json' },
  };
  expect(await send({ path: name!, init })).toEqual(source === 'path' ? NONE : FOUND);
});

test.each(METHODS)(
  '%s reads the path and the query string, and a body where there can be one',
  async (method) => {
    expect(await send({ path: 'Int/7', init: { method } })).toEqual(FOUND);
    expect(await send({ path: 'Int?v=8', init: { method } })).toEqual(NONE);
    if (method !== 'GET') expect(await send(body('Int', 8, 'application/json', method))).toEqual(NONE);
  },
);

test('a variable the query does not declare is refused, wherever it is', async () => {
  const unexpected = [400, { path: '$', error: 'Unexpected variable w', code: 'bad-request' }];
  const json = { method: 'POST', body: '{"w": null}' };
  expect(await send({ path: 'Int?w=1', init: {} })).toEqual(unexpected);
  expect(await send({ path: 'Int/7?w=1', init: {} })).toEqual(unexpected);
  expect(
    await send({ path: 'Int', init: { ...json, headers: { 'content-type': 'application/json' } } }),
  ).toEqual(unexpected);
  expect(
    await send({ path: 'Int', init: { method: 'POST', body: new URLSearchParams({ w: '1' }) } }),
  ).toEqual(unexpected);
  // No variable can have this name.
  expect(await send({ path: 'Int/7?a-b=1', init: {} })).toEqual(FOUND);
});

test('methods, slashes and paths select the endpoint', async () => {
  const notFound = [404, { path: '$', error: 'Endpoint not found', code: 'not-found' }];
  for (const path of ['', 'lost', 'Int/', 'Int/7/', 'Int//7', 'int', 'Int/7/8']) {
    expect([path, await send({ path, init: {} })]).toEqual([path, notFound]);
  }
});

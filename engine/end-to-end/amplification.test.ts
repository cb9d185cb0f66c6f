/** A short request cannot stand for long work: the fields that it selects, the text of its introspections, the values that it gives and
 *  the requests of a batch are limited before they are worked on, on every endpoint, for every role. What tools send passes. */
import { getIntrospectionQuery, type IntrospectionOptions } from 'graphql';
import { getIntrospectionQuery as getIntrospectionQuery16 } from 'graphql-16';
import { beforeAll, describe, expect, test } from 'vitest';
import { replaceMetadata } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';

const TABLES = 12;
const indices = Array.from({ length: TABLES }, (_, i) => i);
const ROLES = ['admin', 'user', 'nobody'] as const;
const ENDPOINTS = ['/v1/graphql', '/v1alpha1/graphql', '/v1beta1/relay'] as const;

const { engine } = testWorld(() =>
  indices
    .map((i) => `create table t${i} (id int primary key, name text, amount int8, tags text[], up int);`)
    .join('\n'),
);

beforeAll(async () => {
  const relationship = (to: number, column_mapping: Readonly<Record<string, string>>) => ({
    manual_configuration: {
      remote_table: { schema: 'public', name: `t${(to + TABLES) % TABLES}` },
      column_mapping,
    },
  });
  await replaceMetadata(engine, {
    tables: indices.map((i) => ({
      table: { schema: 'public', name: `t${i}` },
      object_relationships: [{ name: 'before', using: relationship(i - 1, { up: 'id' }) }],
      array_relationships: [{ name: 'after', using: relationship(i + 1, { id: 'up' }) }],
      select_permissions: [
        { role: 'user', permission: { columns: '*', filter: {}, allow_aggregations: true } },
      ],
      insert_permissions: [{ role: 'user', permission: { columns: '*', check: {} } }],
      update_permissions: [{ role: 'user', permission: { columns: '*', filter: {}, check: {} } }],
    })),
  });
});

type Answer = {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions: { readonly code: string; readonly path: string };
  }[];
};

async function send(body: unknown, role: string, endpoint: string = '/v1/graphql'): Promise<unknown> {
  const response = await engine.fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-engine-role': role },
    body: JSON.stringify(body),
  });
  return response.json();
}

const many = (count: number, of: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => of(i)).join(' ');
const REFERENCE = many(9, () => 'kind name ofType {') + ' name ' + '}'.repeat(9);
const WHOLE = `name description kind fields(includeDeprecated: true) { name args { name type { ${REFERENCE} } } type { ${REFERENCE} } }`;
const tooManyFields = (path: unknown = expect.any(String)) => ({
  errors: [
    {
      message: 'the request selects more than 20000 fields',
      extensions: { code: 'validation-failed', path },
    },
  ],
});

describe('what tools send passes', () => {
  const flags = [
    'descriptions',
    'specifiedByUrl',
    'directiveIsRepeatable',
    'schemaDescription',
    'inputValueDeprecation',
    'experimentalDirectiveDeprecation',
    'oneOf',
  ] as const;
  /** Every flag alone, none, and all. */
  const options: readonly IntrospectionOptions[] = [
    {},
    ...flags.map((flag) => ({ [flag]: true })),
    { ...Object.fromEntries(flags.map((flag) => [flag, true])), typeDepth: 30 },
  ];

  test.each(ROLES)('introspections of graphql-js with any options, on every endpoint: %s', async (role) => {
    for (const endpoint of ENDPOINTS) {
      for (const each of options) {
        // The engine's types do not have every field that the newest library knows.
        for (const query of [getIntrospectionQuery(each), getIntrospectionQuery16(each)]) {
          const answer = (await send({ query }, role, endpoint)) as Answer;
          expect(answer.errors).toBeUndefined();
        }
      }
    }
  });

  test('a batch of small requests', async () => {
    const batch = Array.from({ length: 500 }, (_, i) => ({ query: `{ t${i % TABLES} { id name } }` }));
    const answers = (await send(batch, 'user')) as readonly Answer[];
    expect(answers).toHaveLength(500);
    expect(answers.every(({ data }) => data !== undefined)).toBe(true);
  });
});

/** Each is short, and would print or plan megabytes. */
const SELECTIONS: readonly (readonly [string, string])[] = [
  ['aliases of the list of types', `{ __schema { ${many(60, (i) => `a${i}: types { ${WHOLE} }`)} } }`],
  ['aliases of the schema', `{ ${many(60, (i) => `a${i}: __schema { types { ${WHOLE} } }`)} }`],
  ['aliases of a type', `{ ${many(60, (i) => `a${i}: __type(name: "query_root") { ${WHOLE} }`)} }`],
  [
    'aliases of arguments',
    `{ __schema { types { fields { ${many(600, (i) => `a${i}: args { name type { name } }`)} } } } }`,
  ],
  [
    'fragments that spread each other twice',
    `{ ...f0 } ${many(20, (i) => `fragment f${i} on query_root { a${i}: __schema { ...g${i} } ...f${i + 1} } fragment g${i} on __Schema { types { ${many(60, (j) => `b${j}: name`)} } }`)} fragment f20 on query_root { __typename }`,
  ],
];

describe('more work than its text is refused before it is done', () => {
  const doubled = `{ t${TABLES - 1} { ...f0 } } ${many(14, (i) => `fragment f${i} on t${(2 * TABLES - 1 - i) % TABLES} { a: before { ...f${i + 1} } b: before { ...f${i + 1} } }`)} fragment f14 on t${(2 * TABLES - 15) % TABLES} { id }`;

  test.each(SELECTIONS)('%s', async (_, query) => {
    for (const role of ROLES) expect(await send({ query }, role)).toEqual(tooManyFields());
    expect(await send({ query }, 'user', '/v1beta1/relay')).toEqual(tooManyFields());
    expect(await send([{ query }], 'user')).toEqual([tooManyFields()]);
  });

  test('relationships in fragments that spread each other twice', async () => {
    expect(await send({ query: doubled }, 'user')).toEqual(tooManyFields());
  });

  test('over a WebSocket', async () => {
    const headers = { 'x-engine-admin-secret': engine.adminSecret, 'x-engine-role': 'user' };
    const socket = await openSocket(engine.url, 'graphql-transport-ws', headers);
    try {
      socket.send({ type: 'connection_init' });
      expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
      socket.send({ type: 'subscribe', id: '1', payload: { query: SELECTIONS[0]![1] } });
      expect(await socket.next(20_000)).toMatchObject({
        id: '1',
        type: 'error',
        payload: tooManyFields().errors,
      });
    } finally {
      socket.close();
    }
  });

  test('introspections that repeat texts are limited by what they print, all of a request together', async () => {
    const long = (i: number) =>
      `a${i}: __schema { types { ${many(60, (j) => `b${i}x${j}: name`)} fields { args { ${many(40, (j) => `c${i}x${j}: name`)} } } } }`;
    const tooLarge = {
      errors: [
        {
          message: expect.stringMatching(/^the introspection is larger than \d+ characters$/),
          extensions: { code: 'validation-failed', path: '$.selectionSet.__schema' },
        },
      ],
    };
    for (const role of ['admin', 'user']) {
      expect(await send({ query: `{ ${long(0)} ${long(1)} ${long(2)} ${long(3)} }` }, role)).toEqual(
        tooLarge,
      );
    }
    expect(
      (
        (await send(
          { query: '{ __schema { types { name fields { name args { name } } } } }' },
          'user',
        )) as Answer
      ).errors,
    ).toBeUndefined();
  });
});

describe('batches', () => {
  test('have at most 1,000 requests, which select together what one may', async () => {
    const small = { query: '{ __typename }' };
    for (const role of ROLES) {
      expect(
        await send(
          Array.from({ length: 1001 }, () => small),
          role,
        ),
      ).toEqual({
        errors: [
          {
            message: 'batch limit exceeded: the body has 1001 operations, the limit is 1000',
            extensions: { code: 'batch-limit-exceeded', path: '$' },
          },
        ],
      });
    }
    const each = { query: `{ ${many(3000, (i) => `a${i}: __typename`)} }` };
    const answers = (await send(
      Array.from({ length: 10 }, () => each),
      'user',
    )) as readonly Answer[];
    expect(answers.map(({ errors }) => errors?.[0]?.message)).toEqual([
      ...Array.from({ length: 6 }, () => undefined),
      ...Array.from({ length: 4 }, () => 'the request selects more than 20000 fields'),
    ]);
  });

  test('plan at most one request that is too large, whatever makes it so', async () => {
    const doubled = `{ t${TABLES - 1} { ...f0 } } ${many(14, (i) => `fragment f${i} on t${(2 * TABLES - 1 - i) % TABLES} { a: before { ...f${i + 1} } b: before { ...f${i + 1} } }`)} fragment f14 on t${(2 * TABLES - 15) % TABLES} { id }`;
    const inMany = `query ($w: t0_bool_exp!) { ${many(100, (i) => `a${i}: t0(where: $w) { id }`)} }`;
    const w = { _or: Array.from({ length: 1_000 }, (_, i) => ({ id: { _eq: i } })) };
    for (const large of [{ query: doubled }, { query: inMany, variables: { w } }]) {
      // Each is another text, so that no cache has it.
      const batch = Array.from({ length: 100 }, (_, i) => ({ ...large, query: `${large.query} # ${i}` }));
      const before = process.cpuUsage();
      const answers = (await send(batch, 'user')) as readonly Answer[];
      const { user, system } = process.cpuUsage(before);
      expect(answers.every(({ errors }) => errors?.[0]?.extensions.code === 'validation-failed')).toBe(true);
      expect(answers[99]).toEqual(tooManyFields());
      // One takes up to 0.2 s; all of them would take many seconds.
      expect((user + system) / 1_000_000).toBeLessThan(4);
    }
    const small = { query: '{ __typename }' };
    const mixed = (await send([small, { query: doubled }, small], 'user')) as readonly Answer[];
    expect(mixed.map(({ errors }) => errors?.length ?? 0)).toEqual([0, 1, 1]);
  });

  test('of introspections are a matter of milliseconds each', async () => {
    const batch = Array.from({ length: 900 }, (_, i) => ({ query: `{ __type(name: "t${i}") { name } }` }));
    const before = process.cpuUsage();
    const answers = (await send(batch, 'user')) as readonly Answer[];
    const { user, system } = process.cpuUsage(before);
    expect(answers.slice(0, TABLES).map(({ data }) => data)).toEqual(
      indices.map((i) => ({ __type: { name: `t${i}` } })),
    );
    // About 0.3 s; 900 schemas would take a minute.
    expect((user + system) / 1_000_000).toBeLessThan(8);
  });
});

describe('input', () => {
  const tooManyInputs = {
    errors: [
      {
        message: 'the request has more than 200000 input values',
        extensions: { code: 'validation-failed', path: expect.stringMatching(/^\$\.selectionSet\./) },
      },
    ],
  };
  const list = <T>(count: number, of: (i: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => of(i));
  const where = 'query ($w: t0_bool_exp!) { t0(where: $w) { id } }';

  test('a long list of scalars is one value, and takes a fraction of a second of processor time', async () => {
    const types = { Int: [1, 'id'], String: ['x', 'name'], bigint: [5, 'amount'] } as const;
    for (const [type, [value, column]] of Object.entries(types)) {
      for (const operator of ['_in', '_nin']) {
        const query = `query ($l: [${type}!]!) { t0(where: { ${column}: { ${operator}: $l } }) { id } }`;
        const before = process.cpuUsage();
        expect(await send({ query, variables: { l: list(300_000, () => value) } }, 'user')).toEqual({
          data: { t0: [] },
        });
        const { user, system } = process.cpuUsage(before);
        // About 150 ms, with the client.
        expect((user + system) / 1000).toBeLessThan(2500);
      }
    }
  });

  test.each([
    ['branches', where, { w: { _or: list(20_000, (i) => ({ id: { _eq: i } })) } }],
    ['empty branches', where, { w: { _and: list(150_000, () => ({})) } }],
    [
      'branches with relationships',
      where,
      { w: { _or: list(9_000, () => ({ before: { after: { id: { _eq: 1 } } } })) } },
    ],
    [
      'one condition in many fields',
      `query ($w: t0_bool_exp!) { ${many(100, (i) => `a${i}: t0(where: $w) { id }`)} }`,
      { w: { _or: list(1_000, (i) => ({ id: { _eq: i } })) } },
    ],
    [
      'a literal in a fragment',
      `{ t2 { ${many(300, (i) => `a${i}: before { ...f }`)} } } fragment f on t1 { after(where: { id: { _in: [${many(1000, String)}] } }) { id } }`,
      undefined,
    ],
    [
      'orders',
      'query ($o: [t0_order_by!]) { t0(order_by: $o) { id } }',
      { o: list(150_000, () => ({ id: 'asc' })) },
    ],
    [
      'columns',
      'query ($o: [t0_select_column!]) { t0(distinct_on: $o) { id } }',
      { o: list(250_000, () => 'id') },
    ],
    [
      'rows',
      'mutation ($o: [t0_insert_input!]!) { insert_t0(objects: $o) { affected_rows } }',
      { o: list(250_000, () => ({})) },
    ],
    [
      'updates',
      'mutation ($o: [t0_updates!]!) { update_t0_many(updates: $o) { affected_rows } }',
      { o: list(15_000, (i) => ({ where: { id: { _eq: i } }, _set: { name: 'x' } })) },
    ],
  ])('%s: more than are planned within a second are refused', async (_, query, variables) => {
    expect(await send({ query, variables }, 'user')).toEqual(tooManyInputs);
  });

  test('the administrator inserts as many rows as the body has', async () => {
    const query = 'mutation ($o: [t0_insert_input!]!) { insert_t0(objects: $o) { affected_rows } }';
    expect(
      await send({ query, variables: { o: list(70_000, (id) => ({ id, name: 'x' })) } }, 'admin'),
    ).toEqual({
      data: { insert_t0: { affected_rows: 70_000 } },
    });
  });
});

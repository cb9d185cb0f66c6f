/** Root fields of subscriptions: how many and which may be together, with and without the directive, and the arguments of streams. Reference:
 *  docs/reference/behaviour/subscriptions.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSocket } from '../../testing/websocket.ts';
import { type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;

beforeAll(async () => {
  const permission = { columns: ['id'], filter: { id: { _lt: 2 } }, allow_aggregations: true };
  world = await startWorld({
    sql: `create table note (id int primary key, body text, secret text); insert into note values (1, null, null), (2, null, null);
      create table cursors (id int primary key, given text not null, maybe text); insert into cursors values (1, 'a', 'a');`,
    tables: ['note', 'cursors'],
    operations: [['pg_create_select_permission', { table: 'note', role: 'reader', permission }]],
    options: { adminInternalErrors: false, liveQueriesMultiplexedRefetchInterval: 100 },
  });
});

afterAll(() => world?.close());

/** Sends a subscription and returns its first message: the data, or the first error. */
async function first(query: string, variables: object = {}, role = 'admin'): Promise<unknown> {
  const socket = await openSocket(world.engine.url, 'graphql-transport-ws');
  const headers = { 'x-engine-admin-secret': world.engine.adminSecret, 'x-engine-role': role };
  socket.send({ type: 'connection_init', payload: { headers } });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: { query, variables } });
  const { type, payload } = await socket.next(1000).finally(() => socket.close());
  if (type === 'next') return (payload as { data: unknown }).data;
  const [error] = payload as [{ message: string; extensions: { path: string; code: string } }];
  return { message: error.message, ...error.extensions };
}

/** Each kind of root, and what `reader` receives, who sees the first row alone. */
const KINDS = {
  rows: { field: 'note { id }', data: [{ id: 1 }], isStream: false },
  row: { field: 'note_by_pk(id: 2) { id }', data: null, isStream: false },
  aggregate: {
    field: 'note_aggregate { aggregate { count } }',
    data: { aggregate: { count: 1 } },
    isStream: false,
  },
  stream: {
    field: 'note_stream(cursor: {initial_value: {id: 0}}, batch_size: 5) { id }',
    data: [{ id: 1 }],
    isStream: true,
  },
} as const;

const NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];

const ONE_FIELD = {
  message: 'subscriptions must select one top level field',
  path: '$',
  code: 'validation-failed',
};

test.each(NAMES)('one root of kind %s sends what the role may see', async (name) => {
  const { field, data } = KINDS[name];
  expect(await first(`subscription { a: ${field} }`, {}, 'reader')).toEqual({ a: data });
  expect(await first(`subscription @_multiple_top_level_fields { a: ${field} }`, {}, 'reader')).toEqual({
    a: data,
  });
  const hidden = field.replace(/\{ id \}$|count/, (part) =>
    part === 'count' ? 'max { secret }' : '{ secret }',
  );
  expect(await first(`subscription { a: ${hidden} }`, {}, 'reader')).toMatchObject({
    code: 'validation-failed',
  });
});

const PAIRS = NAMES.flatMap((one) => NAMES.map((other) => ({ one, other })));

test.each(PAIRS)(
  '$one beside $other: with the directive only, and never a stream',
  async ({ one, other }) => {
    const [a, b] = [KINDS[one], KINDS[other]];
    const fields = `a: ${a.field} b: ${b.field}`;
    expect(await first(`subscription { ${fields} }`, {}, 'reader')).toEqual(ONE_FIELD);
    const together = await first(`subscription @_multiple_top_level_fields { ${fields} }`, {}, 'reader');
    expect(together).toEqual(a.isStream || b.isStream ? ONE_FIELD : { a: a.data, b: b.data });
  },
);

test.each([
  [
    'fragments count by their fields',
    'subscription { ...f } fragment f on subscription_root { a: note { id } b: note { id } }',
  ],
  ['__typename counts', 'subscription { __typename note { id } }'],
  ['nothing is left after @skip', 'subscription { note @skip(if: true) { id } }'],
])('%s', async (_, query) => {
  expect(await first(query)).toEqual(ONE_FIELD);
});

test('a field that is skipped does not count', async () => {
  const query = 'subscription ($off: Boolean!) { a: note { id } b: note @skip(if: $off) { id } }';
  expect(await first(query, { off: true }, 'reader')).toEqual({ a: [{ id: 1 }] });
  expect(await first(query, { off: false }, 'reader')).toEqual(ONE_FIELD);
});

test('the directive is for subscriptions alone', async () => {
  const { errors } = await world.engine.graphql('query @_multiple_top_level_fields { note { id } }');
  expect(errors).toMatchObject([{ extensions: { code: 'validation-failed' } }]);
});

const ARGS = '$.selectionSet.note_stream.args';

/** Sizes of batches: text in the document, value of a variable, and the refusal that both have in common. */
const SIZES = [
  { size: -1, part: 'non-negative 32-bit integer' },
  { size: 2147483648, part: '' },
  { size: 1.5, part: '' },
  { size: 'x', part: '' },
  { size: true, part: '' },
  { size: null, part: '' },
];

test.each(SIZES)(
  'a batch of size $size is refused, as a literal and as a variable',
  async ({ size, part }) => {
    // A number that is no integer of 32 bits does not parse.
    const code = expect.stringMatching(
      typeof size === 'number' && part === '' ? /failed$/ : /^validation-failed$/,
    );
    const refusal = { code, message: expect.stringContaining(part) };
    const cursor = 'cursor: {initial_value: {id: 0}}';
    const literal = `subscription { note_stream(${cursor}, batch_size: ${JSON.stringify(size)}) { id } }`;
    expect(await first(literal)).toMatchObject({ ...refusal, path: `${ARGS}.batch_size` });
    const variable = `subscription ($n: Int!) { note_stream(${cursor}, batch_size: $n) { id } }`;
    expect(await first(variable, { n: size })).toMatchObject(refusal);
  },
);

test.each(['literal', 'variable'])(
  'a %s null is a cursor of columns that may be null, after which no row comes',
  async (form) => {
    const send = async (column: string) => {
      const isLiteral = form === 'literal';
      const value = isLiteral ? 'null' : '$from';
      const query = `subscription${isLiteral ? '' : ' ($from: String)'} {
      cursors_stream(cursor: {initial_value: {${column}: ${value}}}, batch_size: 1) { id } }`;
      return first(query, isLiteral ? {} : { from: null });
    };
    await expect(send('maybe')).rejects.toThrow('no message');
    expect(await send('given')).toMatchObject({ code: 'validation-failed' });
  },
);

test.each([
  ['no cursor', 'batch_size: 1', "missing required field 'cursor'", `${ARGS}.cursor`],
  [
    'no batch size',
    'cursor: {initial_value: {id: 0}}',
    "missing required field 'batch_size'",
    `${ARGS}.batch_size`,
  ],
  ['an empty cursor', 'cursor: [], batch_size: 1', 'one streaming column field is expected', ARGS],
  [
    'a cursor without a column',
    'cursor: {initial_value: {}}, batch_size: 1',
    'one streaming column field is expected',
    ARGS,
  ],
  [
    'two columns',
    'cursor: {initial_value: {id: 0, body: ""}}, batch_size: 1',
    'multiple column cursors are not supported yet',
    ARGS,
  ],
  [
    'two cursors',
    'cursor: [{initial_value: {id: 0}}, {initial_value: {id: 1}}], batch_size: 1',
    'multiple column cursors are not supported yet',
    ARGS,
  ],
  [
    'an unknown ordering',
    'cursor: {initial_value: {id: 0}, ordering: UP}, batch_size: 1',
    "expected one of the values ['ASC', 'DESC'] for type 'cursor_ordering', but found 'UP'",
    undefined,
  ],
  [
    'an unknown column',
    'cursor: {initial_value: {lost: 0}}, batch_size: 1',
    "field 'lost' not found",
    undefined,
  ],
  [
    'an order',
    'cursor: {initial_value: {id: 0}}, batch_size: 1, order_by: {id: asc}',
    "no argument named 'order_by'",
    undefined,
  ],
])('a stream with %s is refused', async (_, args, message, path) => {
  expect(await first(`subscription { note_stream(${args}) { id } }`)).toMatchObject({
    code: 'validation-failed',
    message: expect.stringContaining(message),
    path: path ?? expect.stringContaining('note_stream'),
  });
});

test('subscriptions need a WebSocket, and streams a subscription', async () => {
  for (const { field } of Object.values(KINDS)) {
    const { errors } = await world.engine.graphql(`subscription { ${field} }`);
    expect(errors).toMatchObject([
      {
        message: 'subscriptions are not supported over HTTP, use websockets instead',
        extensions: { path: '$', code: 'unexpected-payload' },
      },
    ]);
  }
  const { errors } = await world.engine.graphql(`{ ${KINDS.stream.field} }`);
  expect(errors?.[0]?.message).toBe("field 'note_stream' not found in type: 'query_root'");
});

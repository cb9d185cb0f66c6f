/** Tests streams by a column of every ordered type: the rows after the initial value come in batches, each once, in both directions. The
 *  cursor passes through the text of its type, so that nothing may be lost there. Reference: docs/reference/behaviour/subscriptions.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '../../testing/websocket.ts';
import { type RuleWorld, startWorld } from './testing/rules.ts';

const uuid = (n: number) => `00000000-0000-0000-0000-00000000000${n}`;

/** Four values of each type in ascending order, in the text of Postgres. */
const TYPES: Readonly<Record<string, readonly [string, string, string, string]>> = {
  int2: ['-1', '0', '1', '2'],
  int8: ['9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807'],
  float4: ['0.1', '0.33333334', '0.33333337', 'NaN'],
  float8: ['-Infinity', '0.1', '0.30000000000000004', 'Infinity'],
  numeric: ['0.1', '0.10000000000000000000001', '1', 'NaN'],
  money: ['-1.00', '0.00', '1.50', '1000.00'],
  text: ['', 'a', 'a"b\\', 'ä'],
  bpchar: ['a', 'b', 'c', 'd'],
  uuid: [uuid(1), uuid(2), uuid(3), uuid(4)],
  date: ['-infinity', '0044-03-15 BC', '2024-02-29', 'infinity'],
  timestamptz: [
    '2024-01-01 00:00:00+00',
    '2024-01-01 00:00:00.000001+00',
    '2024-01-02 00:00:00+00',
    'infinity',
  ],
  interval: ['-1 day', '00:00:00.000001', '1 day', '1 mon'],
  inet: ['10.0.0.1', '10.0.0.2', '10.0.0.10', '::1'],
  bit: ['00', '01', '10', '11'],
  bytea: ['\\x', '\\x00', '\\x01ff', '\\xff'],
  jsonb: ['"a"', '1', '[1]', '{"a": 1}'],
  int4range: ['empty', '[1,2)', '[1,3)', '[2,3)'],
  mood: ['sad', 'ok', 'good', 'glad'],
  pair: ['(1,a)', '(1,b)', '(2,"a,b")', '(3,)'],
  positive: ['1', '2', '3', '4'],
  labels: ['{}', '{a}', '{"a,b"}', '{b}'],
  'int4[]': ['{}', '{1}', '{1,2}', '{2,NULL}'],
  'text[]': ['{}', '{a}', '{"a,\\"b"}', '{b,a}'],
};
const NAMES = Object.keys(TYPES);
const columnOf = (type: string) => `of_${type.replace('[]', 's')}`;
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

let world: RuleWorld;
beforeAll(async () => {
  const types = NAMES.map((type) => `${columnOf(type)} ${type === 'bit' ? 'bit(2)' : type}`);
  const rows = [0, 1, 2, 3].map(
    (i) => `(${i + 1}, ${NAMES.map((type) => quoted(TYPES[type]![i]!)).join(', ')})`,
  );
  world = await startWorld({
    sql: `create type mood as enum ('sad', 'ok', 'good', 'glad'); create type pair as (n int, t text);
      create domain positive as int check (value > 0); create domain labels as text[];
      create domain moment as timestamptz;
      create table passed (id int primary key, ${Object.keys(CLOCKS)
        .map((type) => `at_${type.replace('[]', 's')} ${type}`)
        .join(', ')});
      create table item (id int primary key, ${types.join(', ')}); insert into item values ${rows.join(', ')}`,
    tables: ['item', 'passed'],
    options: { streamingQueriesMultiplexedRefetchInterval: 20 },
  });
});
afterAll(() => world?.close());

/** Returns the ids of the rows after a value, in the order in which they come. */
async function streamed(type: string, from: string, ordering: 'ASC' | 'DESC', count: number) {
  const { engine } = world;
  const socket = await openSession(engine);
  const value = JSON.stringify(type === 'jsonb' ? JSON.parse(from) : from).replace(/"(\w+)":/g, '$1:');
  const cursor = `{initial_value: {${columnOf(type)}: ${value}}, ordering: ${ordering}}`;
  const query = `subscription { item_stream(cursor: ${cursor}, batch_size: 1) { id } }`;
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  const ids: number[] = [];
  while (ids.length < count) {
    const message = (await socket.next()) as { payload: { data?: { item_stream: { id: number }[] } } };
    const rows = message.payload.data?.item_stream;
    if (!rows) throw new Error(JSON.stringify(message));
    ids.push(...rows.map(({ id }) => id).sort());
  }
  socket.socket.terminate();
  return ids;
}

test.each(NAMES)('by %s', async (type) => {
  const [first, , , last] = TYPES[type]!;
  expect(await streamed(type, first, 'ASC', 3)).toEqual([2, 3, 4]);
  expect(await streamed(type, last, 'DESC', 3)).toEqual([3, 2, 1]);
});

/** Types of dates and times, with an expression for the time of an insert. A time or a range has no text for other days. */
const CLOCKS: Readonly<Record<string, string>> = {
  timestamptz: 'clock_timestamp()',
  timestamp: 'clock_timestamp()::timestamp',
  moment: 'clock_timestamp()',
  time: 'clock_timestamp()::time',
  timetz: 'clock_timestamp()::timetz',
  tstzrange: 'tstzrange(clock_timestamp(), null)',
  'timestamptz[]': 'array[clock_timestamp()]',
};
const IN_FORM: Readonly<Record<string, (text: string) => string>> = {
  tstzrange: (text) => `[${text},)`,
  'timestamptz[]': (text) => `{${text}}`,
};
const DAYS = ['today', 'yesterday', 'yesterday 10:00', 'epoch'];
const PRESENTS = Object.keys(CLOCKS).flatMap((type) =>
  ['now', ' NOW ', ...(type === 'timestamptz' || type === 'moment' ? DAYS : [])].map((text) => ({
    type,
    text,
  })),
);

test.each(PRESENTS)('from $text of $type', async ({ type, text }) => {
  const { engine, database } = world;
  const column = `at_${type.replace('[]', 's')}`;
  const value = JSON.stringify((IN_FORM[type] ?? ((plain) => plain))(text));
  const cursor = `{initial_value: {${column}: ${value}}, ordering: ASC}`;
  await database.sql('truncate passed');
  const open = async () => {
    const socket = await openSession(engine);
    const query = `subscription { passed_stream(cursor: ${cursor}, batch_size: 5) { id } }`;
    socket.send({ type: 'subscribe', id: '1', payload: { query } });
    return socket;
  };
  /** Inserts rows until the stream sends some. Returns their ids. */
  let id = 0;
  const first = async (socket: Awaited<ReturnType<typeof open>>) => {
    for (let tries = 0; tries < 100; tries++) {
      id += 1;
      await database.sql(`insert into passed (id, ${column}) values (${id}, ${CLOCKS[type]})`);
      const message = (await socket.next(200).catch(() => null)) as {
        payload: { data: { passed_stream: { id: number }[] } };
      } | null;
      if (message) return message.payload.data.passed_stream.map((row) => row.id);
    }
    throw new Error('the stream sends nothing');
  };
  const early = await open();
  expect(await first(early)).not.toEqual([]);
  if (text.trim().toLowerCase() === 'now') {
    const before = id;
    const late = await open();
    expect(Math.min(...(await first(late)))).toBeGreaterThan(before);
    late.socket.terminate();
  }
  early.socket.terminate();
});

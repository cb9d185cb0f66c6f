/** Tests which values a column takes, for each type, at every position where a client or an administrator writes one, as a literal and
 *  in a variable. A text goes to Postgres as it is; ltree is parsed by the engine; any other value must be of the JSON kind of the type
 *  and within its bounds, or it is `parse-failed` at its own path. Reference: docs/reference/behaviour/errors.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminOutcome, graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

type Kind = 'Number' | 'Boolean' | 'String' | 'Object' | 'Array';
type Type = {
  readonly sql: string;
  readonly graphql: string;
  /** A value that fits, and a text that Postgres reads as that value. */
  readonly good: unknown;
  readonly text: string;
  /** The JSON kind that the type takes besides texts. */
  readonly takes: Kind;
  /** Returns the message for a value of another kind. */
  readonly wrong: (found: Kind) => string;
  readonly outside?: readonly (readonly [literal: string, written: string])[];
  readonly bounds?: string;
};

const expected = (name: string, kind: Kind) => (found: Kind) =>
  `parsing ${name} failed, expected ${kind}, but encountered ${found}`;
const stringExpected = (sql: string) => () => `A string is expected for type: ${sql}`;
const INTEGER = ' or is not an integer. Maybe it is a float, or is there integer overflow?';
const FLOAT = '. Is it overflowing the float bounds?';
const integer = (sql: string, graphql: string, own: string, bits: bigint): Type => {
  const most = 2n ** (bits - 1n);
  return {
    sql,
    graphql,
    good: 7,
    text: '7',
    takes: 'Number',
    wrong: expected(`Integer expected for input type: ${own}`, 'Number'),
    outside: [
      [String(most), scientific(most)],
      [String(-most - 1n), scientific(-most - 1n)],
      ['1.5', '1.5'],
      ['0.01', '1.0e-2'],
    ],
    bounds: INTEGER,
  };
};
/** Numbers from 0.1 to 10,000,000 are written without an exponent. */
function scientific(value: bigint): string {
  const [sign, digits] = value < 0n ? ['-', String(-value)] : ['', String(value)];
  const significant = digits.replace(/0+$/, '');
  return digits.length <= 7
    ? `${sign}${digits}.0`
    : `${sign}${digits[0]}.${significant.slice(1) || '0'}e${digits.length - 1}`;
}
const float = (sql: string, graphql: string, own: string, most: string): Type => ({
  sql,
  graphql,
  good: 1.5,
  text: '1.5',
  takes: 'Number',
  wrong: expected(`Float expected for input type: ${own}`, 'Number'),
  outside: [[most, most.replace(/^(\d)e/, '$1.0e')]],
  bounds: FLOAT,
});
const text = (sql: string, graphql: string, good: string, wrong: Type['wrong']): Type => ({
  sql,
  graphql,
  good,
  text: good,
  takes: 'String',
  wrong,
});
const LTREE =
  'Expecting label path: a sequence of zero or more labels separated by dots, for example L1.L2.L3';

const TYPES: Readonly<Record<string, Type>> = {
  small: integer('int2', 'smallint', 'PGSmallInt', 16n),
  whole: integer('int4', 'Int', 'PGInteger', 32n),
  big: integer('int8', 'bigint', 'PGBigInt', 64n),
  real: float('float4', 'Float', 'PGFloat', '1e39'),
  double: float('float8', 'float8', 'PGDouble', '1e400'),
  exact: { ...float('numeric', 'numeric', '', ''), wrong: expected('Scientific', 'Number'), outside: [] },
  flag: { ...text('bool', 'Boolean', 'true', expected('Bool', 'Boolean')), good: true, takes: 'Boolean' },
  words: text('text', 'String', 'a', expected('Text', 'String')),
  vary: text('varchar(5)', 'String', 'a', expected('Text', 'String')),
  pad: text('bpchar', 'bpchar', 'a', stringExpected('bpchar')),
  key: text('uuid', 'uuid', '11111111-1111-1111-1111-111111111111', expected('UUID', 'String')),
  day: text('date', 'date', '2024-02-29', expected('Day', 'String')),
  moment: text('timestamptz', 'timestamptz', '2024-02-29T00:00:00Z', expected('UTCTime', 'String')),
  local: text('timestamp', 'timestamp', '2024-02-29T00:00:00', expected('LocalTime', 'String')),
  hour: text('time', 'time', '10:00', stringExpected('time')),
  span: text('interval', 'interval', '1 day', stringExpected('interval')),
  address: text('inet', 'inet', '127.0.0.1', stringExpected('inet')),
  mood: text('mood', 'mood', 'sad', stringExpected('mood')),
  range: text('int4range', 'int4range', '[1,2)', stringExpected('int4range')),
  path: text('ltree', 'ltree', 'a.b', () => LTREE),
};

/** JSON values of every kind, as GraphQL literals. */
const KINDS: Readonly<Record<Kind, string>> = {
  Number: '3',
  Boolean: 'true',
  String: '"x"',
  Object: '{}',
  Array: '[]',
};

/** Positions of one value of a column: the request around it, and the path of the value. `type` is that of the value, `null` for the
 *  positions of an administrator. */
type Position = {
  readonly request: (column: string, value: string) => string;
  readonly path: (column: string) => string;
  readonly kinds?: (type: Type) => readonly Kind[];
};
const POSITIONS: Readonly<Record<string, Position>> = {
  where: {
    request: (c, v) => `query Q { sample(where: {${c}: {_eq: ${v}}}) { ${c} } }`,
    path: (c) => `$.selectionSet.sample.args.where.${c}._eq`,
  },
  _in: {
    request: (c, v) => `query Q { sample(where: {_not: {${c}: {_in: [${v}]}}}) { ${c} } }`,
    path: (c) => `$.selectionSet.sample.args.where._not.${c}._in[0]`,
    kinds: () => ['Number', 'Boolean', 'Object'],
  },
  'a relationship': {
    request: (c, v) => `query Q { sample(where: {parent: {${c}: {_neq: ${v}}}}) { ${c} } }`,
    path: (c) => `$.selectionSet.sample.args.where.parent.${c}._neq`,
  },
  'a nested where': {
    request: (c, v) => `query Q { sample { children(where: {${c}: {_gt: ${v}}}) { ${c} } } }`,
    path: (c) => `$.selectionSet.sample.selectionSet.children.args.where.${c}._gt`,
  },
  insert: {
    request: (c, v) => `mutation Q { insert_sample(objects: [{${c}: ${v}}]) { returning { ${c} } } }`,
    path: (c) => `$.selectionSet.insert_sample.args.objects[0].${c}`,
  },
  'a nested insert': {
    request: (c, v) =>
      `mutation Q { insert_sample_one(object: {children: {data: [{}, {${c}: ${v}}]}}) { children { ${c} } } }`,
    path: (c) => `$.selectionSet.insert_sample_one.args.object.children.data[1].${c}`,
  },
  _set: {
    request: (c, v) =>
      `mutation Q { update_sample(where: {id: {_lt: 0}}, _set: {${c}: ${v}}) { affected_rows } }`,
    path: (c) => `$.selectionSet.update_sample.args._set.${c}`,
  },
  'one of many updates': {
    request: (c, v) =>
      `mutation Q { update_sample_many(updates: [{where: {id: {_lt: 0}}, _set: {${c}: ${v}}}]) { affected_rows } }`,
    path: (c) => `$.selectionSet.update_sample_many.args.updates[0]._set.${c}`,
  },
  'the condition of a deletion': {
    request: (c, v) =>
      `mutation Q { delete_sample(where: {_and: [{id: {_lt: 0}}, {${c}: {_eq: ${v}}}]}) { affected_rows } }`,
    path: (c) => `$.selectionSet.delete_sample.args.where._and[1].${c}._eq`,
  },
  'the condition of an upsert': {
    request: (c, v) =>
      `mutation Q { insert_sample(objects: [], on_conflict: {constraint: sample_pkey, where: {${c}: {_eq: ${v}}}}) { affected_rows } }`,
    path: (c) => `$.selectionSet.insert_sample.args.on_conflict.where.${c}._eq`,
  },
  'an argument of a function': {
    request: (c, v) => `query Q { with_${c}(args: {value: ${v}}) { id } }`,
    path: (c) => `$.selectionSet.with_${c}.args.args.value`,
  },
};

let world: RuleWorld;
const names = Object.keys(TYPES);
beforeAll(async () => {
  const columns = names.map((name) => `"${name}" ${TYPES[name]!.sql}`).join(', ');
  const functions = names.map(
    (name) =>
      `create function with_${name}(value ${TYPES[name]!.sql}) returns setof sample language sql stable as 'select * from sample where false'`,
  );
  world = await startWorld({
    sql: `create extension ltree; create type mood as enum ('sad');
      create table sample (id int primary key generated by default as identity, parent_id int references sample, ${columns});
      ${functions.join(';')};
      insert into sample default values; create table keyed (id int8 primary key)`,
    tables: ['sample', 'keyed'],
    operations: [
      [
        'pg_create_object_relationship',
        { table: 'sample', name: 'parent', using: { foreign_key_constraint_on: 'parent_id' } },
      ],
      [
        'pg_create_array_relationship',
        {
          table: 'sample',
          name: 'children',
          using: { foreign_key_constraint_on: { table: 'sample', columns: ['parent_id'] } },
        },
      ],
      ...names.map((name) => ['pg_track_function', { function: `with_${name}` }] as const),
    ],
  });
});
afterAll(() => world?.close());

const quoted = (value: unknown) => JSON.stringify(value);
/** Sends the value as a literal, and as a variable where its type can be declared. */
async function both(position: Position, column: string, literal: string) {
  const { graphql } = TYPES[column]!;
  const whole = await graphqlOutcome(world.engine, position.request(column, literal));
  const query = position.request(column, '$v').replace(' Q ', ` Q($v: ${graphql}!) `);
  const variables = { v: JSON.parse(literal, rawNumbers) as unknown };
  return [whole, await graphqlOutcome(world.engine, query, { variables })];
}
/** Keeps numbers that JavaScript has not, such as 9223372036854775808. */
const rawNumbers = ((_key: string, value: unknown, { source }: { source?: string }) =>
  typeof value === 'number'
    ? (JSON as unknown as { rawJSON: (t: string) => unknown }).rawJSON(source!)
    : value) as never;

describe.each(Object.entries(POSITIONS))('%s', (_, position) => {
  test.each(names)('takes values of %s, and texts that Postgres reads as one', async (name) => {
    const { good, text: same } = TYPES[name]!;
    for (const value of [good, same]) {
      for (const outcome of await both(position, name, quoted(value))) expect(outcome).toHaveProperty('data');
    }
  });

  test.each(names)('refuses values of other kinds as %s, at their path', async (name) => {
    const type = TYPES[name]!;
    const kinds = (Object.keys(KINDS) as Kind[]).filter((kind) => kind !== type.takes && kind !== 'String');
    for (const kind of kinds) {
      const refusal = { code: 'parse-failed', path: position.path(name), message: type.wrong(kind) };
      expect(await both(position, name, KINDS[kind])).toEqual([refusal, refusal]);
    }
  });

  test.each(names.filter((name) => TYPES[name]!.outside))(
    'refuses numbers outside the bounds of %s',
    async (name) => {
      const { outside = [], bounds } = TYPES[name]!;
      for (const [literal, written] of outside) {
        const message = `The value ${written} lies outside the bounds${bounds}`;
        const refusal = { code: 'parse-failed', path: position.path(name), message };
        expect(await both(position, name, literal)).toEqual([refusal, refusal]);
      }
    },
  );

  test('refuses a text that is no path of ltree', async () => {
    const refusal = { code: 'parse-failed', path: position.path('path'), message: LTREE };
    for (const wrong of ['""', '"a..b"', '".a"', '"a."'])
      expect(await both(position, 'path', wrong)).toEqual([refusal, refusal]);
  });

  test('reads the name of an enum as a text', async () => {
    expect(await graphqlOutcome(world.engine, position.request('words', 'word'))).toHaveProperty('data');
  });
});

test.each(['small', 'whole', 'flag', 'day', 'key', 'mood'])(
  'a text that Postgres does not read as %s is its error',
  async (name) => {
    for (const outcome of await both(POSITIONS['where']!, name, '"no such value"'))
      expect(outcome).toMatchObject({ code: 'data-exception' });
  },
);

test.each([
  ['_ancestor_any', '["a", "b..c"]', 'parse-failed', '[1]'],
  ['_descendant_any', '["a", "b..c"]', 'parse-failed', '[1]'],
  ['_in', '["a", "b..c"]', 'parse-failed', '[1]'],
  ['_ancestor', '"b..c"', 'parse-failed', ''],
])('%s of ltree names the path in its list', async (operator, literal, code, index) => {
  const path = `$.selectionSet.sample.args.where.path.${operator}${index}`;
  const query = (value: string) => `query Q { sample(where: {path: {${operator}: ${value}}}) { id } }`;
  const declared = index === '' ? 'ltree!' : '[ltree!]!';
  const inVariable = query('$v').replace(' Q ', ` Q($v: ${declared}) `);
  const variables = { v: JSON.parse(literal) as unknown };
  expect(await graphqlOutcome(world.engine, query(literal))).toEqual({ code, path, message: LTREE });
  expect(await graphqlOutcome(world.engine, inVariable, { variables })).toEqual({
    code,
    path,
    message: LTREE,
  });
});

test.each([
  ['by key', '{ keyed_by_pk(id: VALUE) { id } }', '$.selectionSet.keyed_by_pk.args.id'],
  [
    'update by key',
    'mutation { update_sample_by_pk(pk_columns: {id: VALUE}, _set: {words: "a"}) { id } }',
    '$.selectionSet.update_sample_by_pk.args.pk_columns.id',
  ],
  [
    'delete by key',
    'mutation { delete_keyed_by_pk(id: VALUE) { id } }',
    '$.selectionSet.delete_keyed_by_pk.args.id',
  ],
  [
    '_inc',
    'mutation { update_sample(where: {id: {_lt: 0}}, _inc: {whole: VALUE}) { affected_rows } }',
    '$.selectionSet.update_sample.args._inc.whole',
  ],
])('%s takes a text and refuses a Boolean', async (_, query, path) => {
  expect(await graphqlOutcome(world.engine, query.replace('VALUE', '"-5"'))).toHaveProperty('data');
  expect(await graphqlOutcome(world.engine, query.replace('VALUE', 'true'))).toMatchObject({
    code: 'parse-failed',
    path,
  });
});

describe('operations of an administrator', () => {
  const wrong = { whole: true, words: 5, path: 'a..b', big: 1.5 };

  test.each(Object.entries(wrong))('a filter of a permission: %s', async (column, value) => {
    const args = {
      table: 'sample',
      role: 'user',
      permission: { columns: '*', filter: { [column]: { _eq: value } } },
    };
    expect(await adminOutcome(world.engine, 'pg_create_select_permission', args)).toMatchObject({
      path: expect.stringContaining('$.args') as string,
    });
    const insert = { objects: [{ [column]: value }] };
    expect(
      await adminOutcome(world.engine, 'insert', { table: 'sample', ...insert }, { endpoint: '/v1/query' }),
    ).toMatchObject({
      code: 'parse-failed',
      path: `$.args.objects[0].${column}`,
    });
    const update = { where: { id: -1 }, $set: { [column]: value } };
    expect(
      await adminOutcome(world.engine, 'update', { table: 'sample', ...update }, { endpoint: '/v1/query' }),
    ).toMatchObject({
      code: 'parse-failed',
      path: `$.args["$set"].${column}`,
    });
    const select = { columns: ['id'], where: { [column]: { $eq: value } } };
    expect(
      await adminOutcome(world.engine, 'select', { table: 'sample', ...select }, { endpoint: '/v1/query' }),
    ).toMatchObject({
      code: 'parse-failed',
    });
  });

  test('a text is left to Postgres', async () => {
    const insert = {
      table: 'sample',
      objects: [{ whole: '12', flag: 'yes', day: '2024-02-29' }],
      returning: ['whole', 'flag', 'day'],
    };
    expect(await adminOutcome(world.engine, 'insert', insert, { endpoint: '/v1/query' })).toEqual({
      data: { affected_rows: 1, returning: [{ whole: 12, flag: true, day: '2024-02-29' }] },
    });
  });
});

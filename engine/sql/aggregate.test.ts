/** Twins of aggregate.ts: what Postgres answers, for the forms values take and the ways rows are limited. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import type { AggregateFunction } from '../catalog/aggregates.ts';
import { builtinType, type PgType } from '../catalog/types.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import type { AggregateField, AggregateMember, AggregateValue, Select } from '../plan/query-types.ts';
import type { Plan } from '../plan/types.ts';
import type { JsonForm } from '../resolve/model/column.ts';
import { TRUE } from '../resolve/predicate.ts';
import { preparePlan } from './plan.ts';
import { asc, compare, constant, int, int4, many, named, select } from './testing/build.ts';
import { runPlan } from './testing/run.ts';

const source = testDatabase();
let database: Database;

beforeAll(async () => {
  await source.sql(`
    create extension ltree;
    create type mood as enum ('low', 'high');
    create domain score as numeric;
    create table reading (
      id int primary key, station int, key uuid, place ltree, mood mood, score score, level float8, big bigint, day date
    );
    insert into reading values
      (1, 1, '00000000-0000-4000-8000-00000000000a', 'a.b', 'high', 1.5, 1, 9007199254740993, '2024-02-29'),
      (2, 1, '00000000-0000-4000-8000-000000000009', 'a.b.c', 'low', 2.5, 'NaN', 2, null),
      (3, 2, null, 'a', null, null, null, null, '2023-01-01')`);
  database = openDatabase(source.url);
});

afterAll(() => database.close());

const ofExtension = (name: string): PgType => ({
  schema: 'public',
  name,
  kind: 'base',
  element: null,
  base: null,
});
const over = (fn: AggregateFunction, column: string, type: PgType, json: JsonForm): AggregateMember => ({
  kind: 'value',
  alias: column,
  value: { kind: 'function', fn, column, type, json },
});
const count = (columns: readonly string[] = [], isDistinct = false): AggregateMember => ({
  kind: 'value',
  alias: `count ${isDistinct ? 'distinct ' : ''}${columns.join(' ')}`.trim(),
  value: { kind: 'count', columns, isDistinct },
});
const values = (...members: readonly AggregateMember[]): AggregateField => ({
  kind: 'values',
  alias: 'aggregate',
  members,
});
const nodes = (limit: number | null): AggregateField => ({
  kind: 'nodes',
  alias: 'nodes',
  fields: [int('id')],
  limit,
});

const planOf = (output: readonly AggregateField[], rest: Partial<Select> = {}): Plan => ({
  operation: 'query',
  roots: [
    {
      kind: 'database',
      alias: 'all',
      source: 'default',
      query: { kind: 'aggregate', select: select('reading', [], rest), output },
    },
  ],
});
async function ask(output: readonly AggregateField[], rest: Partial<Select> = {}): Promise<unknown> {
  const { data } = await runPlan(database, planOf(output, rest));
  return (data as { all: unknown }).all;
}
const extremes = (fn: AggregateFunction) =>
  values(
    over(fn, 'id', int4, 'bare'),
    over(fn, 'key', builtinType('uuid'), 'quoted'),
    over(fn, 'place', ofExtension('ltree'), 'quoted'),
    over(fn, 'mood', { ...ofExtension('mood'), kind: 'enum' }, 'quoted'),
    over(fn, 'score', { ...ofExtension('score'), kind: 'domain', base: builtinType('numeric') }, 'quoted'),
    over(fn, 'day', builtinType('date'), 'quoted'),
  );

test('whatever has an order has extremes, and nulls are none', async () => {
  expect(await ask([extremes('max')])).toEqual({
    aggregate: {
      id: 3,
      key: '00000000-0000-4000-8000-00000000000a',
      place: 'a.b.c',
      mood: 'high',
      score: 2.5,
      day: '2024-02-29',
    },
  });
  expect(await ask([extremes('min')])).toEqual({
    aggregate: {
      id: 1,
      key: '00000000-0000-4000-8000-000000000009',
      place: 'a',
      mood: 'low',
      score: 1.5,
      day: '2023-01-01',
    },
  });
});

test('over no rows all is null but the count', async () => {
  const none = { where: compare('id', '_lt', constant('0')) };
  expect(await ask([values(over('sum', 'id', int4, 'bare'), count()), nodes(null)], none)).toEqual({
    aggregate: { id: null, count: 0 },
    nodes: [],
  });
  expect(Object.values((await ask([extremes('max')], none)) as object)).toEqual([
    { id: null, key: null, place: null, mood: null, score: null, day: null },
  ]);
});

test('numbers JSON cannot hold are strings, and so are all where they are asked to be', async () => {
  const float8 = builtinType('float8');
  const int8 = builtinType('int8');
  expect(await ask([values(over('sum', 'level', float8, 'quoted'))])).toEqual({
    aggregate: { level: 'NaN' },
  });
  expect(await ask([values(over('sum', 'big', int8, 'stringified'))])).toEqual({
    aggregate: { big: '9007199254740995' },
  });
  expect(await ask([values(over('avg', 'big', int8, 'stringified'))])).toEqual({
    aggregate: { big: '4503599627370497.5000' },
  });
});

test('counts: of rows, of values, of different values, of different pairs', async () => {
  const output = [
    values(count(), count(['key']), count(['station'], true), count(['station', 'mood'], true)),
  ];
  expect(await ask(output)).toEqual({
    aggregate: { count: 3, 'count key': 2, 'count distinct station': 2, 'count distinct station mood': 3 },
  });
});

test('nodes keep their order beside a distinct count, which sorts the rows its own way', async () => {
  const order = { orderBy: [{ ...asc('id'), direction: 'desc', nulls: 'first' } as const] };
  const expected = { aggregate: { 'count distinct station': 2 }, nodes: [{ id: 3 }, { id: 2 }, { id: 1 }] };
  expect(await ask([values(count(['station'], true)), nodes(null)], order)).toEqual(expected);
  expect(await ask([values(count(['station'], true)), nodes(3)], { ...order, limit: 3 })).toEqual(expected);
});

test('a limit cuts both, a limit of nodes only them', async () => {
  const order = { orderBy: [asc('id')] };
  expect(await ask([values(count()), nodes(2)], { ...order, limit: 2 })).toEqual({
    aggregate: { count: 2 },
    nodes: [{ id: 1 }, { id: 2 }],
  });
  expect(await ask([values(count()), nodes(1)], order)).toEqual({
    aggregate: { count: 3 },
    nodes: [{ id: 1 }],
  });
  expect(await ask([nodes(1)], { ...order, offset: '1' })).toEqual({ nodes: [{ id: 2 }] });
});

test('rows are read once, and not at all for constants', () => {
  const text = (output: readonly AggregateField[]) => preparePlan(planOf(output)).statements[0]!.text;
  const reads = (output: readonly AggregateField[]) => text(output).split('"reading"').length - 1;
  const typename = { kind: 'constant', alias: '__typename', json: '"x"' } as const;
  expect(reads([values(count()), nodes(null), { ...nodes(null), alias: 'again' }])).toBe(1);
  expect(reads([values(count()), nodes(1)])).toBe(2);
  expect(reads([typename, values(typename)])).toBe(0);
});

test('rows are ordered by values over related ones, before a limit too', async () => {
  const related = (value: AggregateValue): Partial<Select> => ({
    orderBy: [
      {
        path: [],
        column: 'others',
        aggregate: {
          rows: { kind: 'related', join: many('reading', 'station') },
          filter: compare('id', '_gt', constant('1')),
          value,
        },
        direction: 'desc',
        nulls: 'last',
      },
      asc('id'),
    ],
  });
  const level = {
    kind: 'function',
    fn: 'max',
    column: 'level',
    type: builtinType('float8'),
    json: 'quoted',
  } as const;
  expect(await ask([nodes(null)], related(level))).toEqual({ nodes: [{ id: 1 }, { id: 2 }, { id: 3 }] });
  const id = { ...level, column: 'id', type: int4, json: 'bare' } as const;
  expect(await ask([nodes(2)], { ...related(id), limit: 2 })).toEqual({ nodes: [{ id: 3 }, { id: 1 }] });
});

test('a related row that is not there has no count, not even of none', async () => {
  const to = { table: named('reading'), mapping: [['big', 'id']], isUnique: true } as const;
  const counted = { kind: 'count', columns: [], isDistinct: false } as const;
  const rows = { kind: 'related', join: many('reading', 'station') } as const;
  const orderBy = [
    {
      path: [{ join: to, filter: TRUE }],
      column: 'others',
      aggregate: { rows, filter: TRUE, value: counted },
      direction: 'asc',
      nulls: 'last',
    },
    asc('id'),
  ] as const;
  expect(await ask([nodes(null)], { orderBy })).toEqual({ nodes: [{ id: 2 }, { id: 1 }, { id: 3 }] });
});

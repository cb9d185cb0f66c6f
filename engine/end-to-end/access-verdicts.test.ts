/** Compares verdicts on random changes of filters with what Postgres returns on random rows: `same` has the same rows, `narrower` no row
 *  that was not there before, `wider` all that were. The filters run as `where` of an administrator, whose grammar is that of permissions.
 *  Not here: chosen pairs (engine/metadata/access/compare-filters.test.ts). ACCESS_SEED repeats a run. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { replaceMetadata, startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { randomBits } from '../../testing/random-bits.ts';
import { type AccessVerdict, compareFilters } from '../metadata/access/compare-filters.ts';

const SCHEMA = `
  create table owner (id int primary key, name text, level int);
  create table item (id int primary key, owner_id int references owner, a int, b text, c boolean);
  create table tag (id int primary key, item_id int references item, label text);
  insert into owner select i, (array['x', 'y', null])[1 + i % 3], nullif(i % 4, 3) from generate_series(1, 6) i;
  insert into item select i, nullif(i % 7, 0), nullif(i % 5, 4), (array['x', 'y', 'xy', null])[1 + i % 4],
    (array[true, false, null])[1 + (i / 4) % 3] from generate_series(1, 120) i;
  insert into tag select i, 1 + (i * 7) % 120, (array['x', 'y', null])[1 + i % 3] from generate_series(1, 90) i;
`;
const TABLES = [
  {
    table: 'item',
    object_relationships: [{ name: 'owner', using: { foreign_key_constraint_on: 'owner_id' } }],
    array_relationships: [
      { name: 'tags', using: { foreign_key_constraint_on: { table: 'tag', column: 'item_id' } } },
    ],
  },
  { table: 'owner' },
  { table: 'tag' },
];
const PAIRS = 400;

let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql(SCHEMA);
  engine = await startTestEngine({ databaseUrl: database.url });
  const { status, body } = await replaceMetadata(engine, { tables: TABLES });
  expect({ status, body }).toMatchObject({ status: 200 });
}, 60_000);
afterAll(async () => {
  await engine?.close();
  await database?.drop();
});

test('no verdict promises more than Postgres keeps', async () => {
  const seed = Number(process.env['ACCESS_SEED'] ?? Date.now() % 2 ** 31);
  const random = randomFrom(seed);
  const counts: Record<AccessVerdict, number> = { same: 0, narrower: 0, wider: 0, other: 0 };
  for (let i = 0; i < PAIRS; i++) {
    const before = filter(random, 3);
    const after = random(4) === 0 ? filter(random, 3) : changed(before, random);
    const verdict = compareFilters(before, after);
    counts[verdict]++;
    if (verdict === 'other') continue;
    const [old, next] = await Promise.all([idsOf(before), idsOf(after)]);
    const keeps = isWithin(old, next);
    const addsNone = isWithin(next, old);
    const kept = { same: keeps && addsNone, narrower: addsNone, wider: keeps }[verdict];
    expect({ seed, before, after, verdict, kept }).toEqual({ seed, before, after, verdict, kept: true });
  }
  // A comparison that decides nothing would pass as well.
  expect(Math.min(counts.same, counts.narrower, counts.wider)).toBeGreaterThan(PAIRS / 50);
}, 60_000);

function isWithin(some: ReadonlySet<number>, all: ReadonlySet<number>): boolean {
  return [...some].every((id) => all.has(id));
}

async function idsOf(where: object): Promise<ReadonlySet<number>> {
  const query = 'query ($where: item_bool_exp!) { item(where: $where) { id } }';
  const answer = await engine.graphql<{ item: { id: number }[] }>(query, { variables: { where } });
  expect(answer.errors).toBeUndefined();
  return new Set(answer.data!.item.map(({ id }) => id));
}

type Random = (below: number) => number;
type Filter = Record<string, unknown>;

function filter(random: Random, depth: number): Filter {
  const kind = depth === 0 ? 4 + random(3) : random(9);
  const parts = () => Array.from({ length: random(4) }, () => filter(random, depth - 1));
  switch (kind) {
    case 0:
      return { _and: parts() };
    case 1:
    case 2:
      return { _or: parts() };
    case 3:
      return { _not: filter(random, depth - 1) };
    case 7:
      return { owner: pick(random, [{}, { level: number(random) }, { name: text(random) }]) };
    case 8:
      return { tags: pick(random, [{}, { label: text(random) }, { label: text(random), id: { _gt: 20 } }]) };
    default:
      return pick(random, [
        { a: number(random) },
        { b: text(random) },
        { c: flag(random) },
        { ...{ a: number(random) }, b: text(random) },
      ]);
  }
}

function number(random: Random): Filter {
  const [value, other] = [random(5), random(5)];
  const forms = [
    { _in: [value, other] },
    { _nin: [value, other] },
    { _in: [] },
    { _is_null: random(2) === 0 },
  ];
  const operator = pick(random, ['_eq', '_neq', '_gt', '_gte', '_lt', '_lte']);
  return random(2) === 0 ? { [operator]: value } : pick(random, forms);
}

function text(random: Random): Filter {
  const value = pick(random, ['x', 'y', 'xy']);
  return pick(random, [
    { _eq: value },
    { _neq: value },
    { _in: ['x', value] },
    { _like: `${value}%` },
    { _is_null: false },
  ]);
}

function flag(random: Random): Filter {
  return pick(random, [{ _eq: true }, { _eq: false }, { _neq: true }, { _is_null: false }]);
}

/** Returns a filter that a person might make of another: with a condition more or less, an alternative, or another value inside. */
function changed(before: Filter, random: Random): Filter {
  const more = filter(random, 1);
  const entries = Object.entries(before);
  switch (random(7)) {
    case 0:
      return { _and: [before, more] };
    case 1:
      return { _or: [before, more] };
    case 2:
      return Object.fromEntries(entries.slice(1));
    case 3:
      return { _and: [{ _or: [more, before] }, { _or: [before, filter(random, 0)] }] };
    case 4:
      return { _or: [{ _and: [before, more] }, { _and: [before, filter(random, 0)] }] };
    default:
      return Object.fromEntries(entries.map(([key, value]) => [key, changedValue(value, random)]));
  }
}

function changedValue(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) {
    const rest = random(2) === 0 ? value.slice(1) : [...value].reverse();
    return rest.map((item) =>
      typeof item === 'object' && random(3) === 0 ? changed(item as Filter, random) : item,
    );
  }
  return typeof value === 'object' && random(2) === 0 ? withoutOperator(value as Filter, random) : value;
}

/** Returns the condition with one operator replaced by a weaker or a stronger one. */
function withoutOperator(value: Filter, random: Random): Filter {
  const [[operator, operand] = ['', null]] = Object.entries(value);
  const others: Record<string, Filter> = {
    _eq: { _in: [operand, 3] },
    _gt: { _gte: operand },
    _gte: { _gt: operand },
    _lt: { _lte: operand },
    _neq: { _nin: [operand] },
  };
  const isFitting = typeof operand === 'number' && operator in others;
  return isFitting ? others[operator]! : random(2) === 0 ? value : {};
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[random(items.length)]!;
}

/** Returns whole numbers below a bound, the same for the same seed. */
function randomFrom(seed: number): Random {
  const bits = randomBits(seed);
  return (below) => bits() % below;
}

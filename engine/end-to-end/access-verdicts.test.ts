/** Compares verdicts on random changes of filters with what Postgres returns on random rows: `same` has the same rows, `narrower` no row
 *  that was not there before, `wider` all that were. The filters run as `where` of an administrator, whose grammar is that of permissions.
 *  Not here: chosen pairs (engine/metadata/access/compare-filters.test.ts). ACCESS_SEED repeats a run. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { replaceMetadata, startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { type AccessVerdict, compareFilters } from '../metadata/access/compare-filters.ts';
import {
  type Filter,
  type Random,
  randomFilter,
  randomFrom,
  SCHEMA,
  TABLES,
} from './testing/random-filter.ts';

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
    const before = randomFilter(random, 3);
    const after = random(4) === 0 ? randomFilter(random, 3) : changed(before, random);
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

/** Returns a filter that a person might make of another: with a condition more or less, an alternative, or another value inside. */
function changed(before: Filter, random: Random): Filter {
  const more = randomFilter(random, 1);
  const entries = Object.entries(before);
  switch (random(7)) {
    case 0:
      return { _and: [before, more] };
    case 1:
      return { _or: [before, more] };
    case 2:
      return Object.fromEntries(entries.slice(1));
    case 3:
      return { _and: [{ _or: [more, before] }, { _or: [before, randomFilter(random, 0)] }] };
    case 4:
      return { _or: [{ _and: [before, more] }, { _and: [before, randomFilter(random, 0)] }] };
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

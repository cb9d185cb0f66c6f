/** Compares verdicts on random changes of filters with what Postgres returns on random rows: `same` has the same rows, `narrower` no row
 *  that was not there before, `wider` all that were. The filters run as `where` of an administrator, whose grammar is that of permissions.
 *  The same for a role that inherits, with random permissions of its parents and of its own, which the engine serves.
 *  Not here: chosen pairs (engine/metadata/access/compare-filters.test.ts). ACCESS_SEED repeats a run. */

import { beforeAll, expect, test } from 'vitest';
import { replaceMetadata } from '../../testing/engine.ts';
import { testWorld } from '../../testing/world.ts';
import { accessChanges } from '../metadata/access/access-changes.ts';
import { type AccessVerdict, compareFilters } from '../metadata/access/compare-filters.ts';
import { type MetadataObject, objectsOf } from '../metadata/objects.ts';
import { parseMetadata } from '../metadata/parse.ts';
import {
  type Filter,
  type Random,
  randomFilter,
  randomFrom,
  SCHEMA,
  TABLES,
} from './testing/random-filter.ts';

const PAIRS = 400;

const { engine } = testWorld(() => SCHEMA);

beforeAll(async () => {
  const { status, body } = await replaceMetadata(engine, { tables: TABLES });
  expect({ status, body }).toMatchObject({ status: 200 });
}, 180_000);

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
}, 180_000);

const DOCUMENTS = 50;

test('no verdict about a role that inherits promises more than the engine serves', async () => {
  const seed = Number(process.env['ACCESS_SEED'] ?? Date.now() % 2 ** 31);
  const random = randomFrom(seed);
  const counts = { unchanged: 0, granted: 0, revoked: 0, changed: 0 };
  let before = randomPermissions(random);
  let old = await idsOfStaff(before);
  for (let i = 0; i < DOCUMENTS; i++) {
    // Now and then nobody may read items, so that the next permission is the first.
    const after = i % 10 === 9 ? { a: null, b: null, staff: null } : changedPermissions(before, random);
    const next = await idsOfStaff(after);
    const [was, is] = [objectsIn(before), objectsIn(after)];
    const found = accessChanges(new Set([...was.keys(), ...is.keys()]), was, is);
    const change = found.find(({ change: { key } }) => key === keyOf('staff'))?.change;
    counts[change?.change ?? 'unchanged']++;
    const said = { seed, before, after, change };
    expect({ ...said, was: old !== null, is: next !== null }).toEqual({
      ...said,
      was: change ? change.change !== 'granted' : next !== null,
      is: change ? change.change !== 'revoked' : old !== null,
    });
    if (old && next) {
      const [keeps, addsNone] = [isWithin(old, next), isWithin(next, old)];
      const verdict = change?.verdict ?? 'same';
      const kept = { same: keeps && addsNone, narrower: addsNone, wider: keeps, other: true }[verdict];
      expect({ ...said, kept }).toEqual({ ...said, kept: true });
    }
    [before, old] = [after, next];
  }
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  expect(counts.changed).toBeGreaterThan(DOCUMENTS / 10);
}, 180_000);

/** The filters of the permissions to select items; null is no permission. The role staff inherits from a and b. */
type Permissions = Readonly<Record<'a' | 'b' | 'staff', Filter | null>>;

const randomPermissions = (random: Random): Permissions => ({
  a: randomFilter(random, 1),
  b: randomFilter(random, 1),
  staff: null,
});

/** Returns the permissions with some of them changed, granted or revoked. Mostly both parents have one, and the role has none of its own. */
function changedPermissions(before: Permissions, random: Random): Permissions {
  const role = (['a', 'a', 'b', 'b', 'staff'] as const)[random(5)]!;
  const filter = before[role];
  const isRevoked = role === 'staff' ? random(4) > 0 : random(6) === 0;
  const next = filter === null ? randomFilter(random, 1) : isRevoked ? null : changed(filter, random);
  const made = { ...before, [role]: next };
  return random(4) === 0 ? changedPermissions(made, random) : made;
}

const CONNECTION = { connection_info: { database_url: 'postgres://nobody' } };
const keyOf = (role: string) => `select_permission/default/public/item/${role}`;
const permissionOf = (role: string, filter: Filter) => ({ role, permission: { columns: ['id'], filter } });

function objectsIn(permissions: Permissions): ReadonlyMap<string, MetadataObject> {
  return objectsOf(parseMetadata({ version: 3, ...documentOf(permissions) }));
}

/** Both parents are named by another permission as well, so the role stays consistent without theirs. */
function documentOf(permissions: Permissions) {
  const own = Object.entries(permissions).flatMap(([role, filter]) =>
    filter ? [permissionOf(role, filter)] : [],
  );
  const tables = TABLES.map((table) => ({
    ...table,
    ...(table.table === 'item' ? { select_permissions: own } : {}),
    ...(table.table === 'tag'
      ? { select_permissions: ['a', 'b'].map((role) => permissionOf(role, {})) }
      : {}),
  }));
  return {
    sources: [{ name: 'default', kind: 'postgres', configuration: CONNECTION, tables }],
    inherited_roles: [{ role_name: 'staff', role_set: ['a', 'b'] }],
  };
}

/** Returns the items that the role staff reads; null when it may not select them. */
async function idsOfStaff(permissions: Permissions): Promise<ReadonlySet<number> | null> {
  const { sources, ...parts } = documentOf(permissions);
  const { status, body } = await replaceMetadata(engine, { tables: sources[0]!.tables }, parts);
  expect({ status, body }).toMatchObject({ status: 200 });
  const answer = await engine.graphql<{ item: { id: number }[] }>('{ item { id } }', { role: 'staff' });
  return answer.data ? new Set(answer.data.item.map(({ id }) => id)) : null;
}

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
  switch (random(8)) {
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
    case 5:
      return apart(before) as Filter;
    default:
      return Object.fromEntries(entries.map(([key, value]) => [key, changedValue(value, random)]));
  }
}

/** Returns the filter with a condition of its own for each condition on one tag: other tags may satisfy the others. */
function apart(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(apart);
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value).map(([key, item]) => {
    const conditions = key === 'tags' ? Object.entries(item as Filter) : [];
    if (conditions.length < 2) return { [key]: apart(item) };
    return { _and: conditions.map(([column, condition]) => ({ tags: { [column]: condition } })) };
  });
  // A column without an operator stays one.
  if (parts.length === 0) return value;
  return parts.length === 1 ? parts[0] : { _and: parts };
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

/** Compares verdicts on random changes of a select permission with what the role reads before and after, in sessions with different
 *  variables: `narrower` reads nothing that it did not read before, `wider` all that it did, and no change of access is both.
 *  Not here: more filters, without a role (access-verdicts.test.ts); chosen changes (engine/metadata/access). ACCESS_SEED repeats a run. */
import { expect, test } from 'vitest';
import { replaceMetadata } from '../../testing/engine.ts';
import { testWorld } from '../../testing/world.ts';
import { type AccessChange, accessChange } from '../metadata/access/access-change.ts';
import {
  type Filter,
  pick,
  type Random,
  randomFilter,
  randomFrom,
  SCHEMA,
  TABLES,
} from './testing/random-filter.ts';

const CHANGES = 120;
const KEY = 'select_permission/default/public/item/reader';
const COLUMNS = ['owner_id', 'a', 'b', 'c'];
const SESSIONS: readonly Record<string, string>[] = [
  { 'x-engine-owner': '1', 'x-engine-list': '{}' },
  { 'x-engine-owner': '2', 'x-engine-list': '{1,2}' },
];

type Permission = {
  readonly columns: readonly string[];
  readonly filter: Filter;
  readonly limit?: number | undefined;
  readonly allow_aggregations?: boolean | undefined;
  readonly query_root_fields?: readonly string[] | undefined;
};
/** Everything that a role can read, as texts. */
type Reach = ReadonlySet<string>;

const { engine } = testWorld(() => SCHEMA);

test('no verdict on a change of a permission promises more than the role finds', {
  timeout: 120_000,
}, async () => {
  const seed = Number(process.env['ACCESS_SEED'] ?? Date.now() % 2 ** 31);
  const random = randomFrom(seed);
  const counts: Record<AccessChange['verdict'], number> = { same: 0, narrower: 0, wider: 0, other: 0 };
  for (let i = 0; i < CHANGES; i++) {
    const before = randomPermission(random);
    const after = changed(before, random);
    const verdict = accessChange(KEY, { permission: before }, { permission: after })?.verdict ?? 'same';
    counts[verdict]++;
    if (verdict === 'other') continue;
    const [old, next] = [await reachOf(before), await reachOf(after)];
    const keeps = isWithin(old, next);
    const addsNone = isWithin(next, old);
    const kept = { same: keeps && addsNone, narrower: addsNone, wider: keeps }[verdict];
    expect({ seed, before, after, verdict, kept }).toEqual({ seed, before, after, verdict, kept: true });
  }
  expect(Math.min(counts.narrower, counts.wider)).toBeGreaterThan(CHANGES / 20);
});

function randomPermission(random: Random): Permission {
  return {
    columns: ['id', ...COLUMNS.filter(() => random(2) === 0)],
    filter: withVariable(randomFilter(random, 2), random),
    limit: pick(random, [undefined, 3, 50, 100]),
    allow_aggregations: random(2) === 0,
    query_root_fields: pick(random, [undefined, undefined, ['select'], ['select', 'select_by_pk']]),
  };
}

function withVariable(filter: Filter, random: Random): Filter {
  const own = pick(random, [
    { owner_id: { _eq: 'X-Engine-Owner' } },
    { a: { _nin: 'X-Engine-List' } },
    { a: { _in: 'X-Engine-List' } },
    { owner_id: { _in: ['X-Engine-Owner'] } },
    { a: { _is_null: false } },
  ]);
  return pick(random, [filter, own, { _and: [own, filter] }, { _or: [own, filter] }]);
}

/** Returns the permission with one part as in another permission, or with a condition more or less. */
function changed(before: Permission, random: Random): Permission {
  const other = randomPermission(random);
  const more = withVariable(randomFilter(random, 1), random);
  const name = pick(random, ['columns', 'limit', 'allow_aggregations', 'query_root_fields'] as const);
  const changedPart = { ...before, [name]: other[name] };
  return pick(random, [
    () => changedPart,
    () => ({ ...before, filter: { _and: [before.filter, more] } }),
    () => ({ ...before, filter: { _or: [before.filter, more] } }),
    () => ({ ...before, filter: other.filter }),
    () => ({ ...before, filter: { _or: [more] } }),
    () => ({ ...changedPart, filter: { _and: [before.filter, more] } }),
  ])();
}

async function reachOf(permission: Permission): Promise<Reach> {
  const [item, ...others] = TABLES;
  const select_permissions = [{ role: 'reader', permission }];
  const { status, body } = await replaceMetadata(engine, {
    tables: [{ ...item, select_permissions }, ...others],
  });
  expect({ permission, status, body }).toMatchObject({ status: 200 });
  const parts = SESSIONS.map(async (headers, i) => {
    const found = [...(await rowsFor(permission, headers)), ...(await rootsFor(headers))];
    return found.map((text) => `session ${i}: ${text}`);
  });
  return new Set((await Promise.all(parts)).flat());
}

/** Returns each cell that the role reads, page after page, and each number of rows that one response has had room for. */
async function rowsFor({ columns }: Permission, headers: Record<string, string>): Promise<readonly string[]> {
  const found: string[] = [];
  for (let offset = 0; ; ) {
    const query = `{ item(order_by: {id: asc}, offset: ${offset}) { ${columns.join(' ')} } }`;
    const { data, errors } = await engine.graphql<{ item: Record<string, unknown>[] }>(query, {
      role: 'reader',
      headers,
    });
    expect(errors).toBeUndefined();
    const { item: rows } = data!;
    if (rows.length === 0) return found;
    for (const row of rows) found.push(...columns.map((column) => `${row['id']}.${column}`));
    if (offset === 0) found.push(...rows.map((_, i) => `${i + 1} rows at once`));
    offset += rows.length;
  }
}

/** Returns the root fields of the role. */
async function rootsFor(headers: Record<string, string>): Promise<readonly string[]> {
  const query = '{ __schema { queryType { fields { name } } } }';
  const { data } = await engine.graphql<{ __schema: { queryType: { fields: { name: string }[] } } }>(query, {
    role: 'reader',
    headers,
  });
  return data!.__schema.queryType.fields.map(({ name }) => name);
}

function isWithin(some: Reach, all: Reach): boolean {
  return [...some].every((text) => all.has(text));
}

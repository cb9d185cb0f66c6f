/** Compares changes of relationships and native queries with the rows that roles read before and after: a role that no change of access names
 *  reads the same rows. Permissions do not change, and relationships follow foreign keys or columns at random.
 *  Not here: chosen changes (engine/metadata/access/used-objects.test.ts). ACCESS_SEED repeats a run. */
import { expect, test } from 'vitest';
import { replaceMetadata } from '../../testing/engine.ts';
import { testWorld } from '../../testing/world.ts';
import { accessChanges } from '../metadata/access/access-changes.ts';
import { changedKeys } from '../metadata/diff.ts';
import { objectsOf } from '../metadata/objects.ts';
import { parseMetadata } from '../metadata/parse.ts';
import { finish } from '../metadata/steps.ts';
import { pick, type Random, randomFrom } from './testing/random-filter.ts';

const DOCUMENTS = 40;
const TABLE_NAMES = ['a', 'b', 'c'] as const;
type TableName = (typeof TABLE_NAMES)[number];
const FIELDS = ['x', 'y'] as const;
const ROLES = ['one', 'two', 'three'] as const;

const { engine } = testWorld(async (database) => {
  // Each table has a foreign key to each table.
  const create = TABLE_NAMES.map(
    (name) => `create table ${name} (id int primary key, v int, ${columnsOf()});`,
  );
  const keys = TABLE_NAMES.flatMap((from) =>
    TABLE_NAMES.map((to) => `alter table ${from} add foreign key (to_${to}) references ${to};`),
  );
  const rows = TABLE_NAMES.map(
    (name, i) =>
      `insert into ${name} select n, (n * ${i + 3}) % 7, ${TABLE_NAMES.map((_, j) => `1 + (n * ${2 * i + 5} + ${j} + n / 3) % 12`).join(', ')} from generate_series(1, 12) n;`,
  );
  await database.sql([...create, ...rows, ...keys].join('\n'));
});

const columnsOf = () => TABLE_NAMES.map((to) => `to_${to} int`).join(', ');

/** The table that each relationship leads to, and whether it names the foreign key or the columns. */
type Relationships = Readonly<Record<string, { readonly to: TableName; readonly byKey: boolean }>>;
type Filters = Readonly<Record<string, object>>;
type World = { readonly relationships: Relationships; readonly filters: Filters; readonly code: string };

const names = TABLE_NAMES.flatMap((table) => FIELDS.map((field) => `${table}.${field}`));
const randomRelationship = (random: Random) => ({ to: pick(random, TABLE_NAMES), byKey: random(2) === 0 });

function randomFilter(random: Random, levels: number): object {
  if (levels === 0) return { v: { [pick(random, ['_gt', '_lt'])]: random(7) } };
  const inner = () => randomFilter(random, levels - 1);
  return pick(random, [
    () => ({ [pick(random, FIELDS)]: inner() }),
    () => ({ [pick(random, FIELDS)]: inner() }),
    () => ({ _not: inner() }),
    () => ({ _or: [inner(), randomFilter(random, 0)] }),
    () => ({ _exists: { _table: pick(random, TABLE_NAMES), _where: inner() } }),
  ])();
}

function documentOf({ relationships, filters, code }: World) {
  const tables = TABLE_NAMES.map((table) => ({
    table,
    object_relationships: FIELDS.map((name) => {
      const { to, byKey } = relationships[`${table}.${name}`]!;
      const manual_configuration = { remote_table: to, column_mapping: { [`to_${to}`]: 'id' } };
      return { name, using: byKey ? { foreign_key_constraint_on: `to_${to}` } : { manual_configuration } };
    }),
    select_permissions: ROLES.map((role) => ({
      role,
      permission: { columns: ['id'], filter: filters[`${table}.${role}`] },
    })),
  }));
  const logical_models = [
    {
      name: 'row',
      fields: [{ name: 'id', type: 'integer' }],
      select_permissions: [{ role: 'one', permission: { columns: ['id'], filter: filters['row.one'] } }],
    },
  ];
  const native_queries = [{ root_field_name: 'rows', returns: 'row', code }];
  return { tables, logical_models, native_queries };
}

const CONNECTION = { connection_info: { database_url: 'postgres://nobody' } };
const metadataOf = (world: World) =>
  parseMetadata({
    version: 3,
    sources: [{ name: 'default', kind: 'postgres', configuration: CONNECTION, ...documentOf(world) }],
  });

const CODES = ['select id from a where v < 3', 'select id from a', 'select id from b where v > 2'] as const;

function randomWorld(random: Random): World {
  const filters = TABLE_NAMES.flatMap((table) =>
    ROLES.map((role) => [`${table}.${role}`, randomFilter(random, random(4))] as const),
  );
  return {
    relationships: Object.fromEntries(names.map((name) => [name, randomRelationship(random)])),
    filters: { ...Object.fromEntries(filters), 'row.one': { id: { _gt: 2 } } },
    code: pick(random, CODES),
  };
}

function changed(world: World, random: Random): World {
  if (random(4) === 0) return { ...world, code: pick(random, CODES) };
  const relationships = { ...world.relationships, [pick(random, names)]: randomRelationship(random) };
  return { ...world, relationships };
}

/** Returns the rows that each role reads, by the end of the key of its permission: `a/one`. */
async function readIn(world: World): Promise<ReadonlyMap<string, string>> {
  const { tables, ...others } = documentOf(world);
  const { status, body } = await replaceMetadata(engine, { tables, ...others });
  expect({ status, body }).toMatchObject({ status: 200 });
  const fields = [
    ...ROLES.flatMap((role) => TABLE_NAMES.map((name) => [name, role] as const)),
    ['rows', 'one'] as const,
  ];
  const read = fields.map(async ([field, role]) => {
    const { data, errors } = await engine.graphql<Record<string, readonly unknown[]>>(
      `{ ${field}(order_by: {id: asc}) { id } }`,
      { role },
    );
    expect(errors).toBeUndefined();
    return [`${field === 'rows' ? 'row' : field}/${role}`, JSON.stringify(data![field])] as const;
  });
  return new Map(await Promise.all(read));
}

test('a role that no change of access names reads the same rows', async () => {
  const seed = Number(process.env['ACCESS_SEED'] ?? Date.now() % 2 ** 31);
  const random = randomFrom(seed);
  const counts = { named: 0, silent: 0, differing: 0 };
  let before = randomWorld(random);
  let old = await readIn(before);
  for (let i = 0; i < DOCUMENTS; i++) {
    if (i % 8 === 7) {
      before = randomWorld(random);
      old = await readIn(before);
    }
    const after = changed(before, random);
    const next = await readIn(after);
    const documents = [metadataOf(before), metadataOf(after)] as const;
    const found = accessChanges(
      finish(changedKeys(...documents)),
      objectsOf(documents[0]),
      objectsOf(documents[1]),
    );
    const named = new Set(found.map(({ change }) => change.key.split('/').slice(-2).join('/')));
    for (const [key, rows] of old) {
      const isSame = rows === next.get(key);
      counts[named.has(key) ? 'named' : 'silent']++;
      if (!isSame) counts.differing++;
      expect({ seed, i, key, before, after, isSilent: !isSame && !named.has(key) }).toMatchObject({
        isSilent: false,
      });
    }
    [before, old] = [after, next];
  }
  // A comparison that names every role or none would prove nothing.
  expect(Math.min(counts.named, counts.silent, counts.differing)).toBeGreaterThan(DOCUMENTS / 10);
}, 120_000);

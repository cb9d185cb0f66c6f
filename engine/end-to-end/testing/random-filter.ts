/** Random filters over the tables of SCHEMA, for tests that compare a claim about a filter with what Postgres returns. In: a source of
 *  random numbers. Out: a BoolExp of `item`, in the grammar of permissions and of `where`. */
import { randomBits } from '../../../testing/random-bits.ts';

export const SCHEMA = `
  create table owner (id int primary key, name text, level int);
  create table item (id int primary key, owner_id int references owner, a int, b text, c boolean);
  create table tag (id int primary key, item_id int references item, label text, _rank int, _mark int);
  insert into owner select i, (array['x', 'y', null])[1 + i % 3], nullif(i % 4, 3) from generate_series(1, 6) i;
  insert into item select i, nullif(i % 7, 0), nullif(i % 5, 4), (array['x', 'y', 'xy', null])[1 + i % 4],
    (array[true, false, null])[1 + (i / 4) % 3] from generate_series(1, 120) i;
  insert into tag select i, 1 + (i * 7) % 60, (array['x', 'y', null])[1 + i % 3], i % 3, i % 2
    from generate_series(1, 90) i;
`;

/** The tables in the metadata. */
export const TABLES = [
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

/** Returns a whole number below a bound. */
export type Random = (below: number) => number;
export type Filter = Record<string, unknown>;

/** Returns a random filter of at most `depth` levels. */
export function randomFilter(random: Random, depth: number): Filter {
  const kind = depth === 0 ? 4 + random(3) : random(9);
  const parts = () => Array.from({ length: random(4) }, () => randomFilter(random, depth - 1));
  switch (kind) {
    case 0:
      return { _and: parts() };
    case 1:
    case 2:
      return { _or: parts() };
    case 3:
      return { _not: randomFilter(random, depth - 1) };
    case 7:
      return { owner: pick(random, [{}, { level: number(random) }, { name: text(random) }]) };
    case 8:
      return { tags: pick(random, tags(random)) };
    default:
      return pick(random, [
        { a: number(random) },
        { b: text(random) },
        { c: flag(random) },
        { ...{ a: number(random) }, b: text(random) },
      ]);
  }
}

function tags(random: Random): readonly Filter[] {
  const [rank, mark] = [{ _rank: { _eq: random(3) } }, { _mark: { _eq: random(2) } }];
  return [
    {},
    { label: text(random) },
    { label: text(random), id: { _gt: 20 } },
    rank,
    mark,
    { ...rank, ...mark },
  ];
}

function number(random: Random): Filter {
  const [value, other] = [random(5), random(5)];
  const forms = [
    { _in: [value, other] },
    { _nin: [value, other] },
    { _in: [] },
    { _nin: [] },
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

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[random(items.length)]!;
}

/** Returns whole numbers below a bound, the same for the same seed. */
export function randomFrom(seed: number): Random {
  const bits = randomBits(seed);
  return (below) => bits() % below;
}

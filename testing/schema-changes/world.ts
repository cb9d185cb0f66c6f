/** A small database whose schema changes at random, and requests that are valid before and after each change.
 *  In: random numbers. Out: SQL of the world, of one change, and requests. Not here: running them (arena.ts). */

/** The state that texts of the world depend on. */
export type World = {
  /** The number of changes so far, which the functions print. */
  readonly version: number;
  readonly sizeType: SizeType;
  readonly labels: readonly string[];
  readonly hasNote: boolean;
  /** The number of columns that were added, and dropped, over time. */
  readonly extras: readonly number[];
};

const SIZE_TYPES = ['integer', 'bigint', 'numeric', 'text', 'double precision', 'smallint'] as const;
type SizeType = (typeof SIZE_TYPES)[number];

export const FIRST_WORLD: World = {
  version: 0,
  sizeType: 'integer',
  labels: ['red', 'blue'],
  hasNote: true,
  extras: [],
};

export const TABLES = ['owner', 'item'] as const;
export const COMPUTED_FIELDS = [
  { table: 'item', name: 'label', function: 'label' },
  { table: 'item', name: 'peers', function: 'peers' },
  { table: 'item', name: 'twins', function: 'twins' },
  { table: 'owner', name: 'owned', function: 'owned' },
] as const;
export const QUERY_FUNCTIONS = ['first_of', 'secured', 'painted', 'any_of'] as const;
export const MUTATION_FUNCTIONS = ['touch'] as const;

/** Functions that no change drops: their plans and variables outlive the types that they name. */
const LASTING = (version: number) => `
  create or replace function w.label(i w.item) returns text language sql stable as
    $$ select 'v${version} ' || i.kind::text || ' ' || i.size::text $$;
  create or replace function w.peers(i w.item) returns setof w.item language plpgsql stable as
    $$ begin return query select * from w.item o where o.owner_id = i.owner_id order by o.id; end $$;
  create or replace function w.twins(i w.item) returns setof w.item language sql stable security definer as
    $$ select * from w.item o where o.kind = i.kind order by o.id $$;
  create or replace function w.owned(o w.owner) returns setof w.item language plpgsql stable security definer as
    $$ declare r w.item; begin
      for r in select * from w.item i where i.owner_id = o.id order by i.id loop return next r; end loop;
    end $$;
  create or replace function w.first_of(n integer) returns setof w.item language plpgsql stable as
    $$ declare r w.item; begin
      for r in select * from w.item where id <= n order by id loop return next r; end loop;
    end $$;
  create or replace function w.secured(n integer) returns setof w.item language sql stable security definer as
    $$ select * from w.item where id <= n order by id $$;
  create or replace function w.touch(n integer) returns setof w.item language plpgsql volatile as
    $$ declare m w.mood; begin
      select kind into m from w.item where id = n;
      return query update w.item set kind = m where id = n returning *;
    end $$;
  create or replace function w.stamp() returns trigger language plpgsql as
    $$ declare m w.mood := new.kind; begin new.kind := m; return new; end $$;`;

/** Functions with a parameter of the enum, which are dropped with it. */
const WITH_ENUM = `
  create function w.painted(k w.mood) returns setof w.item language plpgsql stable as
    $$ declare m w.mood := k; begin return query select * from w.item where kind = m order by id; end $$;
  create function w.any_of(ks w.mood[]) returns setof w.item language plpgsql stable as
    $$ declare ms w.mood[] := ks; begin return query select * from w.item where kind = any (ms) order by id; end $$;`;

const labelList = (labels: readonly string[]) => labels.map((label) => `'${label}'`).join(', ');

/** Returns the SQL that creates the schema of a world with its rows. */
export function createdBy({ version, sizeType, labels, hasNote, extras }: World): string {
  const [first, second] = labels;
  return `
  create schema w;
  create type w.mood as enum (${labelList(labels)});
  create table w.owner (id integer primary key, name text);
  create table w.item (id integer primary key, kind w.mood, ${hasNote ? 'note text, ' : ''}kinds w.mood[],
    size ${sizeType}, owner_id integer references w.owner${extras.map((n) => `, extra_${n} text`).join('')});
  insert into w.owner select n, 'owner ' || n from generate_series(1, 3) n;
  insert into w.item (id, kind, kinds, size, owner_id)
    select n, (case when n % 2 = 0 then '${first}' else '${second}' end)::w.mood,
      array['${first}', '${second}']::w.mood[], (n * 10)::${sizeType}, n % 3 + 1 from generate_series(1, 9) n;
  ${LASTING(version)}
  ${WITH_ENUM}
  create trigger stamp before insert or update on w.item for each row execute function w.stamp();`;
}

export type Change = {
  readonly name: string;
  readonly sql: string;
  readonly next: World;
  /** False for a change that `run_sql` and migrations refuse, because it would break what is served. */
  readonly isFollowed: boolean;
};

/** Returns a random change of the world. */
export function changeOf(world: World, bits: () => number): Change {
  const made = CHANGES[bits() % CHANGES.length]!(world, bits);
  return { ...made, next: { ...made.next, version: world.version + 1 } };
}

type MakeChange = (world: World, bits: () => number) => Change;

const CHANGES: readonly MakeChange[] = [
  (world, bits) => {
    const others = SIZE_TYPES.filter((type) => type !== world.sizeType);
    const sizeType = others[bits() % others.length]!;
    const sql = `alter table w.item alter column size type ${sizeType} using (size::text::numeric + 1)::${sizeType}`;
    return { name: `column of type ${sizeType}`, sql, next: { ...world, sizeType }, isFollowed: true };
  },
  (world) => {
    const sql = world.hasNote
      ? 'alter table w.item drop column note'
      : 'alter table w.item add column note text';
    const name = world.hasNote ? 'column dropped' : 'column added again';
    return { name, sql, next: { ...world, hasNote: !world.hasNote }, isFollowed: true };
  },
  (world) => {
    const [oldest, ...others] = world.extras;
    const { version } = world;
    const drops = others.length > 2;
    const sql = drops
      ? `alter table w.item drop column extra_${oldest}`
      : `alter table w.item add column extra_${version} text`;
    const extras = drops ? others : [...world.extras, version];
    return {
      name: drops ? 'extra column dropped' : 'column added',
      sql,
      next: { ...world, extras },
      isFollowed: true,
    };
  },
  (world) => {
    const labels = [...world.labels.slice(0, 2), `new_${world.version}`];
    const sql = `
      alter type w.mood rename to mood_old;
      create type w.mood as enum (${labelList(labels)});
      drop function w.painted(w.mood_old); drop function w.any_of(w.mood_old[]);
      update w.item set kind = '${labels[0]}' where kind::text not in (${labelList(labels)});
      alter table w.item alter column kind type w.mood using (case when id = 9 then '${labels[2]}' else kind::text end)::w.mood,
        alter column kinds type w.mood[] using kinds::text[]::w.mood[];
      drop type w.mood_old;
      ${WITH_ENUM}`;
    return { name: 'enum replaced', sql, next: { ...world, labels }, isFollowed: false };
  },
  (world) => {
    const { version } = world;
    const sql = `
      create table w.item_copy (like w.item including all);
      insert into w.item_copy select * from w.item;
      alter table w.item_copy add foreign key (owner_id) references w.owner;
      drop table w.item cascade;
      alter table w.item_copy rename to item;
      alter table w.item rename constraint item_copy_pkey to item_pkey;
      ${LASTING(version + 1)}
      create or replace function w.painted(k w.mood) returns setof w.item language plpgsql stable as
        $$ declare m w.mood := k; begin return query select * from w.item where kind = m order by id; end $$;
      create or replace function w.any_of(ks w.mood[]) returns setof w.item language plpgsql stable as
        $$ declare ms w.mood[] := ks; begin return query select * from w.item where kind = any (ms) order by id; end $$;
      create trigger stamp before insert or update on w.item for each row execute function w.stamp();`;
    return { name: 'table replaced by a copy', sql, next: world, isFollowed: false };
  },
  (world) => ({
    name: 'schema created again',
    sql: `drop schema w cascade; ${createdBy({ ...world, version: world.version + 1 })}`,
    next: world,
    isFollowed: false,
  }),
  (world) => ({
    name: 'functions replaced',
    sql: `drop function w.label(w.item) cascade; ${LASTING(world.version + 1)}`,
    next: world,
    isFollowed: false,
  }),
];

export type WorldRequest = {
  readonly name: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
};

const ITEM = 'id kind kinds size owner_id';
const ORDERED = 'order_by: {id: asc}';

/** Returns requests that are valid in the world. Mutations leave the rows as they are, so that their order does not matter. */
export function requestsOf({ labels }: World): readonly WorldRequest[] {
  const newest = labels.at(-1)!;
  const [first, second] = labels;
  return [
    {
      name: 'rows with relationships',
      query: `{ item(${ORDERED}) { ${ITEM} owner { name items(${ORDERED}) { ${ITEM} } } } }`,
    },
    {
      name: 'aggregates',
      query: `{ item_aggregate(${ORDERED}) { aggregate { count max { id size } } nodes { ${ITEM} } } }`,
    },
    { name: 'scalar computed field', query: `{ item(${ORDERED}) { id label } }` },
    {
      name: 'computed fields that return rows',
      query: `{ item(${ORDERED}) { id peers { ${ITEM} } twins { ${ITEM} label } } }`,
    },
    {
      name: 'a computed field behind a limit',
      query: `{ owner(limit: 2, ${ORDERED}) { id owned { ${ITEM} peers { id label } } } }`,
    },
    { name: 'a plpgsql function', query: `{ first_of(args: {n: 5}) { ${ITEM} label owner { name } } }` },
    { name: 'a security definer function', query: `{ secured(args: {n: 5}) { ${ITEM} peers { id size } } }` },
    {
      name: 'a function with an enum parameter',
      query: 'query ($k: mood) { painted(args: {k: $k}) { id kind size } }',
      variables: { k: newest },
    },
    {
      name: 'a function with an array of enums',
      query: 'query ($ks: [mood!]) { any_of(args: {ks: $ks}) { id kind size } }',
      variables: { ks: [newest, first] },
    },
    {
      name: 'conditions on enums',
      query: `query ($k: mood!, $ks: [mood!]!) {
        a: item(where: {kind: {_eq: $k}}, ${ORDERED}) { ${ITEM} }
        b: item(where: {kind: {_in: $ks}}, ${ORDERED}) { ${ITEM} }
        c: item(where: {kinds: {_contains: $ks}}, ${ORDERED}) { id }
      }`,
      variables: { k: newest, ks: [first, second] },
    },
    {
      name: 'a mutation that returns related rows',
      query: `mutation ($ks: [mood!]) { update_item(where: {id: {_eq: 1}}, _set: {kinds: $ks}) {
        returning { ${ITEM} label owner { name items(${ORDERED}) { ${ITEM} } } } } }`,
      variables: { ks: [first, second] },
    },
    {
      name: 'several mutations',
      query: `mutation {
        a: update_item(where: {id: {_eq: 2}}, _set: {owner_id: 1}) { affected_rows returning { ${ITEM} } }
        b: update_owner(where: {id: {_eq: 2}}, _set: {name: "owner 2"}) { returning { items(${ORDERED}) { ${ITEM} } owned { ${ITEM} } } }
      }`,
    },
    {
      name: 'a nested insert',
      query: `mutation ($k: mood) { insert_owner_one(
        object: {id: 2, name: "owner 2", items: {data: [{id: 4, kind: $k}], on_conflict: {constraint: item_pkey, update_columns: [owner_id]}}},
        on_conflict: {constraint: owner_pkey, update_columns: [name]}) { id items(${ORDERED}) { ${ITEM} } } }`,
      variables: { k: newest },
    },
    { name: 'a function that writes', query: `mutation { touch(args: {n: 3}) { ${ITEM} label } }` },
  ];
}

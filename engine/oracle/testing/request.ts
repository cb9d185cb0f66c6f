/** A random query of a role: which root fields, rows and columns, in what order. Only what the role's permissions name is
 *  asked for, but for trespasses, which ask for one thing more. In: choices and a world. Out: Query, which reads as
 *  GraphQL (query-text.ts) and as SQL (query-sql.ts). Not here: mutations (mutation.ts). */

import { isExact } from './aggregates.ts';
import type { Choices } from './choices.ts';
import { makeCondition, makeHaving, type Vocabulary } from './condition.ts';
import { type ColumnType, type Comparison, isArray, JSONB, type Value } from './types.ts';
import { keyValue, type World } from './world.ts';
import type {
  Column,
  Condition,
  Permissions,
  Relationship,
  Role,
  Table,
  TrackedFunction,
} from './world-types.ts';

export type Field =
  | {
      readonly kind: 'column';
      readonly alias: string;
      readonly column: Column;
      /** Of a computed field. */
      readonly argument: Value | null;
      readonly path: JsonPath | null;
    }
  | { readonly kind: 'typename'; readonly alias: string; readonly of: string }
  | {
      readonly kind: 'object';
      readonly alias: string;
      readonly relationship: Relationship;
      readonly fields: readonly Field[];
    }
  | {
      readonly kind: 'array';
      readonly alias: string;
      readonly relationship: Relationship;
      readonly rows: Rows;
      readonly fields: readonly Field[];
    }
  | {
      readonly kind: 'aggregate';
      readonly alias: string;
      readonly relationship: Relationship;
      readonly rows: Rows;
      readonly parts: readonly AggregatePart[];
    };

export type Root =
  | {
      readonly kind: 'rows';
      readonly alias: string;
      readonly table: Table;
      readonly call: Call | null;
      readonly rows: Rows;
      readonly fields: readonly Field[];
    }
  | {
      readonly kind: 'by key';
      readonly alias: string;
      readonly table: Table;
      readonly key: readonly Value[];
      readonly fields: readonly Field[];
    }
  | {
      readonly kind: 'aggregate';
      readonly alias: string;
      readonly table: Table;
      readonly call: Call | null;
      readonly rows: Rows;
      readonly parts: readonly AggregatePart[];
    }
  | {
      readonly kind: 'groups';
      readonly alias: string;
      readonly table: Table;
      readonly groups: Groups;
    };

/** Of a tracked function, whose rows they are. */
export type Call = { readonly to: TrackedFunction; readonly argument: Value | null };

export type Groups = {
  readonly keys: readonly Column[];
  readonly where: Condition | null;
  readonly having: Condition | null;
  /** By these first, and then by all keys. */
  readonly order: readonly GroupOrder[];
  readonly directions: readonly Direction[];
  readonly limit: number | null;
  readonly offset: number | null;
  readonly parts: readonly ValuePart[];
};

export type GroupOrder = {
  readonly fn: string;
  readonly column: Column | null;
  readonly direction: Direction;
};

/** Which rows, and whether their order is that of all of them: otherwise they are a set. */
export type Rows = {
  readonly where: Condition | null;
  readonly order: readonly Order[];
  readonly distinct: readonly Column[];
  readonly limit: number | null;
  readonly offset: number | null;
  readonly isOrdered: boolean;
};

export type Order = {
  readonly path: readonly Relationship[];
  readonly by:
    | { readonly kind: 'column'; readonly column: Column }
    | { readonly kind: 'count'; readonly relationship: Relationship }
    | {
        readonly kind: 'function';
        readonly relationship: Relationship;
        readonly fn: string;
        readonly column: Column;
      };
  readonly direction: Direction;
};

export type AggregatePart =
  | ValuePart
  | { readonly kind: 'nodes'; readonly alias: string; readonly fields: readonly Field[] };

export type ValuePart =
  | {
      readonly kind: 'count';
      readonly alias: string;
      readonly columns: readonly Column[];
      readonly isDistinct: boolean;
    }
  | {
      readonly kind: 'function';
      readonly alias: string;
      readonly fn: string;
      readonly columns: readonly Column[];
    };

export type JsonPath = { readonly graphql: string; readonly steps: readonly string[] };

export type Query = { readonly roots: readonly Root[] };

export const DIRECTIONS = [
  'asc',
  'desc',
  'asc_nulls_first',
  'asc_nulls_last',
  'desc_nulls_first',
  'desc_nulls_last',
] as const;
export type Direction = (typeof DIRECTIONS)[number];

const PATHS: readonly JsonPath[] = [
  { graphql: '$.a', steps: ['a'] },
  { graphql: 'a[1].b', steps: ['a', '1', 'b'] },
  { graphql: '$[0]', steps: ['0'] },
  { graphql: '[1]', steps: ['1'] },
];

/** Cells and comparisons, each as many times as it is preferred. */
type Preferred = {
  readonly cells: (cell: Column) => readonly Column[];
  readonly comparisons: readonly Comparison[];
};

const NONE: Preferred = { cells: () => [], comparisons: [] };

/** What one role may name. `null` is the administrator. */
export class Sight {
  readonly role: Role | null;
  readonly world: World;
  readonly words: Vocabulary;

  /** `prefer`: what conditions are made of more often than of other cells. */
  constructor(world: World, role: Role | null, prefer: Preferred = NONE) {
    this.world = world;
    this.role = role;
    this.words = {
      columns: (table) => [...this.cells(table), ...this.cells(table).flatMap(prefer.cells)],
      relationships: (table) => this.relationships(table),
      aggregated: (table) => (this.mayAggregate(table) ? this.columns(table) : null),
      permission: null,
      more: prefer.comparisons,
    };
  }

  mayRead(table: Table): boolean {
    return !this.role || this.#select(table) !== null;
  }

  columns(table: Table): readonly Column[] {
    return this.role ? (this.#select(table)?.columns ?? []) : table.columns;
  }

  /** With computed fields. */
  cells(table: Table): readonly Column[] {
    const computed = this.role ? (this.#select(table)?.computed ?? []) : table.computed;
    return [...this.columns(table), ...computed];
  }

  relationships(table: Table): readonly Relationship[] {
    // Who may not read the table calls none of its functions.
    const isOwn = ({ using }: Relationship) => using !== 'function' || this.mayRead(table);
    return table.relationships.filter((each) => this.mayRead(each.to) && isOwn(each));
  }

  limit(table: Table): number | null {
    return this.#select(table)?.limit ?? null;
  }

  mayAggregate(table: Table): boolean {
    return !this.role || this.#select(table)?.allowsAggregation === true;
  }

  #select(table: Table): Permissions['select'] {
    return this.role?.permissions.get(table)?.select ?? null;
  }

  seesKey(table: Table): boolean {
    const isWhole = (columns: readonly Column[]) => table.key.every((column) => columns.includes(column));
    // A cell that one parent may not read is null in the rows that only it may.
    const selects = this.role?.parents.flatMap((role) => role.permissions.get(table)!.select ?? []) ?? [];
    return isWhole(this.columns(table)) && selects.every(({ columns }) => isWhole(columns));
  }
}

const DEEPEST = 3;

export function makeQuery(choices: Choices, sight: Sight): Query | null {
  const tables = sight.world.tables.filter((table) => sight.mayRead(table));
  if (tables.length === 0) return null;
  const count = choices.chance(15) ? 2 : 1;
  return { roots: choices.times(count, (i) => makeRoot(choices, sight, choices.of(tables), `root${i}`)) };
}

function makeRoot(choices: Choices, sight: Sight, table: Table, alias: string): Root {
  const kind = choices.below(10);
  if (kind >= 8 && sight.seesKey(table) && table.of === null) {
    const key = table.key.map(({ type }) => keyValue(type, choices.below(9)));
    return { kind: 'by key', alias, table, key, fields: makeFields(choices, sight, table, 0) };
  }
  if (kind === 7 && sight.mayAggregate(table)) {
    const keys = choices.some(sight.columns(table).filter(isGroupable), 40);
    if (keys.length > 0)
      return { kind: 'groups', alias, table, groups: makeGroups(choices, sight, table, keys) };
  }
  const call = makeCall(choices, sight, table);
  if (kind >= 5 && sight.mayAggregate(table)) {
    return { kind: 'aggregate', alias, table, call, ...makeAggregate(choices, sight, table, 0) };
  }
  const rows = makeRows(choices, sight, table);
  return { kind: 'rows', alias, table, call, rows, fields: makeFields(choices, sight, table, 0) };
}

function makeCall(choices: Choices, { world }: Sight, table: Table): Call | null {
  const able = world.functions.filter(({ returns }) => returns === table);
  if (able.length === 0 || !choices.chance(35)) return null;
  const to = choices.of(able);
  return { to, argument: choices.chance(80) ? choices.of(to.by.type.values) : null };
}

export const isGroupable = ({ type }: Column): boolean => !isArray(type) && !type.isEnum && type !== JSONB;

function makeGroups(choices: Choices, sight: Sight, table: Table, keys: readonly Column[]): Groups {
  const columns = sight.columns(table);
  const parts = choices.times(choices.below(3), (i) => makeValue(choices, columns, `a${i}`));
  return {
    keys,
    where: choices.chance(40) ? makeCondition(choices, table, sight.words) : null,
    having: choices.chance(40) ? makeHaving(choices, table, sight.words) : null,
    order: choices.times(choices.below(2), () => makeGroupOrder(choices, columns)),
    directions: keys.map(() => choices.of(DIRECTIONS)),
    limit: choices.chance(30) ? choices.below(4) : null,
    offset: choices.chance(20) ? choices.below(3) : null,
    parts,
  };
}

function makeGroupOrder(choices: Choices, columns: readonly Column[]): GroupOrder {
  const numbers = columns.filter(({ type }) => isExact(type));
  const direction = choices.of(DIRECTIONS);
  if (numbers.length === 0 || choices.chance(40)) return { fn: 'count', column: null, direction };
  return { fn: choices.of(['sum', 'max', 'avg', 'var_pop']), column: choices.of(numbers), direction };
}

export function makeFields(choices: Choices, sight: Sight, table: Table, depth: number): Field[] {
  const { names } = sight.world;
  const fields: Field[] = choices.some(sight.cells(table), 60).map((column, i) => {
    const path = column.type === JSONB && choices.chance(40) ? choices.of(PATHS) : null;
    const { computed, type } = column;
    const argument = computed?.hasArgument && choices.chance(60) ? choices.of(type.values) : null;
    const alias = choices.chance(20) ? `alias${i}` : names.column(column);
    return { kind: 'column', alias, column, argument, path };
  });
  if (depth < DEEPEST) {
    choices.some(sight.relationships(table), 35 - 7 * depth).forEach((relationship, i) => {
      fields.push(makeRelated(choices, sight, relationship, `rel${i}`, depth + 1));
    });
  }
  if (fields.length === 0) fields.push({ kind: 'typename', alias: '__typename', of: names.type(table) });
  return fields;
}

function makeRelated(
  choices: Choices,
  sight: Sight,
  relationship: Relationship,
  alias: string,
  depth: number,
): Field {
  const { to, kind } = relationship;
  const fields = () => makeFields(choices, sight, to, depth);
  if (kind === 'object') return { kind, alias, relationship, fields: fields() };
  if (relationship.using !== 'function' && sight.mayAggregate(to) && choices.chance(35)) {
    return { kind: 'aggregate', alias, relationship, ...makeAggregate(choices, sight, to, depth) };
  }
  const rows = makeRows(choices, sight, to);
  return { kind, alias, relationship, rows, fields: fields() };
}

export function makeRows(choices: Choices, sight: Sight, table: Table): Rows {
  const where = choices.chance(60) ? makeCondition(choices, table, sight.words) : null;
  const mayCut = sight.seesKey(table);
  if (!mayCut) return { where, order: [], distinct: [], limit: null, offset: null, isOrdered: false };
  const limit = choices.chance(30) ? choices.below(5) : null;
  const offset = choices.chance(20) ? choices.below(4) : null;
  const distinct = choices.chance(15) ? choices.some(sight.columns(table), 30) : [];
  const mustOrder = sight.limit(table) !== null || limit !== null || offset !== null || distinct.length > 0;
  if (!mustOrder && !choices.chance(40)) {
    return { where, order: [], distinct, limit, offset, isOrdered: false };
  }
  const order = [
    ...distinct.map((column) => byColumn(choices, column)),
    ...choices.times(choices.below(3), () => makeOrder(choices, sight, table, [])),
    ...table.key.map((column) => byColumn(choices, column)),
  ];
  return { where, order, distinct, limit, offset, isOrdered: true };
}

function byColumn(choices: Choices, column: Column): Order {
  return { path: [], by: { kind: 'column', column }, direction: choices.of(DIRECTIONS) };
}

function makeOrder(choices: Choices, sight: Sight, table: Table, path: readonly Relationship[]): Order {
  const direction = choices.of(DIRECTIONS);
  const related = sight.relationships(table);
  const objects = related.filter(({ kind }) => kind === 'object');
  if (objects.length > 0 && path.length < 2 && choices.chance(40)) {
    const step = choices.of(objects);
    if (sight.cells(step.to).length > 0) return makeOrder(choices, sight, step.to, [...path, step]);
  }
  const arrays = related.filter(({ kind, to }) => kind === 'array' && sight.mayAggregate(to));
  if (arrays.length > 0 && choices.chance(40)) {
    const relationship = choices.of(arrays);
    const numbers = sight.columns(relationship.to).filter(({ type }) => type.isNumber);
    if (numbers.length === 0 || choices.chance(50))
      return { path, by: { kind: 'count', relationship }, direction };
    const fn = choices.of(['sum', 'max', 'min', 'avg']);
    return { path, by: { kind: 'function', relationship, fn, column: choices.of(numbers) }, direction };
  }
  return { path, by: { kind: 'column', column: choices.of(sight.cells(table)) }, direction };
}

type Aggregate = { readonly rows: Rows; readonly parts: readonly AggregatePart[] };

function makeAggregate(choices: Choices, sight: Sight, table: Table, depth: number): Aggregate {
  const columns = sight.columns(table);
  const parts: AggregatePart[] = choices.times(1 + choices.below(4), (i) =>
    makeValue(choices, columns, `a${i}`),
  );
  if (choices.chance(35))
    parts.push({ kind: 'nodes', alias: 'nodes', fields: makeFields(choices, sight, table, depth + 1) });
  return { rows: makeRows(choices, sight, table), parts };
}

function makeValue(choices: Choices, columns: readonly Column[], alias: string): ValuePart {
  const fn = choices.of(FUNCTIONS);
  const suited = columns.filter(({ type }) => fn.suits(type));
  if (suited.length > 0 && choices.chance(60)) {
    const more = choices.some(suited.slice(1), 50);
    return { kind: 'function', alias, fn: fn.name, columns: [suited[0]!, ...more] };
  }
  const counted = choices.chance(50) ? choices.some(columns, 30) : [];
  return { kind: 'count', alias, columns: counted, isDistinct: counted.length > 0 && choices.chance(50) };
}

/** Those of floats depend on the order of rows, but for the first. */
const FUNCTIONS = [
  { name: 'sum', suits: (type: ColumnType) => type.isNumber },
  { name: 'max', suits: (type: ColumnType) => type.hasExtremes },
  { name: 'min', suits: (type: ColumnType) => type.hasExtremes },
  { name: 'avg', suits: isExact },
  { name: 'stddev', suits: isExact },
  { name: 'var_pop', suits: isExact },
  { name: 'variance', suits: isExact },
] as const;

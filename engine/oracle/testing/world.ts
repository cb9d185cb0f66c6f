/** A random world: tables with keys, foreign keys and rows, views, an enum, relationships, functions, and what roles may do
 *  with all of it. In: choices. Out: World, a plain description; policies.ts makes a database of it, metadata.ts a document.
 *  Names are simple here; hostile ones are the injection suite's. Not here: what roles may do (roles.ts). */

import type { Choices } from './choices.ts';
import { EVERYTHING, makeCondition, type Vocabulary } from './condition.ts';
import { Names } from './names.ts';
import { makeHeir, makeRole } from './roles.ts';
import { COLUMN_TYPES, type ColumnType, INT, isArray, JSONB, TEXT, type Value } from './types.ts';
import type { Column, ForeignKey, Relationship, Role, Table, TrackedFunction } from './world-types.ts';

/** The name of the argument of a computed field. */
export const ARGUMENT = 'wanted';
/** The name of the argument that receives the session. */
export const SESSION_ARGUMENT = 'who';

export type World = {
  readonly names: Names;
  /** The enum table, which nobody may read. */
  readonly enum: ColumnType;
  readonly functions: readonly TrackedFunction[];
  readonly tables: readonly Table[];
  readonly roles: readonly Role[];
  /** Of all of them. */
  readonly heir: Role;
};

export const ROLES = ['reader', 'editor'] as const;
export const INHERITED = 'heir';

export function makeWorld(choices: Choices): World {
  const tables: Table[] = [];
  const names = new Names(choices.chance(35) ? 'graphql-default' : 'default');
  const colors = enumType(names);
  const count = 2 + choices.below(3);
  for (let i = 0; i < count; i++) tables.push(makeTable(choices, `t_${i}`, [...COLUMN_TYPES, colors]));
  for (const table of tables) addForeignKeys(choices, table, tables);
  const counts = countRows(choices, tables);
  for (const table of tables) fill(choices, table, counts);
  for (const table of choices.some(tables, 35)) tables.push(makeView(choices, table));
  relate(choices, tables);
  const functions = compute(choices, tables);
  const [first, second] = ROLES;
  const one = makeRole(choices, first, tables, null);
  const roles = [one, makeRole(choices, second, tables, one)];
  return { names, enum: colors, functions, tables, roles, heir: makeHeir(INHERITED, roles, tables) };
}

export const ENUM_TABLE = { name: 'e_0', called: null } as const;

function enumType(names: Names): ColumnType {
  return {
    sql: 'text',
    graphql: names.type(ENUM_TABLE, 'enum'),
    values: ['red', 'dark_blue', 'green'].map((text) => ({ json: text, text })),
    isNumber: false,
    hasExtremes: false,
    isEnum: true,
  };
}

function makeTable(choices: Choices, name: string, types: readonly ColumnType[]): Table {
  const key: Column[] = [column('id', choices.chance(25) ? TEXT : INT)];
  if (choices.chance(25)) key.push(column('id2', INT));
  const columns = choices.times(1 + choices.below(5), (i): Column => {
    const type = choices.of(types);
    const isNullable = choices.chance(65);
    const standard = choices.chance(30) ? choices.of(type.values) : null;
    const called = choices.chance(15) ? `own_c${i}` : null;
    return { name: `c_${i}`, called, type, isNullable, standard, computed: null };
  });
  const unique = choices.chance(40) ? column('u', choices.of([INT, TEXT]), true) : null;
  const partial = choices.chance(35) ? column('p', INT, true) : null;
  const table: Table = {
    name,
    called: choices.chance(20) ? `Own_${name}` : null,
    computed: [],
    columns: [...key, ...columns, ...(unique ? [unique] : []), ...(partial ? [partial] : [])],
    key,
    unique,
    partial: null,
    foreignKeys: [],
    relationships: [],
    of: null,
    viewed: EVERYTHING,
    rows: [],
  };
  // What an index says of rows is immutable: the text of a time, for one, is not.
  const when = () => makeCondition(choices, table, wordsOf(columns.filter(isPlain)), 3);
  return partial ? { ...table, partial: { column: partial, when: when() } } : table;
}

const isPlain = ({ type }: Column) => type === INT || type === TEXT;

/** Columns and nothing else. */
function wordsOf(columns: readonly Column[]): Vocabulary {
  return { columns: () => columns, relationships: () => [], aggregated: () => null, permission: null };
}

function column(name: string, type: ColumnType, isNullable = false): Column {
  return { name, called: null, type, isNullable, standard: null, computed: null };
}

function addForeignKeys(choices: Choices, table: Table, tables: readonly Table[]): void {
  choices.times(choices.below(3), (i) => {
    const to = choices.of(tables);
    const isNullable = to === table || choices.chance(70);
    const columns = to.key.map(({ type }, j) => column(`r_${i}${j}`, type, isNullable));
    table.columns.push(...columns);
    table.foreignKeys.push({ columns, to, isUnique: isNullable && choices.chance(25) });
  });
}

/** How many rows each table has: none where a reference that must be there has nothing to refer to. */
function countRows(choices: Choices, tables: readonly Table[]): ReadonlyMap<Table, number> {
  const counts = new Map(tables.map((table) => [table, choices.below(9)]));
  const isBare = ({ columns, to }: ForeignKey) => !columns[0]!.isNullable && counts.get(to) === 0;
  for (const _ of tables) {
    for (const table of tables) if (table.foreignKeys.some(isBare)) counts.set(table, 0);
  }
  return counts;
}

/** Rows: keys 1, 2, 3 …, and references to them. */
function fill(choices: Choices, table: Table, counts: ReadonlyMap<Table, number>): void {
  for (let i = 0; i < counts.get(table)!; i++) {
    const references = new Map<Column, Value | null>();
    for (const { columns, isUnique, to } of table.foreignKeys) {
      const many = counts.get(to)!;
      const target = isUnique ? i : choices.below(many);
      const isNone = target >= many || (columns[0]!.isNullable && choices.chance(20));
      columns.forEach((each, j) => {
        // Part of a key with a null refers to nothing, whatever the rest says.
        references.set(each, isNone && j === 0 ? null : keyValue(to.key[j]!.type, target));
      });
    }
    table.rows.push(
      table.columns.map((each) => {
        if (table.key.includes(each)) return keyValue(each.type, i);
        if (references.has(each)) return references.get(each)!;
        if (each.isNullable && choices.chance(25)) return null;
        const isKey = each === table.unique || each === table.partial?.column;
        return isKey ? keyValue(each.type, i) : choices.of(each.type.values);
      }),
    );
  }
}

/** The key of the n-th row: odd texts, plain numbers. */
export function keyValue(type: ColumnType, n: number): Value {
  const text = type === TEXT ? (TEXT.values[n]?.text ?? `k${n}`) : String(n + 1);
  return { json: type === TEXT ? text : n + 1, text };
}

function makeView(choices: Choices, table: Table): Table {
  const kept = table.columns.filter((each) => table.key.includes(each) || choices.chance(80));
  // No foreign key says that it is an enum's.
  const typeOf = ({ type }: Column) => (type.isEnum ? TEXT : type);
  const columns = kept.map((each) => ({ ...each, type: typeOf(each), isNullable: true, standard: null }));
  const isKey = (each: Column) => table.key.some(({ name }) => name === each.name);
  const viewed = choices.chance(50) ? makeCondition(choices, table, wordsOf(table.columns)) : EVERYTHING;
  return {
    name: `${table.name}v`,
    called: null,
    columns,
    computed: [],
    key: columns.filter(isKey),
    unique: null,
    partial: null,
    foreignKeys: [],
    relationships: [],
    of: table,
    viewed,
    rows: [],
  };
}

function relate(choices: Choices, tables: readonly Table[]): void {
  const add = (relationship: Omit<Relationship, 'name'>) => {
    const { relationships } = relationship.from;
    relationships.push({ ...relationship, name: `n${relationships.length}` });
  };
  for (const from of tables) {
    for (const { columns, to, isUnique } of from.foreignKeys) {
      const mapping = columns.map((each, i) => [each, to.key[i]!] as const);
      const back = mapping.map(([ours, theirs]) => [theirs, ours] as const);
      if (choices.chance(85)) add({ kind: 'object', from, to, mapping, using: 'our key' });
      const kind = isUnique ? 'object' : 'array';
      if (choices.chance(85)) add({ kind, from: to, to: from, mapping: back, using: 'their key' });
    }
    if (from.of) {
      const mapping = from.key.map((each, i) => [each, from.of!.key[i]!] as const);
      const back = mapping.map(([ours, theirs]) => [theirs, ours] as const);
      add({ kind: 'object', from, to: from.of, mapping, using: 'manual' });
      add({ kind: 'array', from: from.of, to: from, mapping: back, using: 'manual' });
    }
    if (choices.chance(40)) {
      const to = choices.of(tables);
      const ours = choices.of(from.columns);
      const alike = to.columns.filter(({ type }) => type === ours.type);
      const mapping = alike.length === 0 ? [] : [[ours, choices.of(alike)] as const];
      if (mapping.length > 0) add({ kind: 'array', from, to, mapping, using: 'manual' });
    }
  }
}

/** Computed fields, and tracked functions. */
function compute(choices: Choices, tables: readonly Table[]): TrackedFunction[] {
  const real = tables.filter(({ of }) => of === null);
  const isComputable = ({ type }: Column) => !type.isEnum && !isArray(type);
  for (const from of real) {
    const columns = from.columns.filter(isComputable);
    choices.some([0, 1], 35).forEach((_, i) => {
      const of = choices.of(columns);
      const hasArgument = choices.chance(40);
      const standard = hasArgument || choices.chance(50) ? choices.of(of.type.values) : null;
      const computed = { from, of, hasArgument };
      from.computed.push({
        name: `f_${i}`,
        // Kept in every convention.
        called: `f_${i}`,
        type: of.type,
        isNullable: true,
        standard,
        computed,
      });
    });
    if (!choices.chance(35)) continue;
    const to = choices.of(real);
    const ours = choices.of(columns);
    const alike = to.columns.filter(({ type }) => type === ours.type);
    if (ours.type === JSONB || alike.length === 0) continue;
    const mapping = [[ours, choices.of(alike)] as const];
    from.relationships.push({ name: 'rows_0', kind: 'array', from, to, mapping, using: 'function' });
  }
  return choices.some(real, 40).map((returns, i) => {
    const by = choices.of(returns.columns.filter(isComputable));
    const called = choices.chance(30) ? `own_g${i}` : null;
    const standard = choices.of(by.type.values);
    return { name: `g_${i}`, called, returns, by, standard, hasSession: choices.chance(50) };
  });
}

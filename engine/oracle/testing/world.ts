/** A random world: tables with keys, foreign keys and rows, views, relationships, and what roles may do with all of it.
 *  In: choices. Out: World, a plain description; policies.ts makes a database of it, metadata.ts a document.
 *  Names are simple here; hostile ones are the injection suite's. */
import type { Choices } from './choices.ts';
import { type Condition, EVERYTHING, makeCondition } from './condition.ts';
import { COLUMN_TYPES, type ColumnType, INT, JSONB, TEXT, type Value } from './types.ts';

export type Column = {
  readonly name: string;
  readonly type: ColumnType;
  readonly isNullable: boolean;
  /** What a row has that does not say. */
  readonly standard: Value | null;
};

export type ForeignKey = {
  readonly columns: readonly Column[];
  readonly to: Table;
  /** At most one row refers to another. */
  readonly isUnique: boolean;
};

export type Table = {
  readonly name: string;
  readonly columns: Column[];
  /** The primary key; of a view, the columns that were one. */
  readonly key: readonly Column[];
  /** Unique besides the key: one column that is never given twice. */
  readonly unique: Column | null;
  readonly foreignKeys: ForeignKey[];
  readonly relationships: Relationship[];
  /** A view: of which table, and which of its rows. */
  readonly of: Table | null;
  readonly viewed: Condition;
  readonly rows: (readonly (Value | null)[])[];
};

export type Relationship = {
  readonly name: string;
  readonly kind: 'object' | 'array';
  readonly from: Table;
  readonly to: Table;
  readonly mapping: readonly (readonly [Column, Column])[];
  /** How the metadata says it: by our columns, by theirs, or by hand. */
  readonly using: 'our key' | 'their key' | 'manual';
};

export type Preset = { readonly column: Column; readonly value: Value; readonly isSession: boolean };

export type Permissions = {
  readonly select: {
    readonly columns: readonly Column[];
    readonly filter: Condition;
    readonly limit: number | null;
    readonly allowsAggregation: boolean;
  } | null;
  readonly insert: {
    readonly columns: readonly Column[];
    readonly check: Condition;
    readonly presets: readonly Preset[];
  } | null;
  readonly update: {
    readonly columns: readonly Column[];
    readonly filter: Condition;
    readonly check: Condition | null;
    readonly presets: readonly Preset[];
  } | null;
  readonly delete: { readonly filter: Condition } | null;
};

export type Role = {
  readonly name: string;
  /** Of an inherited role, whose permissions are what its parents may together; none otherwise. */
  readonly parents: readonly Role[];
  readonly permissions: ReadonlyMap<Table, Permissions>;
};

export type World = {
  readonly tables: readonly Table[];
  readonly roles: readonly Role[];
  /** Of all of them. It only reads. */
  readonly heir: Role;
};

export const ROLES = ['reader', 'editor'] as const;
export const INHERITED = 'heir';

export function makeWorld(choices: Choices): World {
  const tables: Table[] = [];
  const count = 2 + choices.below(3);
  for (let i = 0; i < count; i++) tables.push(makeTable(choices, `t${i}`));
  for (const table of tables) addForeignKeys(choices, table, tables);
  const counts = countRows(choices, tables);
  for (const table of tables) fill(choices, table, counts);
  for (const table of choices.some(tables, 35)) tables.push(makeView(choices, table));
  relate(choices, tables);
  const roles = ROLES.map((name) => makeRole(choices, name, tables));
  return { tables, roles, heir: makeHeir(roles.filter(isKnown), tables) };
}

function makeTable(choices: Choices, name: string): Table {
  const key: Column[] = [column('id', choices.chance(25) ? TEXT : INT)];
  if (choices.chance(25)) key.push(column('id2', INT));
  const columns = choices.times(1 + choices.below(5), (i): Column => {
    const type = choices.of(COLUMN_TYPES);
    const isNullable = choices.chance(65);
    const standard = choices.chance(30) ? choices.of(type.values) : null;
    return { name: `c${i}`, type, isNullable, standard };
  });
  const unique = choices.chance(40) ? column('u', choices.of([INT, TEXT]), true) : null;
  return {
    name,
    columns: [...key, ...columns, ...(unique ? [unique] : [])],
    key,
    unique,
    foreignKeys: [],
    relationships: [],
    of: null,
    viewed: EVERYTHING,
    rows: [],
  };
}

function column(name: string, type: ColumnType, isNullable = false): Column {
  return { name, type, isNullable, standard: null };
}

function addForeignKeys(choices: Choices, table: Table, tables: readonly Table[]): void {
  choices.times(choices.below(3), (i) => {
    const to = choices.of(tables);
    const isNullable = to === table || choices.chance(70);
    const columns = to.key.map(({ type }, j) => column(`r${i}${j}`, type, isNullable));
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
        return each === table.unique ? keyValue(each.type, i) : choices.of(each.type.values);
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
  const columns = kept.map((each) => ({ ...each, isNullable: true, standard: null }));
  const isKey = (each: Column) => table.key.some(({ name }) => name === each.name);
  const viewed = choices.chance(50)
    ? makeCondition(choices, table, {
        columns: () => table.columns,
        relationships: () => [],
        permission: null,
      })
    : EVERYTHING;
  return {
    name: `${table.name}v`,
    columns,
    key: columns.filter(isKey),
    unique: null,
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

function makeRole(choices: Choices, name: string, tables: readonly Table[]): Role {
  const permissions = tables.map((table) => [table, makePermissions(choices, table, tables)] as const);
  return { name, parents: [], permissions: new Map(permissions) };
}

/** A role that no permission names is none that could be inherited from. */
function isKnown({ permissions }: Role): boolean {
  return [...permissions.values()].some((each) => each.select || each.insert || each.update || each.delete);
}

/** Columns are those of any parent, rows too: a cell is seen where a parent may read both. A limit is the largest, and none
 *  where a parent has none. Reference: features.md row 146. */
function makeHeir(parents: readonly Role[], tables: readonly Table[]): Role {
  const permissions = tables.map((table): readonly [Table, Permissions] => {
    const selects = parents.flatMap((role) => role.permissions.get(table)!.select ?? []);
    const limits = selects.map(({ limit }) => limit ?? Number.POSITIVE_INFINITY);
    const limit = Math.max(...limits);
    const select = {
      columns: table.columns.filter((each) => selects.some(({ columns }) => columns.includes(each))),
      filter: { kind: 'or', any: selects.map(({ filter }) => filter) } as const,
      limit: Number.isFinite(limit) ? limit : null,
      allowsAggregation: selects.some(({ allowsAggregation }) => allowsAggregation),
    };
    const none = { insert: null, update: null, delete: null };
    return [table, { select: selects.length > 0 ? select : null, ...none }];
  });
  return { name: INHERITED, parents, permissions: new Map(permissions) };
}

function makePermissions(choices: Choices, table: Table, tables: readonly Table[]): Permissions {
  const words = {
    columns: (on: Table) => on.columns,
    relationships: (on: Table) => on.relationships,
    permission: { root: table, tables },
  };
  const rule = () => (choices.chance(25) ? EVERYTHING : makeCondition(choices, table, words));
  const writable = (percent: number, presets: readonly Preset[]) => {
    const free = table.columns.filter((each) => !presets.some(({ column }) => column === each));
    const chosen = choices.some(free, percent);
    return chosen.length > 0 ? chosen : [free[0]!];
  };
  const mayChange = (percent: number) => table.of === null && choices.chance(percent);
  const readable = choices.some(table.columns, 80);
  const inserted = makePresets(choices, table);
  const updated = makePresets(choices, table);
  const isKeyReadable = table.key.every((each) => readable.includes(each));
  return {
    select: choices.chance(88)
      ? {
          columns: readable,
          filter: rule(),
          // Which rows a limit leaves is only known where there is an order of all rows.
          limit: isKeyReadable && choices.chance(20) ? choices.below(4) : null,
          allowsAggregation: choices.chance(70),
        }
      : null,
    insert: mayChange(65) ? { columns: writable(85, inserted), check: rule(), presets: inserted } : null,
    update: mayChange(65)
      ? {
          columns: writable(75, updated),
          filter: rule(),
          check: choices.chance(60) ? rule() : null,
          presets: updated,
        }
      : null,
    delete: mayChange(65) ? { filter: rule() } : null,
  };
}

function makePresets(choices: Choices, table: Table): Preset[] {
  const plain = table.columns.filter((each) => !table.key.includes(each) && each !== table.unique);
  return choices.some(plain, 12).map((each) => {
    const isSession = each.type.graphql !== null && each.type !== JSONB && choices.chance(40);
    return { column: each, value: choices.of(each.type.values), isSession };
  });
}

/** A random mutation of a role: what is inserted, updated, deleted, and what is to come back. Only what the role's
 *  permissions name. In: choices and a world. Out: Mutation, which reads as GraphQL (mutation-text.ts), and which
 *  mutation-sql.ts has Postgres do. */
import type { Choices } from './choices.ts';
import { type Condition, EVERYTHING, makeCondition, readsRowsOf } from './condition.ts';
import { type Field, makeFields, type Sight } from './request.ts';
import { JSONB, TEXT, type Value } from './types.ts';
import { type Column, keyValue, type Permissions, type Role, type Table } from './world.ts';

export type Mutation = { readonly roots: readonly MutationRoot[] };

export type MutationRoot = {
  readonly alias: string;
  readonly table: Table;
  readonly action: Action;
  /** Of the rows written; null: only their number. */
  readonly returning: readonly Field[] | null;
};

export type Action =
  | {
      readonly kind: 'insert';
      readonly objects: readonly Given[];
      readonly conflict: Conflict | null;
      /** `insert_T_one`: answers with the row. */
      readonly isOne: boolean;
    }
  | { readonly kind: 'update'; readonly where: Condition; readonly changes: readonly Change[] }
  | { readonly kind: 'update by key'; readonly key: readonly Value[]; readonly changes: readonly Change[] }
  | { readonly kind: 'update many'; readonly updates: readonly Update[] }
  | { readonly kind: 'delete'; readonly where: Condition }
  | { readonly kind: 'delete by key'; readonly key: readonly Value[] };

export type Update = { readonly where: Condition; readonly changes: readonly Change[] };
export type Given = ReadonlyMap<Column, Value | null>;

export type Conflict = {
  readonly constraint: string;
  readonly columns: readonly Column[];
  readonly update: readonly Column[];
  readonly where: Condition | null;
};

export type Change = {
  readonly column: Column;
  readonly operator: (typeof OPERATORS)[number]['name'];
  readonly value: Value | null;
  /** GraphQL type of the value; null where it is sent as a literal. */
  readonly type: string | null;
};

/** What an update does to a column. PostgreSQL manual, "JSON Functions and Operators". */
export const OPERATORS = [
  { name: '_set', sql: (_own: string, value: string) => value },
  { name: '_inc', sql: (own: string, value: string) => `${own} + ${value}` },
  { name: '_append', sql: (own: string, value: string) => `${own} || ${value}` },
  { name: '_prepend', sql: (own: string, value: string) => `${value} || ${own}` },
  { name: '_delete_key', sql: (own: string, value: string) => `${own} - ${value}` },
] as const;

export function makeMutation(choices: Choices, sight: Sight, role: Role): Mutation | null {
  const makers = sight.world.tables.flatMap((table) => {
    const may = role.permissions.get(table)!;
    return [
      ...(may.insert ? [() => makeInsert(choices, sight, table, may)] : []),
      ...(may.update ? [() => makeUpdate(choices, sight, table, may.update!.columns)] : []),
      ...(may.delete ? [() => makeDelete(choices, sight, table, may)] : []),
    ].map((make) => (alias: string): MutationRoot => {
      const action = make();
      return { alias, table, action, returning: makeReturning(choices, sight, table, may, action) };
    });
  });
  if (makers.length === 0) return null;
  const count = choices.chance(20) ? 2 : 1;
  return { roots: choices.times(count, (i) => choices.of(makers)(`root${i}`)) };
}

function makeReturning(
  choices: Choices,
  sight: Sight,
  table: Table,
  { select }: Permissions,
  action: Action,
): readonly Field[] | null {
  if (!select) return null;
  const isRow = answersWithRow(action);
  if (!isRow && choices.chance(15)) return null;
  const isDelete = action.kind === 'delete' || action.kind === 'delete by key';
  // What is deleted has no relationships any more; a filter that looks at the table sees another one before.
  if (isDelete && readsRowsOf(select.filter, table)) return null;
  return makeFields(choices, sight, table, isDelete ? Number.POSITIVE_INFINITY : 1);
}

export function answersWithRow(action: Action): boolean {
  return action.kind === 'insert' ? action.isOne : action.kind.endsWith('by key');
}

function makeInsert(choices: Choices, sight: Sight, table: Table, may: Permissions): Action {
  const { columns, check } = may.insert!;
  const object = (): Given => new Map(columns.flatMap((column) => givenFor(choices, table, column)));
  const isOne = may.select !== null && choices.chance(30);
  const conflict = may.update && choices.chance(40) ? makeConflict(choices, sight, table, may) : null;
  // Rows of one statement do not see each other; done one after the other, as the oracle does conflicts, they would.
  const looks = [check, may.update?.filter, may.update?.check, conflict?.where].some(
    (condition) => condition && looksAround(condition),
  );
  const count = isOne || (conflict && looks) ? 1 : choices.below(4);
  return { kind: 'insert', objects: choices.times(count, object), conflict, isOne };
}

function givenFor(choices: Choices, table: Table, column: Column): (readonly [Column, Value | null])[] {
  const isNeeded = !column.isNullable && column.standard === null;
  if (!choices.chance(isNeeded ? 96 : 70)) return [];
  if (choices.chance(column.isNullable ? 15 : 2)) return [[column, null]];
  return [[column, valueFor(choices, table, column)]];
}

/** Keys and references are numbers of rows, there or new. */
function valueFor(choices: Choices, table: Table, column: Column): Value {
  const reference = table.foreignKeys.find(({ columns }) => columns.includes(column));
  const isKey = table.key.includes(column) || column === table.unique;
  if (!isKey && !reference) return choices.of(column.type.values);
  return keyValue(column.type, choices.below(isKey ? 14 : 8));
}

function makeConflict(choices: Choices, sight: Sight, table: Table, may: Permissions): Conflict {
  const keys = [
    { constraint: `${table.name}_pkey`, columns: table.key },
    ...(table.unique ? [{ constraint: `${table.name}_u`, columns: [table.unique] }] : []),
    ...table.foreignKeys.flatMap(({ isUnique, columns }, i) =>
      isUnique ? [{ constraint: `${table.name}_r${i}`, columns }] : [],
    ),
  ];
  return {
    ...choices.of(keys),
    update: choices.some(may.update!.columns, 50),
    where: choices.chance(30) ? makeCondition(choices, table, sight.words) : null,
  };
}

function makeUpdate(choices: Choices, sight: Sight, table: Table, columns: readonly Column[]): Action {
  const changes = () => makeChanges(choices, table, columns);
  const where = () => (choices.chance(30) ? EVERYTHING : makeCondition(choices, table, sight.words));
  const kind = choices.below(10);
  if (kind >= 8) {
    return {
      kind: 'update many',
      updates: choices.times(1 + choices.below(2), () => ({ where: where(), changes: changes() })),
    };
  }
  if (kind >= 5 && sight.mayRead(table) && sight.seesKey(table)) {
    return { kind: 'update by key', key: makeKey(choices, table), changes: changes() };
  }
  return { kind: 'update', where: where(), changes: changes() };
}

function makeKey(choices: Choices, table: Table): Value[] {
  return table.key.map(({ type }) => keyValue(type, choices.below(9)));
}

/** At least one. */
function makeChanges(choices: Choices, table: Table, columns: readonly Column[]): Change[] {
  const chosen = choices.some(columns, 30);
  return (chosen.length > 0 ? chosen : [choices.of(columns)]).map((column) =>
    makeChange(choices, table, column),
  );
}

function makeChange(choices: Choices, table: Table, column: Column): Change {
  const { type } = column;
  const { graphql } = type;
  if (type.isNumber && choices.chance(35)) {
    return { column, operator: '_inc', value: choices.of(type.values), type: graphql };
  }
  if (type === JSONB && choices.chance(60)) {
    const operator = choices.of(['_append', '_prepend', '_delete_key'] as const);
    const isKey = operator === '_delete_key';
    const value = choices.of(isKey ? TEXT.values : type.values);
    return { column, operator, value, type: isKey ? 'String' : graphql };
  }
  const value = choices.chance(column.isNullable ? 15 : 2) ? null : valueFor(choices, table, column);
  return { column, operator: '_set', value, type: graphql };
}

function makeDelete(choices: Choices, sight: Sight, table: Table, { select }: Permissions): Action {
  // The row itself is the answer, so it must be one that can be told before.
  const isTold = select !== null && !readsRowsOf(select.filter, table);
  if (isTold && sight.seesKey(table) && choices.chance(30)) {
    return { kind: 'delete by key', key: makeKey(choices, table) };
  }
  return { kind: 'delete', where: makeCondition(choices, table, sight.words) };
}

export function looksAround(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.all.some(looksAround);
    case 'or':
      return condition.any.some(looksAround);
    case 'not':
      return looksAround(condition.not);
    case 'related':
    case 'exists':
      return true;
    default:
      return false;
  }
}

/** The rows and values that an access question names: rows by key or by condition, and the values that a write gives, by column.
 *  In: unvalidated names and values, a table. Out: the rows and the write as a statement takes them (sql/row-truth.ts).
 *  Raises an ERRORS row for a name or value that is wrong. Pure. Not here: permissions (question.ts). */
import type { CatalogColumn, CatalogTable } from '../catalog/types.ts';
import { EngineError, fail, withPath } from '../errors/engine-error.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { assignmentOf, refuseRepeated } from '../plan/assignment.ts';
import type { Assignment } from '../plan/mutation-types.ts';
import { type BoolExpScope, resolveBoolExp } from '../resolve/bool-exp.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { leafOf, listLeafOf } from '../resolve/value.ts';
import { UPDATE_OPERATORS } from '../schema/update.ts';
import type { ProbedRows, StoredRows } from '../sql/row-truth.ts';

export type Args = ArgsOf<'explain_access'>;
export type RowOperation = NonNullable<Args['operation']>;

/** The most rows that one answer explains. */
export const MOST_ROWS = 100;

const ARGUMENTS = ['key', 'where', 'fields', 'values', 'operators', 'on_conflict'] as const;
type Argument = (typeof ARGUMENTS)[number];

/** The arguments besides those of every operation. */
const TAKEN: Readonly<Record<RowOperation, readonly Argument[]>> = {
  select: ['key', 'where', 'fields'],
  insert: ['values', 'on_conflict'],
  update: ['key', 'where', 'values', 'operators'],
  delete: ['key', 'where'],
};

const ARTICLE: Readonly<Record<RowOperation, string>> = {
  select: 'a select',
  insert: 'an insert',
  update: 'an update',
  delete: 'a delete',
};

/** Raises `parseFailed` for an argument that the operation does not take. */
export function refuseUnfit(operation: RowOperation, args: Args): void {
  if (operation === 'insert' && args.key) refuse('key', 'an insert has no key; give the columns in values');
  for (const argument of ARGUMENTS) {
    const isGiven = args[argument] !== undefined && args[argument] !== null;
    if (isGiven && !TAKEN[operation].includes(argument)) {
      refuse(argument, `${ARTICLE[operation]} takes no ${argument}`);
    }
  }
}

/** Returns the columns of the table, and those that identify its rows. */
export function columnsIn(table: ResolvedTable): Omit<ProbedRows, 'stored' | 'write'> {
  const columns = [...table.columnByName.values()];
  const identity = table.primaryKey ?? columns;
  return { table: table.table, columns, identity, isKey: table.primaryKey !== null };
}

/** Returns the rows that a read, an update or a delete is about: the one with the key, or those that satisfy the condition. */
export function storedIn(table: ResolvedTable, { key, where }: Args, scope: BoolExpScope): StoredRows {
  if (where !== undefined && where !== null) {
    if (key) refuse('where', 'give either key or where');
    // One row more than is explained tells whether there are more.
    const predicate = withPath('where', () => resolveBoolExp(where, scope));
    return { kind: 'where', predicate, most: MOST_ROWS + 1 };
  }
  if (!key || Object.keys(key).length === 0) {
    const wanted = table.primaryKey?.map(({ name }) => name).join(', ');
    const hint = wanted === undefined ? '' : `; the primary key of the table is ${wanted}`;
    return refuse('key', `the key of the row is missing${hint}`);
  }
  const values = withPath('key', () => leavesIn(table, key));
  for (const [name, value] of Object.entries(key)) {
    if (value === null) withPath('key', () => refuse(name, 'a key has no null'));
  }
  return { kind: 'key', values };
}

/** Returns the values of an insert, by column. */
export function insertedIn(table: ResolvedTable, { values }: Args): ReadonlyMap<string, Leaf> {
  return withPath('values', () => leavesIn(table, values ?? {}));
}

/** Returns the assignments of an update: `values` are those of `_set`. Raises `validationFailed` for a column that two operators
 *  write. */
export function assignedIn(table: ResolvedTable, { values, operators = {} }: Args): readonly Assignment[] {
  if (values && operators['_set']) {
    withPath('operators', () => refuse('_set', 'values are the operands of _set; give one of them'));
  }
  const set = withPath('values', () => assignmentsOf(table, '_set', values ?? {}));
  const others = withPath('operators', () =>
    Object.entries(operators).flatMap(([name, operands]) =>
      withPath(name, () => assignmentsOf(table, name, operands)),
    ),
  );
  const all = [...set, ...others];
  withPath('operators', () => refuseRepeated(all));
  return all;
}

function assignmentsOf(
  table: ResolvedTable,
  name: string,
  operands: Readonly<Record<string, unknown>>,
): readonly Assignment[] {
  const operator = UPDATE_OPERATORS.find((each) => each.name === name);
  if (!operator) {
    const names = UPDATE_OPERATORS.map((each) => each.name).join(', ');
    return fail('parseFailed', { text: `${name} is no operator of an update; use ${names}` });
  }
  return Object.entries(operands).map(([column, value]) => {
    const resolved = columnOf(table, column);
    return withPath(column, () => {
      if (!operator.applies(resolved)) {
        const text = `${name} does not apply to column "${column}" of type ${resolved.type.name}`;
        fail('parseFailed', { text });
      }
      if (value === null && operator.operand?.takesNull === false) {
        fail('parseFailed', { text: `${name} takes no null` });
      }
      return assignmentOf(name, resolved, (type) =>
        operator.operand?.isList && type.element
          ? listLeafOf(value, type.element, null)
          : leafOf(value, type, null),
      );
    });
  });
}

/** Returns the columns that a write names. */
export function writtenNames(operation: RowOperation, { values = {}, operators = {} }: Args) {
  const named = [values, ...(operation === 'update' ? Object.values(operators) : [])];
  return [...new Set(named.flatMap((each) => Object.keys(each)))];
}

export function leavesIn(
  table: ResolvedTable,
  values: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, Leaf> {
  const entries = Object.entries(values).map(([name, value]) => {
    const column = columnOf(table, name);
    return [name, withPath(name, () => leafOf(value, column.type, null))] as const;
  });
  return new Map(entries);
}

/** Columns are those of the database, which may have other names in the API. */
export function columnOf(table: ResolvedTable, name: string): ResolvedColumn {
  const column = table.columnByName.get(name);
  if (column) return column;
  const meant = [...table.columnByName.values()].find(({ graphqlName }) => graphqlName === name);
  const advice = meant && `the field ${name} is the column ${meant.name}`;
  throw new EngineError('columnNotExists', { name }).advised(advice);
}

export function refuse(argument: string, text: string): never {
  return withPath(argument, () => fail('parseFailed', { text }));
}

/** Returns the columns whose value only an insert itself gives: generated ones, and defaults of columns without a value. */
export function undecidedIn(
  catalog: CatalogTable | undefined,
  values: ReadonlyMap<string, unknown>,
): ReadonlySet<string> {
  const isDefault = (column: CatalogColumn) => column.hasDefault || column.identity !== null;
  const isUndecided = (column: CatalogColumn) =>
    column.isGenerated || (!values.has(column.name) && isDefault(column));
  return new Set((catalog?.columns ?? []).filter(isUndecided).map(({ name }) => name));
}

/** Returns the columns whose value only a write gives, whatever it writes. */
export function generatedIn(catalog: CatalogTable | undefined): ReadonlySet<string> {
  return new Set((catalog?.columns ?? []).flatMap(({ name, isGenerated }) => (isGenerated ? [name] : [])));
}

/** The writing part of a mutation: `insert …`, `update …`, `delete …` without `returning`. In: an action and the alias of its
 *  row. Not here: checks and responses (mutation.ts). */
import { arrayOf, builtinType } from '../catalog/types.ts';
import { isColumnwise } from '../plan/insert-pieces.ts';
import type { Assignment, Delete, Insert, OnConflict, Update } from '../plan/mutation-types.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { allOf, condition, filtered, matches, whereClause } from './bool-exp.ts';
import {
  catalogued,
  comma,
  empty,
  type Fragment,
  id,
  integer,
  join,
  param,
  qualified,
  sql,
  valueFrom,
} from './fragment.ts';
import { type Aliases, columnOf, rowScope } from './scope.ts';

/** Returns a write to the table under an alias, without `returning`. */
export function writeOf(action: Insert | Update | Delete, row: string, aliases: Aliases): Fragment {
  if (action.kind === 'insert') return insertStatement(action, row, aliases);
  return changeOf(action, row, rowsToChange(action, row, aliases));
}

/** Returns an update or a delete of the rows that satisfy all conditions, without `returning`. */
export function changeOf(action: Update | Delete, row: string, conditions: readonly Fragment[]): Fragment {
  const where = whereClause(conditions);
  if (action.kind === 'delete') return sql`delete from ${qualified(action.table)} ${id(row)}${where}`;
  const set = join(
    action.set.map((a) => sql`${id(a.column)} = ${assignedValue(a, row)}`),
    comma,
  );
  return sql`update ${qualified(action.table)} ${id(row)} set ${set}${where}`;
}

/** Returns the conditions on the rows that an update or a delete changes. */
export function rowsToChange(action: Update | Delete, row: string, aliases: Aliases): readonly Fragment[] {
  return [filtered(action.where, rowScope(row, aliases)), ...reachedBy(action, row, aliases)];
}

function insertStatement(insert: Insert, row: string, aliases: Aliases): Fragment {
  const conflict = insert.onConflict ? conflictClause(insert.onConflict, row, aliases) : empty;
  return sql`insert into ${qualified(insert.table)} as ${id(row)}${rowsClause(insert, aliases)}${conflict}`;
}

/** Returns the condition that the row belongs to a row of an earlier step. */
export function reachedBy({ reached }: Update | Delete, row: string, aliases: Aliases): readonly Fragment[] {
  if (!reached) return [];
  const parent = aliases.next();
  const where = allOf([
    matches(reached.join, parent, row),
    condition(reached.where, rowScope(parent, aliases)),
  ]);
  return [sql`exists (select 1 from unnest(${param(reached.rows)}) ${id(parent)} where ${where})`];
}

function rowsClause(insert: Insert, aliases: Aliases): Fragment {
  const { columns, rows } = insert;
  // Without columns, every row has only defaults.
  if (columns.length === 0) {
    if (rows.length === 1) return sql` default values`;
    return sql` select from generate_series(1, ${integer(rows.length)})`;
  }
  const names = join(
    columns.map(({ column }) => id(column)),
    comma,
  );
  const source = isColumnwise(insert) ? columnArrays(insert, aliases) : valueRows(rows);
  return sql` (${names}) ${source}`;
}

/** Returns `values ($1, default), …`, one parameter per value. */
function valueRows(rows: Insert['rows']): Fragment {
  const tuples = rows.map((row) => {
    const values = row.map((value) => (value === 'default' ? sql`default` : param(value)));
    return sql`(${join(values, comma)})`;
  });
  return sql`values ${join(tuples, comma)}`;
}

/** Returns many rows of the same columns, one parameter per column, an array of texts. The statement does not depend on the
 *  number of rows and stays far below the protocol's limit of 65,535 parameters. */
function columnArrays({ columns, rows }: Insert, aliases: Aliases): Fragment {
  const row = aliases.next();
  const names = columns.map((_, i) => `c${i}`);
  const values = columns.map(({ type }, i) => valueFrom(columnOf(row, names[i]!), type));
  const arrays = columns.map((_, i) =>
    param({ kind: 'list', items: rows.map((cells) => cells[i] as Leaf), type: arrayOf(builtinType('text')) }),
  );
  const as = sql`${id(row)}(${join(names.map(id), comma)})`;
  return sql`select ${join(values, comma)} from unnest(${join(arrays, comma)}) ${as}`;
}

function conflictClause(conflict: OnConflict, row: string, aliases: Aliases): Fragment {
  const target = sql` on conflict${conflictTarget(conflict.target)}`;
  if (conflict.updateColumns.length === 0) return sql`${target} do nothing`;
  const set = conflictValues(conflict, row).map(([column, value]) => sql`${id(column)} = ${value}`);
  const where = whereClause([condition(conflict.where, rowScope(row, aliases))]);
  return sql`${target} do update set ${join(set, comma)}${where}`;
}

/** The alias of the row that conflicts. PostgreSQL manual, "INSERT": ON CONFLICT. */
export const EXCLUDED = 'excluded';

/** Returns the values that an upsert assigns to the stored row under the alias `row`, by column. */
export function conflictValues(
  { updateColumns, presets }: Pick<OnConflict, 'updateColumns' | 'presets'>,
  row: string,
): readonly (readonly [column: string, value: Fragment])[] {
  const preset = new Set(presets.map(({ column }) => column));
  return [
    ...updateColumns
      .filter((column) => !preset.has(column))
      .map((column) => [column, columnOf(EXCLUDED, column)] as const),
    ...presets.map((given) => [given.column, assignedValue(given, row)] as const),
  ];
}

function conflictTarget(target: OnConflict['target']): Fragment {
  switch (target.kind) {
    case 'any':
      return empty;
    case 'constraint':
      return sql` on constraint ${id(target.name)}`;
    case 'columns':
      return sql` (${join(target.columns.map(id), comma)})`;
    case 'index': {
      const { on, where } = target.index;
      return sql` (${join(on.map(catalogued), comma)})${whereClause(where === null ? [] : [catalogued(where)])}`;
    }
    default:
      return target satisfies never;
  }
}

/** Returns the value that an assignment gives to its column in the row under the alias `row`. */
export function assignedValue(given: Assignment, row: string): Fragment {
  if (given.kind === 'default') return sql`default`;
  const { kind, column, value } = given;
  return ASSIGNMENTS[kind](columnOf(row, column), param(value));
}

type WithValue = Exclude<Assignment['kind'], 'default'>;

const ASSIGNMENTS: Readonly<Record<WithValue, (old: Fragment, value: Fragment) => Fragment>> = {
  set: (_old, value) => value,
  increment: (old, value) => sql`${old} + ${value}`,
  multiply: (old, value) => sql`${old} * ${value}`,
  append: (old, value) => sql`${old} || ${value}`,
  prepend: (old, value) => sql`${value} || ${old}`,
  'delete-key': (old, value) => sql`${old} - ${value}`,
  'delete-element': (old, value) => sql`${old} - ${value}`,
  'delete-at-path': (old, value) => sql`${old} #- ${value}`,
};

/** One step of a nested insert → a statement that writes and tells what later steps and the answer need of its rows:
 *  how many, kept values, the rows themselves, whether they pass the check. Everything is text, so that the next statement
 *  takes it as a parameter. Not here: the order of steps (plan/insert.ts), running them (execute/run-plan.ts). */
import type { PgType } from '../catalog/types.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { InsertStep } from '../plan/types.ts';
import { checkOf } from './check.ts';
import { comma, type Fragment, id, join, sql, typeName } from './fragment.ts';
import { Aliases, columnOf } from './scope.ts';
import { insertStatement } from './write.ts';

export const WRITTEN = id('written');
/** A name no column is likely to have: it stands beside the columns of the written row. */
export const PASSES = id('check passes');
export const ROW = id('written row');

export type StepQuery = Pick<InsertStep, 'isAnswered' | 'unlessInserted' | 'path'> & {
  /** Columns: how many rows, the kept values, the rows as an array if `isAnswered`, `true` or `false`: do all pass the
   *  check. A single row that was not inserted: no row at all. */
  readonly write: Fragment;
};

export function stepQuery({ insert, keeps, isAnswered, unlessInserted, path }: InsertStep): StepQuery {
  const aliases = new Aliases();
  const row = aliases.next();
  const statement = insertStatement(insert, row, aliases);
  const passes = checkOf(insert, row, aliases) ?? sql`true`;
  const whole = sql`${id(row)}.*::${typeName(rowType(insert.table))}`;
  const told = (count: Fragment, rows: Fragment, verdict: Fragment) => [
    count,
    ...keeps.map((column) => sql`${columnOf(row, column)}::text`),
    ...(isAnswered ? [rows] : []),
    sql`(${verdict})::text`,
  ];
  const about = { isAnswered, unlessInserted, path };
  if (insert.rows.length === 1) {
    const columns = told(sql`'1'::text`, sql`array[${whole}]::text`, passes);
    return { ...about, write: sql`${statement} returning ${join(columns, comma)}` };
  }
  const returning = isAnswered
    ? sql`${whole} as ${ROW}, ${passes} as ${PASSES}`
    : sql`${passes} as ${PASSES}`;
  const columns = told(
    sql`count(*)::text`,
    sql`array_agg(${ROW})::text`,
    sql`coalesce(bool_and(${PASSES}), true)`,
  );
  return {
    ...about,
    write: sql`with ${WRITTEN} as (${statement} returning ${returning}) select ${join(columns, comma)} from ${WRITTEN}`,
  };
}

/** The type of a table's rows. */
export function rowType(table: QualifiedName): PgType {
  return { ...table, kind: 'composite', element: null, base: null };
}

/** One step of a nested insert or update → a statement that writes and returns what later steps and the response need of its
 *  rows: how many, kept values, the rows themselves. Everything is text, so that the next statement takes it as a parameter.
 *  Not here: the order of steps (plan/insert.ts, plan/update.ts), running them (execute/statements.ts). Why: ADR 8, ADR 9. */
import type { PgType } from '../catalog/types.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Insert, InsertStep, UpdateStep } from '../plan/mutation-types.ts';
import { checkOf, verdict } from './check.ts';
import { fromWritten } from './distributed-write.ts';
import type { DistributionOf } from './distribution.ts';
import { comma, compile, type Fragment, id, join, type Statement, sql, typeName } from './fragment.ts';
import { Aliases, columnOf } from './scope.ts';
import type { StepStatements } from './step-statements.ts';
import { writeOf } from './write.ts';

export const WRITTEN = id('written');
/** A column beside those of the written row; the name is unlikely to be a column's. */
export const PASSES = id('check passes');
export const ROW = id('written row');
/** The verdict over all written rows; null when there are none. */
export const ALL_PASS = sql`bool_and(${PASSES})`;

export type StepQuery = Pick<InsertStep, 'unlessInserted' | 'path' | 'writesOnce'> & {
  /** The statement. Its columns are the number of rows, the kept values, the rows as an array when a later step takes them,
   *  and the verdict when there is a check. A step for a single row that is not inserted returns no row at all. */
  readonly statement: Statement;
  /** The index of the column with the rows, when the response is about them. */
  readonly answered: number | null;
};

export function insertStepQuery(
  step: InsertStep,
  statements: StepStatements,
  distributionOf: DistributionOf | null = null,
): StepQuery {
  const { insert, keeps, isAnswered, writesOnce, unlessInserted, path } = step;
  const answered = insert.rows.length === 1 ? 1 + keeps.length : 1;
  return {
    statement: statements.statementOf(step, (one) =>
      distributionOf
        ? distributedStep(one.insert, distributionOf, one.isAnswered, one.keeps)
        : insertStep(one),
    ),
    answered: isAnswered ? answered : null,
    ...(writesOnce ? { writesOnce } : {}),
    unlessInserted,
    path,
  };
}

function insertStep({ insert, keeps, isAnswered }: InsertStep): Fragment {
  const aliases = new Aliases();
  const row = aliases.next();
  const statement = writeOf(insert, row, aliases);
  const passes = checkOf(insert, row, aliases);
  if (insert.rows.length === 1) {
    const whole = sql`${id(row)}.*::${typeName(rowType(insert.table))}`;
    const columns = [
      sql`'1'::text`,
      ...keeps.map((column) => sql`${columnOf(row, column)}::text`),
      ...(isAnswered ? [sql`array[${whole}]::text`] : []),
      ...(passes ? [verdict(passes)] : []),
    ];
    return sql`${statement} returning ${join(columns, comma)}`;
  }
  return manyRows(statement, { row, table: insert.table, passes, returnsRows: isAnswered });
}

/** Returns the statement of a step for a table of a cluster. */
function distributedStep(
  write: Insert | UpdateStep['write'],
  distributionOf: DistributionOf,
  returnsRows: boolean,
  keeps: InsertStep['keeps'] = [],
): Fragment {
  const aliases = new Aliases();
  const { table } = write;
  const isOne = write.kind === 'insert' && write.rows.length === 1;
  return fromWritten(write, distributionOf, aliases, (row, passes) => {
    const whole = returnsRows ? [aliases.rowOf(row, table)] : [];
    const columns = isOne
      ? [
          sql`'1'::text`,
          ...keeps.map((column) => sql`${columnOf(row, column)}::text`),
          ...whole.map((one) => sql`array[${one}]::text`),
          ...(passes ? [verdict(passes)] : []),
        ]
      : [
          sql`count(*)::text`,
          ...whole.map((one) => sql`array_agg(${one})::text`),
          ...(passes ? [verdict(sql`bool_and(${passes})`)] : []),
        ];
    return { columns: join(columns, comma) };
  });
}

export function updateStepQuery(
  { write, keepsRows, isAnswered, path }: UpdateStep,
  distributionOf: DistributionOf | null = null,
): StepQuery {
  const returnsRows = keepsRows || isAnswered;
  const query = distributionOf
    ? distributedStep(write, distributionOf, returnsRows)
    : updateStep(write, returnsRows);
  return {
    statement: compile(query),
    answered: isAnswered ? 1 : null,
    unlessInserted: null,
    path,
  };
}

function updateStep(write: UpdateStep['write'], returnsRows: boolean): Fragment {
  const aliases = new Aliases();
  const row = aliases.next();
  const statement = writeOf(write, row, aliases);
  const passes = write.kind === 'update' ? checkOf(write, row, aliases) : null;
  return manyRows(statement, { row, table: write.table, passes, returnsRows });
}

type Written = {
  /** The alias of a written row. */
  readonly row: string;
  readonly table: QualifiedName;
  /** The condition that a row passes the check; null without a check. */
  readonly passes: Fragment | null;
  readonly returnsRows: boolean;
};

/** Returns a statement that writes any number of rows, as a step without kept values. */
function manyRows(statement: Fragment, { row, table, passes, returnsRows }: Written): Fragment {
  const whole = sql`${id(row)}.*::${typeName(rowType(table))}`;
  const returning = [
    ...(returnsRows ? [sql`${whole} as ${ROW}`] : []),
    ...(passes ? [sql`${passes} as ${PASSES}`] : []),
  ];
  const columns = [
    sql`count(*)::text`,
    ...(returnsRows ? [sql`array_agg(${ROW})::text`] : []),
    ...(passes ? [verdict(ALL_PASS)] : []),
  ];
  // Unused rows are only counted.
  const returned = returning.length > 0 ? join(returning, comma) : sql`1`;
  return sql`with ${WRITTEN} as (${statement} returning ${returned}) select ${join(columns, comma)} from ${WRITTEN}`;
}

/** Returns the row type of a table. */
export function rowType(table: QualifiedName): PgType {
  return { ...table, kind: 'composite', element: null, base: null };
}

/** Writes to the tables of a Citus cluster. RETURNING has columns only, because the shards evaluate no function there: the written rows are a
 *  CTE, and checks and the response are about its rows.
 *  In: a write without `returning`, and columns about a written row. Out: one statement. Not here: the columns (mutation.ts,
 *  nested-write.ts), the forms of queries (distribution.ts). Citus documentation, "Data Modification". */
import type { QualifiedName } from '../metadata/schema/common.ts';
import { type DistributionOf, distributed, withRows } from './distribution.ts';
import { empty, type Fragment, id, qualified, sql } from './fragment.ts';
import { type Aliases, columnOf, WHOLE_ROW } from './scope.ts';

const WRITTEN_ROWS = id('written');
/** True in a row that an upsert has inserted and not found. */
const IS_NEW = 'is new';

/** A write, and whether its columns differ between rows that an upsert inserts and rows that it finds. */
export type DistributedWrite = {
  readonly table: QualifiedName;
  readonly distributionOf: DistributionOf;
  /** Composes the write to the table under an alias. */
  readonly statementOf: (row: string) => Fragment;
  readonly marksNew: boolean;
};

/** Columns about the written rows under an alias, and what follows their source in the FROM clause. */
export type ColumnsOf = (
  row: string,
  isNew: Fragment,
) => { readonly columns: Fragment; readonly clauses: Fragment };

/** Returns a statement that writes, and then selects columns from the written rows. */
export function fromWritten(write: DistributedWrite, aliases: Aliases, columnsOf: ColumnsOf): Fragment {
  const { table, distributionOf, statementOf, marksNew } = write;
  const isNew = marksNew ? sql`, ${id(IS_NEW)}` : empty;
  const writing = distributed(distributionOf, aliases, () => {
    const target = aliases.next();
    aliases.source({ table, row: target, isTarget: true });
    const mark = marksNew ? sql`, ${columnOf(target, 'xmax')} = 0 as ${id(IS_NEW)}` : empty;
    // The shards have tables of other names, so that a row of them is not of the type of the table.
    return sql`${statementOf(target)} returning row(${id(target)}.*)::${qualified(table)} as ${id(WHOLE_ROW)}${mark}`;
  });
  const reading = distributed(distributionOf, aliases, () => {
    const row = aliases.next();
    aliases.widen(row);
    const rows = sql`(select ${id(WHOLE_ROW)}, (${id(WHOLE_ROW)}).*${isNew} from ${WRITTEN_ROWS})`;
    const source = aliases.source({ table, row, source: rows });
    const { columns, clauses } = columnsOf(row, columnOf(row, IS_NEW));
    return sql`select ${columns} from ${source} ${id(row)}${clauses}`;
  });
  const written = sql`${WRITTEN_ROWS} as (${writing.query})`;
  return withRows(reading.gathered, reading.query, { gathered: writing.gathered, cte: written });
}

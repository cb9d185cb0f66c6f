/** Writes to the tables of a Citus cluster. RETURNING has columns only, because the shards evaluate no function there: the written rows are a
 *  CTE, and checks and the response are about its rows.
 *  In: a write, and columns about a written row. Out: one statement. Not here: the columns (mutation.ts,
 *  nested-write.ts), the forms of queries (distribution.ts). Citus documentation, "Data Modification". */
import type { Delete, Insert, Update } from '../plan/mutation-types.ts';
import { whereClause } from './bool-exp.ts';
import { checkOf, conflictCheckOf } from './check.ts';
import { type DistributionOf, distributed, withRows } from './distribution.ts';
import { empty, type Fragment, id, qualified, sql } from './fragment.ts';
import { type Aliases, columnOf, WHOLE_ROW } from './scope.ts';
import { writeOf } from './write.ts';

const WRITTEN_ROWS = id('written');
/** True in a row that an upsert has inserted and not found. */
const IS_NEW = 'is new';

/** Columns about the written rows under an alias, with the condition that a row passes the check, and what stands around WHERE. */
type ColumnsOf = (
  row: string,
  check: Fragment | null,
) => { readonly columns: Fragment; readonly joins?: Fragment; readonly having?: Fragment };

/** Returns a statement that writes, and then selects columns from the written rows. */
export function fromWritten(
  action: Insert | Update | Delete,
  distributionOf: DistributionOf,
  aliases: Aliases,
  columnsOf: ColumnsOf,
): Fragment {
  const { table } = action;
  // The check differs between rows that an upsert inserts and rows that it finds.
  const marksNew = action.kind === 'insert' && conflictCheckOf(action) !== null;
  const isNew = marksNew ? sql`, ${id(IS_NEW)}` : empty;
  const writing = distributed(distributionOf, aliases, () => {
    const target = aliases.next();
    aliases.source({ table, row: target, isTarget: true });
    const mark = marksNew ? sql`, ${columnOf(target, 'xmax')} = 0 as ${id(IS_NEW)}` : empty;
    // The shards have tables of other names, so that a row of them is not of the type of the table.
    return sql`${writeOf(action, target, aliases)} returning row(${id(target)}.*)::${qualified(table)} as ${id(WHOLE_ROW)}${mark}`;
  });
  const reading = distributed(distributionOf, aliases, () => {
    const row = aliases.next();
    aliases.widen(row);
    const rows = sql`(select ${id(WHOLE_ROW)}, (${id(WHOLE_ROW)}).*${isNew} from ${WRITTEN_ROWS})`;
    const source = aliases.source({ table, row, source: rows });
    const check = action.kind === 'delete' ? null : checkOf(action, row, aliases, columnOf(row, IS_NEW));
    const { columns, joins = empty, having = empty } = columnsOf(row, check);
    return sql`select ${columns} from ${source} ${id(row)}${joins}${whereClause(aliases.anchored)}${having}`;
  });
  const written = sql`${WRITTEN_ROWS} as (${writing.query})`;
  return withRows(reading.gathered, reading.query, { gathered: writing.gathered, cte: written });
}

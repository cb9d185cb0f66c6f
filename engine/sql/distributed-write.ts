/** Writes to the tables of a Citus cluster. RETURNING has columns only, because the shards evaluate no function there: the written rows are a
 *  CTE, and checks and the response are about its rows.
 *  In: a write, and columns about a written row. Out: one statement. Not here: the columns (mutation.ts,
 *  nested-write.ts), the forms of queries (distribution.ts). Citus documentation, "Data Modification". */
import type { Delete, Insert, Update } from '../plan/mutation-types.ts';
import type { RowsDistribution } from '../resolve/distributions.ts';
import { conjuncts, isAbout, isOwn, ownPart } from '../resolve/own-part.ts';
import type { Predicate } from '../resolve/predicate.ts';
import { condition, conjunctsForCluster, whereClause } from './bool-exp.ts';
import { checkOf, conflictCheckOf } from './check.ts';
import { type Composed, type DistributionOf, distributed, withRows } from './distribution.ts';
import { comma, empty, type Fragment, id, join, qualified, sql } from './fragment.ts';
import { type Aliases, columnOf, rowScope, WHOLE_ROW } from './scope.ts';
import { changeOf, reachedBy, rowsToChange, writeOf } from './write.ts';

const WRITTEN_ROWS = id('written');
/** The keys of the rows to write. */
const KEYS = 'keys';
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
  const writing = writingOf(action, distributionOf, aliases, (target) => {
    const mark = marksNew ? sql`, ${columnOf(target, 'xmax')} = 0 as ${id(IS_NEW)}` : empty;
    // The shards have tables of other names, so that a row of them is not of the type of the table.
    return sql`row(${id(target)}.*)::${qualified(table)} as ${id(WHOLE_ROW)}${mark}`;
  });
  const reading = distributed(distributionOf, aliases, () => {
    const row = aliases.next();
    aliases.widen(row);
    const rows = sql`(select ${id(WHOLE_ROW)}, (${id(WHOLE_ROW)}).*${isNew} from ${WRITTEN_ROWS})`;
    const source = aliases.source({ table, row, source: rows });
    const check = action.kind === 'delete' ? null : checkOf(action, row, aliases, columnOf(row, IS_NEW));
    const { columns, joins = empty, having = empty } = columnsOf(row, check);
    return sql`select ${columns} from ${source} ${id(row)}${joins}${whereClause(aliases.anchored(row))}${having}`;
  });
  const written = sql`${WRITTEN_ROWS} as (${writing.query})`;
  return withRows(reading.gathered, reading.query, { gathered: writing.gathered, cte: written });
}

/** A statement that writes, and the CTEs that it reads. */
type Writing = Pick<Composed, 'query' | 'gathered'>;

/** Returns the statement that writes and returns columns of the target row. The condition of an update or delete may contain only columns of
 *  its row, because Citus plans few subqueries there and calls no functions. For others, the keys of the rows are read first, as any
 *  query of the cluster is. */
function writingOf(
  action: Insert | Update | Delete,
  distributionOf: DistributionOf,
  aliases: Aliases,
  returningOf: (target: string) => Fragment,
): Writing {
  const { table } = action;
  const target = aliases.next();
  const returning = sql` returning ${returningOf(target)}`;
  const distribution = distributionOf(table);
  const key = distribution?.key;
  if (action.kind !== 'insert' && key && !isOwn(action.where)) {
    const keys = distributed(distributionOf, aliases, () => {
      const row = aliases.next();
      const source = aliases.source({ table, row, where: action.where });
      const conditions = whereClause([...rowsToChange(action, row, aliases), ...aliases.anchored(row)]);
      return sql`select ${columnsOf(row, key)} from ${source} ${id(row)}${conditions}`;
    });
    // A row that changes meanwhile is written only if it still satisfies the conditions on its own columns.
    const write = changeOf(action, target, [
      ...ownConditions(ownPart(action.where), distribution, target, aliases),
      sql`(${columnsOf(target, key)}) in (select ${columnsOf(KEYS, key)} from ${id(KEYS)})`,
    ]);
    const cte = sql`${id(KEYS)} as materialized (${withRows(keys.gathered, keys.query)})`;
    return { query: sql`${write}${returning}`, gathered: [cte] };
  }
  return distributed(distributionOf, aliases, () => {
    aliases.source({ table, row: target, isTarget: true });
    if (action.kind === 'insert' || !distribution || !isOwn(action.where)) {
      return sql`${writeOf(action, target, aliases)}${returning}`;
    }
    const conditions = [
      ...ownConditions(action.where, distribution, target, aliases),
      ...reachedBy(action, target, aliases),
    ];
    return sql`${changeOf(action, target, conditions)}${returning}`;
  });
}

/** Returns the conditions on columns of the target row. Citus 13.2 fails when conditions on the distribution column exclude all shards, such as
 *  the tenant of the role and another tenant in the request. It chooses the shards by one of them and does not see the others. */
function ownConditions(
  where: Predicate,
  distribution: RowsDistribution | null,
  target: string,
  aliases: Aliases,
): readonly Fragment[] {
  // On one shard, no column chooses it, and two values of any column exclude it.
  if (distribution?.kind !== 'distributed') return conjunctsForCluster(where, rowScope(target, aliases));
  const { column } = distribution;
  const all = conjuncts(where);
  const about = all.filter((each) => isAbout(each, column));
  const chosen =
    about.find((each) => each.kind === 'compare' && each.operator === '_eq') ??
    about.find((each) => each.kind === 'compare' && each.operator === '_in');
  return all.map((each) => {
    const fragment = condition(each, rowScope(target, aliases));
    return each !== chosen && about.includes(each) ? sql`(${fragment}) is true` : fragment;
  });
}

function columnsOf(row: string, names: readonly string[]): Fragment {
  return join(
    names.map((name) => columnOf(row, name)),
    comma,
  );
}

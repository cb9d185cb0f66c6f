/** `count` of the admin API → the number of rows a role may read, or of distinct values of columns: `{counted: {count}}`. Not
 *  here: the rows themselves (row-selection.ts). Spec: "Errors"; docs/reference/behaviour/endpoints.md. */
import { fail, withPath } from '../errors/engine-error.ts';
import { readAccess, rootAccess } from '../resolve/access.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { filtered } from '../resolve/row-barrier.ts';
import type { QueryRoot } from './query-types.ts';
import { planWhere, type Reader, readableColumn } from './row-selection.ts';

type CountRequest = { readonly where?: unknown; readonly distinct?: readonly string[] | null };

/** Plans a count. `withoutAggregations` is the option --count-without-aggregations. Raises `rootReadNotPermitted`. */
export function planRowsCount(
  table: ResolvedTable,
  request: CountRequest,
  reader: Reader & { readonly withoutAggregations?: boolean },
): QueryRoot {
  const { role, withoutAggregations = false } = reader;
  const { filter, cells } = withoutAggregations
    ? readAccess(table, role, 'count')
    : rootAccess(table, role, 'select_aggregate', 'count');
  const distinct = request.distinct ?? null;
  if (distinct?.length === 0) fail('empty', {}, { path: ['distinct'] });
  const columns = withPath('distinct', () =>
    (distinct ?? []).map((name, i) => withPath(i, () => readableColumn(table, name, reader).name)),
  );
  const partly = columns.flatMap((name) => {
    const condition = cells.columns.get(name);
    return condition ? [[name, condition] as const] : [];
  });
  const counted = {
    kind: 'count',
    columns,
    isDistinct: distinct !== null,
    ...(partly.length > 0 ? { visibleIf: Object.fromEntries(partly) } : {}),
  } as const;
  return {
    kind: 'aggregate',
    select: {
      table: table.table,
      fields: [],
      where: filtered(filter, planWhere(table, request.where, reader)),
      orderBy: [],
      distinctOn: [],
      limit: null,
      offset: null,
    },
    output: [
      { kind: 'values', alias: 'counted', members: [{ kind: 'value', alias: 'count', value: counted }] },
    ],
  };
}

/** Operations on rows of tracked tables, as the role of the caller. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { fail } from '../../errors/engine-error.ts';
import { nearestNumber } from '../../json/number.ts';
import { nameOfJson } from '../../json/value.ts';
import { ColumnName, nullable, ObjectName, QualifiedName } from '../schema/common.ts';
import { oneOf, type TProperties, Type } from '../schema/type.ts';
import { values } from './arguments.ts';
import { type OperationDeclaration, SCHEMA, sourced } from './row.ts';

/** An operation on the rows of one tracked table. */
function rows<P extends TProperties>(summary: string, args: P, more: Partial<OperationDeclaration> = {}) {
  const common = { endpoints: SCHEMA, isPrefixed: false };
  return sourced('rows', summary, { table: QualifiedName, ...args }, { ...common, ...more });
}

const returning = Type.Optional(Type.Array(Type.Unknown()));

export const ROW_OPERATIONS = {
  select: rows(
    'Returns rows of a tracked table, with columns and related rows by name.',
    {
      columns: Type.Array(Type.Unknown()),
      where: Type.Optional(Type.Unknown()),
      order_by: Type.Optional(Type.Unknown()),
      limit: Type.Optional(Type.Unknown()),
      offset: Type.Optional(Type.Unknown()),
    },
    { check: checkWindow, isReading: true },
  ),
  count: rows(
    'Returns the number of rows of a tracked table, or of distinct values.',
    {
      where: Type.Optional(Type.Unknown()),
      // Nullable: an empty list is an error, not the same as none.
      distinct: Type.Optional(nullable(Type.Array(ColumnName))),
    },
    { isReading: true },
  ),
  insert: rows('Inserts rows into a tracked table, by column name.', {
    objects: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    returning,
    on_conflict: Type.Optional(
      nullable(
        Type.Object({
          constraint: Type.Optional(ObjectName),
          constraint_on: Type.Optional(Type.Array(ColumnName)),
          action: oneOf('ignore', 'update'),
        }),
      ),
    ),
  }),
  update: rows('Updates rows of a tracked table.', {
    where: Type.Unknown(),
    $set: values,
    $inc: values,
    $mul: values,
    $default: Type.Optional(Type.Array(ColumnName)),
    returning,
  }),
  delete: rows('Deletes rows of a tracked table.', { where: Type.Unknown(), returning }),
} as const satisfies Record<string, OperationDeclaration>;

/** Raises `parseFailed` for a limit or offset that is no integer; a negative one is refused later. */
function checkWindow(args: { readonly limit?: unknown; readonly offset?: unknown }): void {
  for (const key of ['limit', 'offset'] as const) {
    const value = nearestNumber(args[key]) ?? 0;
    if (Number.isInteger(value)) continue;
    const found = typeof value === 'number' ? `${value}` : nameOfJson(value);
    const text = `parsing Int failed, expected Number, but encountered ${found}`;
    fail('parseFailed', { text }, { path: [key] });
  }
}

/** Queries for rows that are joined to an earlier answer: the keys are bound as lists, and the fields are read for each key.
 *  Not here: choosing the keys (action.ts, remote-relationship.ts). */
import { arrayOf, baseType, builtinType, type PgType } from '../catalog/types.ts';
import { TRUE } from '../resolve/predicate.ts';
import type { Field, QueryRoot } from './query-types.ts';

/** The variable that holds the keys. No client can declare a variable of this name. */
export const KEYS_VARIABLE = '(keys)';

const ORDINAL = { column: 'ordinal', type: builtinType('int8') };

/** Returns a query for an object of the fields for each key, in their order. `position` is the index of the lists in the variable. */
export function keyedRows(
  fields: readonly Field[],
  keys: readonly { readonly column: string; readonly type: PgType }[],
  position: number,
): QueryRoot {
  const columns = keys.map(({ column, type }, i) => ({
    column,
    values: { kind: 'variable' as const, path: [KEYS_VARIABLE, position, i], type: arrayOf(baseType(type)) },
  }));
  const select = {
    table: { schema: '', name: 'keys' },
    from: { keys: columns, ordinal: ORDINAL.column },
    fields,
    where: TRUE,
    orderBy: [{ path: [], column: ORDINAL.column, direction: 'asc', nulls: 'last' }],
    distinctOn: [],
    limit: null,
    offset: null,
  } as const;
  return { kind: 'rows', select };
}

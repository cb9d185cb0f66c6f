/** Rows that are joined to what another has answered: the keys come with the request as lists, and each of them is a row the
 *  fields are read for. Not here: what the keys are (action.ts, remote-relationship.ts). */
import { arrayOf, builtinType, type PgType } from '../catalog/types.ts';
import { TRUE } from '../resolve/predicate.ts';
import type { Field, QueryRoot } from './query-types.ts';

/** The variable that keys are bound as: no client can name one so. */
export const KEYS_VARIABLE = '(keys)';

const ORDINAL = { column: 'ordinal', type: builtinType('int8') };

/** An object of the fields for each key, in their order. `place`: where the lists are in the variable. */
export function keyedRows(
  fields: readonly Field[],
  keys: readonly { readonly column: string; readonly type: PgType }[],
  place: number,
): QueryRoot {
  const columns = keys.map(({ column, type }, i) => ({
    column,
    values: { kind: 'variable' as const, path: [KEYS_VARIABLE, place, i], type: arrayOf(type) },
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

/** A computed field called with nothing from a client: the row it stands in, and the session where it wants to know.
 *  Arguments with a default are left to it; the others are null. Not here: arguments of requests (plan/function.ts). */
import type { CallArgument, FunctionCall } from './predicate.ts';
import type { ResolvedComputedField, ResolvedTable } from './types.ts';

export function callBeside(field: ResolvedComputedField, table: ResolvedTable): FunctionCall {
  return {
    function: field.function,
    arguments: field.arguments.flatMap(({ kind, name, type, hasDefault }): CallArgument[] => {
      if (kind === 'row') return [{ name, value: rowValue(table) }];
      if (kind === 'session') return [{ name, value: { kind: 'session-variables', type } }];
      return hasDefault ? [] : [{ name, value: { kind: 'constant', value: null, type } }];
    }),
  };
}

export function rowValue(table: ResolvedTable): CallArgument['value'] {
  return { kind: 'row', table: table.table, columns: [...table.columnByName.keys()] };
}

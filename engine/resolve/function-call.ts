/** Calls of SQL functions. In: a function or computed field, and values of its arguments. Out: FunctionCall. An argument without a
 *  value takes its default, or null when it has none. Not here: arguments of requests (plan/function.ts). */

import type { ResolvedArgument, ResolvedComputedField } from './model/function.ts';
import type { ResolvedTable } from './model/table.ts';
import type { CallArgument, FunctionCall, Leaf } from './predicate.ts';

export type Callable = {
  readonly function: FunctionCall['function'];
  readonly arguments: readonly ResolvedArgument[];
};

/** True when a client may give arguments. */
export function takesArguments({ arguments: declared }: Pick<Callable, 'arguments'>): boolean {
  return declared.some(({ kind }) => kind === 'user');
}

/** Returns the call of a computed field without arguments of a client. */
export function callBeside(field: ResolvedComputedField, table: ResolvedTable): FunctionCall {
  return callOf(field, table, () => undefined);
}

/** Returns the call. `row` is the table whose row a computed field takes; `given` returns the client's value of an argument. */
export function callOf(
  callable: Callable,
  row: ResolvedTable | null,
  given: (argument: ResolvedArgument) => Leaf | undefined,
): FunctionCall {
  return {
    function: callable.function,
    arguments: callable.arguments.flatMap((argument): CallArgument[] => {
      const { kind, name, type, hasDefault } = argument;
      if (kind === 'row') return row ? [{ name, value: rowValue(row) }] : [];
      if (kind === 'session') return [{ name, value: { kind: 'session-variables', type } }];
      const value = given(argument);
      if (value) return [{ name, value }];
      return hasDefault ? [] : [{ name, value: { kind: 'constant', value: null, type } }];
    }),
  };
}

function rowValue(table: ResolvedTable): CallArgument['value'] {
  return { kind: 'row', table: table.table };
}

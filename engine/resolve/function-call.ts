/** Calls of SQL functions: the row a computed field stands in, the session where it wants to know, and what is given.
 *  Arguments not given that have a default are left to it; the others are null. Not here: arguments of requests (plan/function.ts). */
import type { CallArgument, FunctionCall, Leaf } from './predicate.ts';
import type { ResolvedArgument, ResolvedComputedField, ResolvedTable } from './types.ts';

export type Callable = {
  readonly function: FunctionCall['function'];
  readonly arguments: readonly ResolvedArgument[];
};

/** Is there anything for a client to give? */
export function takesArguments({ arguments: declared }: Pick<Callable, 'arguments'>): boolean {
  return declared.some(({ kind }) => kind === 'user');
}

/** A computed field called with nothing from a client. */
export function callBeside(field: ResolvedComputedField, table: ResolvedTable): FunctionCall {
  return callOf(field, table, () => undefined);
}

/** `row` is the table whose row a computed field takes; `given` is what a client says of an argument. */
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
  return { kind: 'row', table: table.table, columns: [...table.columnByName.keys()] };
}

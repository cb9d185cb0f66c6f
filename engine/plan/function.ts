/** Calls of SQL functions: tracked ones at the root, computed fields in a row. Arguments the client left out and that have a
 *  default are left out of the call too. Reference: features.md 1.6. Not here: what comes of the rows (table.ts). */
import { withPath } from '../errors/engine-error.ts';
import { rowValue } from '../resolve/function-call.ts';
import type { CallArgument, FunctionCall } from '../resolve/predicate.ts';
import type { ResolvedArgument, ResolvedComputedField, ResolvedTable } from '../resolve/types.ts';
import type { Arguments } from './arguments.ts';
import { type Input, leafOf } from './input.ts';

type Callable = {
  readonly function: FunctionCall['function'];
  readonly arguments: readonly ResolvedArgument[];
};

/** `row` is the table whose row a computed field takes. */
export function planCall(callable: Callable, given: Arguments, row: ResolvedTable | null): FunctionCall {
  const args = given.get('args');
  const fields: Arguments = args?.kind === 'object' ? args.fields : new Map();
  return {
    function: callable.function,
    arguments: callable.arguments.flatMap((argument): CallArgument[] => {
      const { name } = argument;
      if (argument.kind === 'row') return row ? [{ name, value: rowValue(row) }] : [];
      if (argument.kind === 'session')
        return [{ name, value: { kind: 'session-variables', type: argument.type } }];
      const input = fields.get(argument.graphqlName);
      if (!input && argument.hasDefault) return [];
      const value = input ? withPath('args', () => leafOf(input, argument.type)) : null;
      return [{ name, value: value ?? { kind: 'constant', value: null, type: argument.type } }];
    }),
  };
}

/** A computed field in a condition or an order, whose arguments are beside what is asked of it. */
export function planCallBeside(
  input: Input,
  field: ResolvedComputedField,
  table: ResolvedTable,
): FunctionCall {
  return planCall(field, input.kind === 'object' ? input.fields : new Map(), table);
}

/** Calls of SQL functions: tracked functions at the root, computed fields in a row. An argument with a default that the client
 *  omits is omitted from the call as well. Not here: selecting from the rows (table.ts). Reference:
 *  docs/reference/behaviour/functions.md. */
import { withPath } from '../errors/engine-error.ts';
import { type Callable, callOf } from '../resolve/function-call.ts';
import type { FunctionCall } from '../resolve/predicate.ts';
import type { ResolvedComputedField, ResolvedTable } from '../resolve/types.ts';
import { type Arguments, type Input, leafOf } from './input.ts';

/** Plans a call. `row` is the table whose row a computed field takes. */
export function planCall(callable: Callable, given: Arguments, row: ResolvedTable | null): FunctionCall {
  const args = given.get('args');
  const fields: Arguments = args?.kind === 'object' ? args.fields : new Map();
  return callOf(callable, row, ({ graphqlName, type }) => {
    const input = fields.get(graphqlName);
    return input && withPath('args', () => leafOf(input, type));
  });
}

/** Plans the call of a computed field in a condition or an order, where `args` stands beside the operators or the direction. */
export function planCallBeside(
  input: Input,
  field: ResolvedComputedField,
  table: ResolvedTable,
): FunctionCall {
  return planCall(field, input.kind === 'object' ? input.fields : new Map(), table);
}

/** Calls of SQL functions: tracked ones at the root, computed fields in a row. Arguments the client left out and that have a
 *  default are left out of the call too. Reference: docs/reference/behaviour/functions.md. Not here: what comes of the rows (table.ts). */
import { withPath } from '../errors/engine-error.ts';
import { type Callable, callOf } from '../resolve/function-call.ts';
import type { FunctionCall } from '../resolve/predicate.ts';
import type { ResolvedComputedField, ResolvedTable } from '../resolve/types.ts';
import { type Arguments, type Input, leafOf } from './input.ts';

/** `row` is the table whose row a computed field takes. */
export function planCall(callable: Callable, given: Arguments, row: ResolvedTable | null): FunctionCall {
  const args = given.get('args');
  const fields: Arguments = args?.kind === 'object' ? args.fields : new Map();
  return callOf(callable, row, ({ graphqlName, type }) => {
    const input = fields.get(graphqlName);
    return input && withPath('args', () => leafOf(input, type));
  });
}

/** A computed field in a condition or an order, whose arguments are beside what is asked of it. */
export function planCallBeside(
  input: Input,
  field: ResolvedComputedField,
  table: ResolvedTable,
): FunctionCall {
  return planCall(field, input.kind === 'object' ? input.fields : new Map(), table);
}

/** Calls of SQL functions: tracked functions at the root, computed fields in a row. An argument with a default that the client
 *  omits is omitted from the call as well. Not here: selecting from the rows (table.ts). Reference:
 *  docs/reference/behaviour/functions.md. */
import { fail, withPath } from '../errors/engine-error.ts';
import { type Callable, callOf } from '../resolve/function-call.ts';
import type { ResolvedComputedField } from '../resolve/model/function.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { FunctionCall } from '../resolve/predicate.ts';
import { type Arguments, type Input, leafOf } from './input.ts';

/** Plans a call. `row` is the table whose row a computed field takes. */
export function planCall(callable: Callable, given: Arguments, row: ResolvedTable | null): FunctionCall {
  const args = given.get('args');
  const fields: Arguments = args?.kind === 'object' ? args.fields : new Map();
  withPath('args', () => refuseOmitted(callable, fields));
  return callOf(callable, row, ({ graphqlName, type }) => {
    const input = fields.get(graphqlName);
    return input && withPath('args', () => leafOf(input, type));
  });
}

/** Raises `notSupported` for an omitted argument without a default, and for an argument without a name after an omitted one. */
function refuseOmitted({ arguments: declared }: Callable, given: Arguments): void {
  const own = declared.filter(({ kind }) => kind === 'user');
  const omitted = own.filter(({ graphqlName }) => !given.has(graphqlName));
  if (omitted.some(({ hasDefault }) => !hasDefault)) {
    fail('notSupported', { text: 'Non default arguments cannot be omitted' });
  }
  const after = own.slice(omitted[0] ? own.indexOf(omitted[0]) : own.length);
  if (after.some(({ name, graphqlName }) => name === null && given.has(graphqlName))) {
    fail('notSupported', { text: 'Only last set of positional arguments can be omitted' });
  }
}

/** Plans the call of a computed field in a condition or an order, where `args` stands beside the operators or the direction. */
export function planCallBeside(
  input: Input,
  field: ResolvedComputedField,
  table: ResolvedTable,
): FunctionCall {
  return planCall(field, input.kind === 'object' ? input.fields : new Map(), table);
}

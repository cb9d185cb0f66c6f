/** The arguments of a native query, between the parts of its code. Every argument is a parameter; a nullable argument the
 *  client omits is null. Not here: selecting from the rows (table.ts). Reference: docs/reference/behaviour/functions.md. */

import type { NativeArgument } from '../resolve/model/native-query.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { Leaf, NativeCall } from '../resolve/predicate.ts';
import { type Arguments, leafOf } from './input.ts';

/** Returns the call of a native query; empty for a table. */
export function planNativeRows(table: ResolvedTable, given: Arguments): { readonly from?: NativeCall } {
  const { native, columns } = table;
  if (!native) return {};
  const args = given.get('args');
  const fields: Arguments = args?.kind === 'object' ? args.fields : new Map();
  const leafFor = ({ name, type }: NativeArgument): Leaf => {
    const input = fields.get(name);
    return input ? leafOf(input, type) : { kind: 'constant', value: null, type };
  };
  const values = new Map(native.arguments.map((argument) => [argument.name, leafFor(argument)]));
  const code = native.code.map((part) => (typeof part === 'string' ? part : values.get(part.argument)!));
  return { from: { code, columns: columns.map(({ name, type }) => ({ column: name, type })) } };
}

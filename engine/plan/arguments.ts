/** The arguments of a field → Inputs by name, typed, with all required ones present. Unknown arguments were refused by
 *  validation.ts. Raises `missingValue` and the errors of input.ts, under `args`. */
import { type FieldNode, type GraphQLField, isNonNullType } from 'graphql';
import { fail, withPath } from '../errors/engine-error.ts';
import { isCount } from '../schema/origin.ts';
import type { PlanContext } from './context.ts';
import { readCount } from './count.ts';
import { type Arguments, type Input, readInput } from './input.ts';

export function readArguments(
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
  context: PlanContext,
): Arguments {
  return withPath('args', () => {
    const given = new Map<string, Input>();
    for (const argument of nodes[0]?.arguments ?? []) {
      const name = argument.name.value;
      const known = field.args.find((each) => each.name === name)!;
      const input = withPath(name, () =>
        isCount(known)
          ? readCount(argument.value, name === 'offset', context)
          : readInput(argument.value, known.type, context, known.default !== undefined),
      );
      if (input) given.set(name, input);
    }
    for (const { name, type, default: standard } of field.args) {
      if (isNonNullType(type) && standard === undefined && !given.has(name)) fail('missingValue', { name });
    }
    return given;
  });
}

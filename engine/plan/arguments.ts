/** A field's arguments as Inputs by name: known, typed, required ones there.
 *  Raises `noSuchArgument`, `missingValue` and what input.ts raises, under `args`. */
import { type FieldNode, type GraphQLField, isNonNullType } from 'graphql';
import { fail, withPath } from '../errors/engine-error.ts';
import type { PlanContext } from './context.ts';
import { type Input, readInput } from './input.ts';

export type Arguments = ReadonlyMap<string, Input>;

export function readArguments(
  field: GraphQLField<unknown, unknown>,
  [node]: readonly FieldNode[],
  context: PlanContext,
): Arguments {
  const given = new Map<string, Input>();
  for (const argument of node?.arguments ?? []) {
    const name = argument.name.value;
    const known =
      field.args.find((each) => each.name === name) ??
      fail('noSuchArgument', { field: field.name, argument: name });
    withPath('args', () =>
      withPath(name, () => {
        const input = readInput(argument.value, known.type, context, known.default !== undefined);
        if (input) given.set(name, input);
      }),
    );
  }
  for (const argument of field.args) {
    if (isNonNullType(argument.type) && argument.default === undefined && !given.has(argument.name)) {
      withPath('args', () => fail('missingValue', { name: argument.name }));
    }
  }
  return given;
}

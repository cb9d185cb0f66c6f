/** The arguments of a field → Inputs by name, typed, with all required ones present. Unknown arguments were refused by
 *  validation.ts. Raises `missingValue` and the errors of input.ts, under `args`. */
import { isNonNullType } from 'graphql';
import { fail, withPath } from '../errors/engine-error.ts';
import { refusesNull } from '../schema/origin.ts';
import type { PlanContext, SelectedNodes } from './context.ts';
import { argumentType } from './count.ts';
import { type Arguments, type Input, readInput } from './input.ts';
import { failOnNull } from './scalar-value.ts';

export function readArguments(at: SelectedNodes, context: PlanContext): Arguments {
  return withPath('args', () => {
    const given = new Map<string, Input>();
    for (const argument of at.nodes[0]?.arguments ?? []) {
      const name = argument.name.value;
      const known = at.field.args.find((each) => each.name === name)!;
      const input = withPath(name, () =>
        readInput(argument.value, argumentType(known), context, known.default !== undefined),
      );
      if (input?.kind === 'null' && refusesNull(known, null)) withPath(name, () => failOnNull(known.type));
      if (input) given.set(name, input);
    }
    for (const { name, type, default: standard } of at.field.args) {
      if (isNonNullType(type) && standard === undefined && !given.has(name)) {
        fail('missingValue', { name }, { path: [name] });
      }
    }
    return given;
  });
}

/** `limit` and `offset`: non-negative integers. They are part of the plan because they are printed into the statement
 *  (Select.limit in query-types.ts). An offset beyond 32 bits may be written as text. Reference:
 *  docs/reference/behaviour/queries.md. */
import { type GraphQLArgument, type GraphQLInputType, GraphQLNonNull, isNonNullType } from 'graphql';
import { wholeText } from '../json/number.ts';
import { isCount } from '../schema/origin.ts';
import type { PlanContext } from './context.ts';
import { type Arguments, type Input, valueByValue } from './input.ts';
import { COUNT, OFFSET } from './scalar-value.ts';

const MOST_LIMIT = 2 ** 31 - 1;

/** Returns the type that the values of an argument are checked against: its own, or that of a count. */
export function argumentType(argument: GraphQLArgument): GraphQLInputType {
  if (!isCount(argument)) return argument.type;
  const type = argument.name === 'offset' ? OFFSET : COUNT;
  return isNonNullType(argument.type) ? new GraphQLNonNull(type) : type;
}

/** Returns the digits of a count; null when the argument is absent. */
export function countOf(input: Input | undefined, context: PlanContext): string | null {
  if (input?.kind !== 'leaf') return null;
  const value = valueByValue(input, context);
  return wholeText(value) ?? String(value);
}

/** Returns the smaller of the requested limit and the role's limit. */
export function limitOf(given: Arguments, most: number | null, context: PlanContext): number | null {
  const requested = countOf(given.get('limit'), context);
  return requested === null ? most : Math.min(Number(requested), most ?? MOST_LIMIT);
}

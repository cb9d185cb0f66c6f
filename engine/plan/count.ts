/** `limit` and `offset`: non-negative integers. They are part of the plan because they are printed into the statement
 *  (Select.limit in query-types.ts). An offset beyond 32 bits may be written as text. Reference:
 *  docs/reference/behaviour/queries.md. */
import { GraphQLInt, Kind, type ValueNode } from 'graphql';
import { fail } from '../errors/engine-error.ts';
import { nearestNumber } from '../json/number.ts';
import type { PlanContext } from './context.ts';
import { type Arguments, type Input, kindOfLiteral, readInput, valueByValue } from './input.ts';

const MOST_LIMIT = 2 ** 31 - 1;
const MOST_OFFSET = 2n ** 63n - 1n;

/** Reads a `limit` or `offset`. Raises `expectedButFound` for a literal that is not a count. */
export function readCount(node: ValueNode, takesText: boolean, context: PlanContext): Input | undefined {
  if (node.kind === Kind.VARIABLE || node.kind === Kind.NULL) return readInput(node, GraphQLInt, context);
  const isText = takesText && node.kind === Kind.STRING && /^\d{1,19}$/.test(node.value);
  if (isText && BigInt(node.value) <= MOST_OFFSET) return literal(node.value);
  if (node.kind !== Kind.INT) return refuse(kindOfLiteral(node));
  const value = Number(node.value);
  return value >= 0 && value <= MOST_LIMIT ? literal(value) : refuse('an integer');
}

/** Returns the digits of a count; null when the argument is absent. */
export function countOf(input: Input | undefined, context: PlanContext): string | null {
  if (input?.kind !== 'leaf') return null;
  const value = nearestNumber(valueByValue(input, context));
  return typeof value === 'number' && value < 0 ? refuse('an integer') : String(value);
}

/** Returns the smaller of the requested limit and the role's limit. */
export function limitOf(given: Arguments, most: number | null, context: PlanContext): number | null {
  const requested = countOf(given.get('limit'), context);
  return requested === null ? most : Math.min(Number(requested), most ?? MOST_LIMIT);
}

function literal(value: unknown): Input {
  return { kind: 'leaf', type: GraphQLInt.name, from: { kind: 'literal', value } };
}

function refuse(found: string): never {
  return fail('expectedButFound', { expected: 'a non-negative 32-bit integer', type: 'Int', found });
}

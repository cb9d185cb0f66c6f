/** `limit` and `offset`: non-negative integers, planned by value because they are printed into the statement (plan/types.ts,
 *  Select.limit). An offset may be written as text, for those beyond 32 bits. Reference: docs/reference/behaviour/queries.md. */
import { GraphQLInt, Kind, type ValueNode } from 'graphql';
import { fail } from '../errors/engine-error.ts';
import { nearestNumber } from '../json/number.ts';
import type { PlanContext } from './context.ts';
import { type Arguments, foundIn, type Input, readInput, valueByValue } from './input.ts';

const MOST_LIMIT = 2 ** 31 - 1;
const MOST_OFFSET = 2n ** 63n - 1n;

/** Raises `expectedButFound` for a literal that is no count. */
export function readCount(node: ValueNode, takesText: boolean, context: PlanContext): Input | undefined {
  if (node.kind === Kind.VARIABLE || node.kind === Kind.NULL) return readInput(node, GraphQLInt, context);
  const isText = takesText && node.kind === Kind.STRING && /^\d{1,19}$/.test(node.value);
  if (isText && BigInt(node.value) <= MOST_OFFSET) return literal(node.value);
  if (node.kind !== Kind.INT) return refuse(foundIn(node));
  const value = Number(node.value);
  return value >= 0 && value <= MOST_LIMIT ? literal(value) : refuse('an integer');
}

/** The digits; null when it was not given. */
export function countOf(input: Input | undefined, context: PlanContext): string | null {
  if (input?.kind !== 'leaf') return null;
  const value = nearestNumber(valueByValue(input, context));
  return typeof value === 'number' && value < 0 ? refuse('an integer') : String(value);
}

/** The smaller of what was asked for and what the role may have. */
export function limitOf(given: Arguments, most: number | null, context: PlanContext): number | null {
  const asked = countOf(given.get('limit'), context);
  return asked === null ? most : Math.min(Number(asked), most ?? MOST_LIMIT);
}

function literal(value: unknown): Input {
  return { kind: 'leaf', type: GraphQLInt.name, from: { kind: 'literal', value } };
}

function refuse(found: string): never {
  return fail('expectedButFound', { expected: 'a non-negative 32-bit integer', type: 'Int', found });
}

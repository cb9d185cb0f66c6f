/** Values in permissions: a JSON value → Leaf, a constant as Postgres reads it or a session variable. In: the value, and the type it
 *  is compared with or stored as. Out: a Leaf, which SQL casts to the type.
 *  Not here: operators (bool-exp.ts), values of requests (plan/input.ts). Spec: "Permission arguments". */

import { columnValueProblem } from '../catalog/column-value.ts';
import { scalarOf } from '../catalog/scalars.ts';
import { arrayDelimiter, arrayOf, baseType, type PgType } from '../catalog/types.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { numberText, wholeText } from '../json/number.ts';
import { nameOfJson } from '../json/value.ts';
import { isLiteral, LITERAL_KEY } from '../metadata/bool-exp.ts';
import type { Leaf, LeafValue } from './predicate.ts';
import { refuseMistakes, SESSION_PREFIX, sessionVariableOf } from './session.ts';

/** Returns the leaf of a value. `prefix` is the prefix of texts that name session variables; null for a value of a request, whose
 *  texts never do. Raises `parseFailed` for a value that the type does not have, `unknownVariable` for text that resembles a session
 *  variable. */
export function leafOf(value: unknown, type: PgType, prefix: string | null = SESSION_PREFIX): Leaf {
  if (prefix !== null && isLiteral(value)) return leafOf(value[LITERAL_KEY], type, null);
  const variable = variableIn(value, prefix);
  if (variable !== undefined) return { kind: 'session', variable, type };
  const stored = baseType(type);
  if (stored.element && Array.isArray(value) && !value.some(Array.isArray)) {
    return listOf(value, stored.element, type, prefix);
  }
  if (prefix !== null) refuseMistakes(value, prefix, isFormatted(stored));
  return { kind: 'constant', value: textOf(value, stored), type };
}

/** The types besides numbers and booleans whose values have a format of their own. PostgreSQL manual, "Data Types". */
const FORMATTED: readonly string[] = [
  ...['uuid', 'date', 'time', 'timetz', 'timestamp', 'timestamptz', 'interval'],
  ...['money', 'oid', 'inet', 'cidr', 'macaddr', 'macaddr8'],
];

/** True for a type whose values never begin with a letter and a hyphen. */
function isFormatted(type: PgType): boolean {
  const { family, name } = scalarOf(type);
  return family === 'number' || family === 'boolean' || FORMATTED.includes(name);
}

/** Returns the leaf of the operand of `_in` and similar operators: a list, or a session variable with an array literal. */
export function listLeafOf(value: unknown, element: PgType, prefix: string | null = SESSION_PREFIX): Leaf {
  const type = arrayOf(element);
  if (prefix !== null && isLiteral(value)) return listLeafOf(value[LITERAL_KEY], element, null);
  if (variableIn(value, prefix) !== undefined) return leafOf(value, type, prefix);
  if (!Array.isArray(value)) {
    if (prefix !== null) refuseMistakes(value, prefix);
    const text = `parsing [] failed, expected Array, but encountered ${nameOfJson(value)}`;
    return fail('parseFailed', { text });
  }
  return listOf(value, element, type, prefix);
}

function variableIn(value: unknown, prefix: string | null): string | undefined {
  return prefix !== null && typeof value === 'string' ? sessionVariableOf(value, prefix) : undefined;
}

/** Returns one constant when all items are constants, else a list of leaves. */
function listOf(items: readonly unknown[], element: PgType, type: PgType, prefix: string | null): Leaf {
  const leaves = items.map((item, i) => withPath(i, () => leafOf(item, element, prefix)));
  const texts = leaves.map((leaf) => (leaf.kind === 'constant' ? leaf.value : undefined));
  const isConstant = texts.every((text) => text === null || typeof text === 'string');
  return isConstant ? { kind: 'constant', value: texts, type } : { kind: 'list', items: leaves, type };
}

function textOf(value: unknown, type: PgType): LeafValue {
  if (value === null) return null;
  const scalar = scalarOf(type);
  const problem = columnValueProblem(value, scalar);
  if (problem) return fail('parseFailed', { text: problem });
  if (scalar.family === 'json' || scalar.family === 'jsonb') return JSON.stringify(value);
  if (typeof value === 'string') return value;
  if (type.element) return arrayLiteral(value as readonly unknown[], type.element);
  const isWhole = scalar.input === 'int' || scalar.input === 'big-int';
  const text = (isWhole ? wholeText(value) : undefined) ?? numberText(value);
  return text ?? (typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** Returns an array literal, `{{"1","2"},{"3",NULL}}`. PostgreSQL manual, "Array Input and Output Syntax". */
function arrayLiteral(items: readonly unknown[], element: PgType): string {
  const parts = items.map((item) => {
    if (Array.isArray(item)) return arrayLiteral(item, element);
    const text = textOf(item, baseType(element));
    return text === null ? 'NULL' : `"${String(text).replaceAll(/["\\]/g, '\\$&')}"`;
  });
  return `{${parts.join(arrayDelimiter(element))}}`;
}

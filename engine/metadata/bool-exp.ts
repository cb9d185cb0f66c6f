/** The one parser of boolean expressions: JSON → a tree of connectives and fields. Pure, total on any JSON.
 *  Only its table says whether a field is a value or leads to other rows, so a field has its value unread: `comparisonsOf` reads the operators of a
 *  value, `partBehind` the expression about other rows.
 *  Not here: the condition that is executed (resolve/bool-exp.ts), why it hides a row (resolve/clause.ts), comparing filters (access/filter.ts),
 *  names (bool-exp-names.ts). Spec: BoolExp; grammar: docs/reference/behaviour/operators.md. */
import type { PathStep } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import type { QualifiedName } from './schema/common.ts';

/** A part of an expression. An object with one entry is that entry. */
export type BoolExpPart = {
  /** The path to this part from the part around it. */
  readonly steps: readonly PathStep[];
  /** This part as it is written: `{"owner_id": {"_eq": "X-Engine-User-Id"}}`. */
  readonly written: unknown;
} & (
  | { readonly kind: 'all' | 'any'; readonly parts: readonly BoolExpPart[] }
  | { readonly kind: 'not'; readonly part: BoolExpPart }
  /** A row of another table satisfies `where`. */
  | { readonly kind: 'exists'; readonly table: unknown; readonly where: BoolExpPart }
  /** A column, a relationship or a computed field. `level` is the number of objects around its value. */
  | { readonly kind: 'field'; readonly name: string; readonly value: unknown; readonly level: number }
  /** A value that is no object, although an expression is one. */
  | { readonly kind: 'no-object'; readonly value: unknown }
  | { readonly kind: 'too-deep' }
);
export type FieldPart = Extract<BoolExpPart, { readonly kind: 'field' }>;

/** The nesting limit of expressions, because every later stage walks them recursively. */
const MOST_LEVELS = 100;

/** Returns the tree of an expression with `level` objects around it. */
export function parseBoolExp(value: unknown, level = 0, steps: readonly PathStep[] = []): BoolExpPart {
  if (level > MOST_LEVELS) return { kind: 'too-deep', steps, written: value };
  if (!isRecord(value)) return { kind: 'no-object', steps, written: value, value };
  const entries = Object.entries(value);
  if (entries.length === 1) return parseEntry(entries[0]!, level + 1, steps);
  const parts = entries.map((entry) => parseEntry(entry, level + 1, []));
  return { kind: 'all', steps, written: value, parts };
}

/** Returns the expression about the rows that a field leads to. */
export function partBehind({ value, level }: FieldPart): BoolExpPart {
  return parseBoolExp(value, level);
}

function parseEntry(
  [key, value]: readonly [string, unknown],
  level: number,
  outer: readonly PathStep[],
): BoolExpPart {
  const at = { steps: [...outer, key], written: { [key]: value } };
  switch (CONNECTIVES.get(key)) {
    case 'and':
      return { ...at, kind: 'all', parts: parseList(value, level) };
    case 'or':
      return { ...at, kind: 'any', parts: parseList(value, level) };
    case 'not':
      return { ...at, kind: 'not', part: parseBoolExp(value, level) };
    case 'exists': {
      if (!isRecord(value)) return { ...at, kind: 'no-object', value };
      const where = parseBoolExp(value['_where'], level, ['_where']);
      return { ...at, kind: 'exists', table: value['_table'], where };
    }
    default:
      return { ...at, kind: 'field', name: key, value, level };
  }
}

/** Parses a list of expressions. A single object is a list of one. */
function parseList(value: unknown, level: number): readonly BoolExpPart[] {
  if (!Array.isArray(value)) return [parseBoolExp(value, level)];
  return value.map((item, i) => parseBoolExp(item, level, [i]));
}

/** Returns a map from both spellings of an operator, `_name` and `$name`. */
function spelled<T>(operators: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(
    ['_', '$'].flatMap((sign) => Object.entries(operators).map(([name, to]) => [sign + name, to])),
  );
}

/** The keys that combine expressions. Any other key is the name of a field. */
export const CONNECTIVES = spelled({ and: 'and', or: 'or', not: 'not', exists: 'exists' } as const);

/** The operators that compare two columns, without their `_` or `$`, and the comparisons that they make. */
export const COLUMN_OPERATORS = {
  ceq: '_eq',
  cne: '_neq',
  cneq: '_neq',
  cgt: '_gt',
  cgte: '_gte',
  clt: '_lt',
  clte: '_lte',
} as const;
type ColumnOperator = (typeof COLUMN_OPERATORS)[keyof typeof COLUMN_OPERATORS];
const COMPARISONS = spelled<ColumnOperator>(COLUMN_OPERATORS);

/** The key of an object whose value is a literal: `{"$literal": "X-Engine-User-Id"}` is the text, and no session variable. */
export const LITERAL_KEY = '$literal';
export type Literal = { readonly [LITERAL_KEY]: unknown };

export function isLiteral(value: unknown): value is Literal {
  return isRecord(value) && Object.keys(value).length === 1 && Object.hasOwn(value, LITERAL_KEY);
}

/** A comparison of a value: that it is the operand (`equal`), with the operator `key`, or with another column. */
export type WrittenComparison = {
  /** The path from the value of the field to the operand. */
  readonly steps: readonly PathStep[];
  readonly operand: unknown;
} & (
  | { readonly kind: 'equal' }
  | { readonly kind: 'operator'; readonly key: string }
  | { readonly kind: 'column'; readonly key: string; readonly operator: ColumnOperator }
);

/** Returns the comparisons of a field's value: `{operator: operand, …}`, a list of such objects, or a bare value. In the condition of a
 *  request `{"$literal": …}` is no bare value. */
export function comparisonsOf(value: unknown, hasLiterals = true): readonly WrittenComparison[] {
  const isList = Array.isArray(value) && value.length > 0 && value.every(isRecord);
  if (isList) return value.flatMap((item, i) => operatorsIn(item, [i]));
  if (isRecord(value) && !(hasLiterals && isLiteral(value))) return operatorsIn(value, []);
  return [{ kind: 'equal', steps: [], operand: value }];
}

function operatorsIn(value: object, outer: readonly PathStep[]): readonly WrittenComparison[] {
  return Object.entries(value).map(([key, operand]) => {
    const at = { steps: [...outer, key], key, operand };
    const operator = COMPARISONS.get(key);
    return operator ? { ...at, kind: 'column', operator } : { ...at, kind: 'operator' };
  });
}

/** Returns the column that an operand names: `column` or `[column]` in the same row, `["$", column]` in the row of the permission. */
export function operandColumn(
  operand: unknown,
): { readonly name: string; readonly isRoot: boolean } | undefined {
  const list = Array.isArray(operand) ? operand : [operand];
  const isRoot = Array.isArray(operand) && list.length === 2 && list[0] === '$';
  const name: unknown = list.at(-1);
  return typeof name === 'string' && (isRoot || list.length === 1) ? { name, isRoot } : undefined;
}

/** Returns a table as an expression names it. Expressions are kept as written, so it may be a bare name. */
export function qualifiedOf(value: unknown): QualifiedName | undefined {
  if (typeof value === 'string') return { schema: 'public', name: value };
  if (!isRecord(value) || typeof value['name'] !== 'string') return undefined;
  const { name, schema } = value;
  return { schema: typeof schema === 'string' ? schema : 'public', name };
}

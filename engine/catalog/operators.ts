/** OPERATORS: every comparison a `where` argument or a permission can make, one row each. Input types, planning, the
 *  "works only on" error and the docs are derived; sql/operators.ts holds one SQL template per row and does not compile
 *  while one is missing. Row order is docs and schema order. Spec: BoolExp; features.md 1.3. */
import type { ScalarFamily } from './scalars.ts';

export type OperatorRow = {
  /** Scalar families it applies to; 'any' is all. */
  readonly families: readonly ScalarFamily[] | 'any';
  /** Type of the right side: the column's own, an array of it, text, an array of text, or a boolean. */
  readonly operand: 'same' | 'list' | 'text' | 'text-list' | 'boolean';
  /** Other spellings accepted in permission rules, without their `_` or `$`. */
  readonly aliases?: readonly string[];
  readonly description: string;
};

const TEXT: readonly ScalarFamily[] = ['text'];
const JSONB: readonly ScalarFamily[] = ['jsonb'];

export const OPERATORS = {
  _eq: { families: 'any', operand: 'same', description: 'equal to' },
  _neq: { families: 'any', operand: 'same', aliases: ['ne'], description: 'not equal to' },
  _gt: { families: 'any', operand: 'same', description: 'greater than' },
  _gte: { families: 'any', operand: 'same', description: 'greater than or equal to' },
  _lt: { families: 'any', operand: 'same', description: 'less than' },
  _lte: { families: 'any', operand: 'same', description: 'less than or equal to' },
  _in: { families: 'any', operand: 'list', description: 'one of' },
  _nin: { families: 'any', operand: 'list', description: 'none of' },
  _is_null: { families: 'any', operand: 'boolean', description: 'is null, or is not' },
  _like: { families: TEXT, operand: 'text', description: 'matches the LIKE pattern' },
  _nlike: { families: TEXT, operand: 'text', description: 'does not match the LIKE pattern' },
  _ilike: { families: TEXT, operand: 'text', description: 'matches the LIKE pattern, in any case' },
  _nilike: { families: TEXT, operand: 'text', description: 'does not match the LIKE pattern, in any case' },
  _similar: { families: TEXT, operand: 'text', description: 'matches the SIMILAR TO pattern' },
  _nsimilar: { families: TEXT, operand: 'text', description: 'does not match the SIMILAR TO pattern' },
  _regex: { families: TEXT, operand: 'text', description: 'matches the regular expression' },
  _nregex: { families: TEXT, operand: 'text', description: 'does not match the regular expression' },
  _iregex: { families: TEXT, operand: 'text', description: 'matches the regular expression, in any case' },
  _niregex: {
    families: TEXT,
    operand: 'text',
    description: 'does not match the regular expression, in any case',
  },
  _contains: { families: JSONB, operand: 'same', description: 'contains the JSON value' },
  _contained_in: { families: JSONB, operand: 'same', description: 'is contained in the JSON value' },
  _has_key: { families: JSONB, operand: 'text', description: 'has the key at its top level' },
  _has_keys_any: { families: JSONB, operand: 'text-list', description: 'has one of the keys' },
  _has_keys_all: { families: JSONB, operand: 'text-list', description: 'has all of the keys' },
} as const satisfies Record<string, OperatorRow>;

export type OperatorName = keyof typeof OPERATORS;

/** Operators a column of this family offers, in row order. */
export function operatorsOf(family: ScalarFamily): readonly OperatorName[] {
  return (Object.keys(OPERATORS) as OperatorName[]).filter((name) => {
    const { families } = OPERATORS[name] as OperatorRow;
    return families === 'any' || families.includes(family);
  });
}

const BY_RULE_NAME: ReadonlyMap<string, OperatorName> = new Map(
  (Object.keys(OPERATORS) as OperatorName[]).flatMap((name) => {
    const row: OperatorRow = OPERATORS[name];
    return [name.slice(1), ...(row.aliases ?? [])].map((spelling) => [spelling, name] as const);
  }),
);

/** The operator a permission rule means: `_eq`, `$eq`, or an alias such as `$ne`. */
export function operatorOfRule(key: string): OperatorName | undefined {
  return /^[_$]/.test(key) ? BY_RULE_NAME.get(key.slice(1)) : undefined;
}

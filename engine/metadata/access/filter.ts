/** Row filters of permissions as terms that can be compared and printed without a database: JSON → FilterTerm.
 *  Parts whose meaning depends on more than their text (`_not`, `_cast`, null, unknown forms) are opaque: two of them are equal if their
 *  texts are. Not here: comparing (compare-filters.ts), words (filter-words.ts), the condition that is executed (resolve/bool-exp.ts).
 *  Spec: BoolExp; grammar: docs/reference/behaviour/operators.md. */
import { isRecord } from '../../json/value.ts';
import {
  type BoolExpPart,
  CONNECTIVES,
  comparisonsOf,
  type FieldPart,
  isLiteral,
  parseBoolExp,
  partBehind,
} from '../bool-exp.ts';

export type FilterTerm =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly FilterTerm[] }
  /** A comparison of a column or scalar computed field, with the operator's name as in `_eq`. */
  | { readonly kind: 'compare'; readonly column: string; readonly operator: string; readonly value: unknown }
  /** Some row that `name` leads to satisfies `where`: a relationship, or a computed field that returns rows. */
  | { readonly kind: 'related'; readonly name: string; readonly where: FilterTerm }
  /** Some row of another table satisfies `where`. */
  | { readonly kind: 'exists'; readonly table: string; readonly where: FilterTerm }
  | { readonly kind: 'not'; readonly of: FilterTerm }
  | { readonly kind: 'opaque'; readonly name: string; readonly value: unknown };

/** No condition, `{}`: every row. */
const EVERY_ROW: FilterTerm = { kind: 'and', parts: [] };

/** Operators that are never true of a null column. `_nin` is one when its list has a value: every value is none of an empty list. */
export const STRICT: ReadonlySet<string> = new Set([
  ...['_eq', '_neq', '_gt', '_gte', '_lt', '_lte', '_in'],
  ...[
    '_like',
    '_nlike',
    '_ilike',
    '_nilike',
    '_similar',
    '_nsimilar',
    '_regex',
    '_nregex',
    '_iregex',
    '_niregex',
  ],
  ...['_contains', '_contained_in', '_has_key', '_has_keys_any', '_has_keys_all'],
]);
/** Names that are operators rather than columns of related rows. */
const OPERATORS: ReadonlySet<string> = new Set([...STRICT, '_nin', '_is_null']);

/** Returns the term of a filter or check. Absent and null are no condition. Terms are for any JSON: what is no filter is opaque. */
export function filterTerm(filter: unknown): FilterTerm {
  return termOf(parseBoolExp(filter));
}

function termOf(part: BoolExpPart): FilterTerm {
  switch (part.kind) {
    case 'all':
      return and(part.parts.map(termOf));
    case 'any':
      return combined('or', part.parts.map(termOf));
    case 'not':
      return { kind: 'not', of: termOf(part.part) };
    case 'exists':
      return { kind: 'exists', table: tableText(part.table), where: termOf(part.where) };
    case 'field':
      return fieldTerm(part);
    default:
      return (part.written ?? null) === null ? EVERY_ROW : { kind: 'opaque', name: '', value: part.written };
  }
}

/** Returns a text that is equal for terms that are equal apart from the order of parts. */
export function textOfTerm(term: FilterTerm): string {
  switch (term.kind) {
    case 'and':
    case 'or':
      return `${term.kind}(${[...new Set(term.parts.map(textOfTerm))].sort().join(',')})`;
    case 'not':
      return `not(${textOfTerm(term.of)})`;
    case 'related':
      return `related(${JSON.stringify(term.name)},${textOfTerm(term.where)})`;
    case 'exists':
      return `exists(${term.table},${textOfTerm(term.where)})`;
    case 'compare':
      return `${JSON.stringify(term.column)}${term.operator}${valueText(term.value)}`;
    case 'opaque':
      return `opaque(${JSON.stringify(term.name)},${stable(term.value)})`;
  }
}

/** Returns the conjunction. Nested conjunctions are flattened; one part is itself. */
export function and(parts: readonly FilterTerm[]): FilterTerm {
  return combined('and', parts);
}

function combined(kind: 'and' | 'or', parts: readonly FilterTerm[]): FilterTerm {
  const flat = parts.flatMap((part) => (part.kind === kind ? part.parts : [part]));
  return flat.length === 1 ? flat[0]! : { kind, parts: flat };
}

/** Operators compare a column; anything else is a condition on related rows. A key such as `_rank` may be an operator or a column of
 *  related rows. Several operators are several conditions, but conditions on one related row are not: such a value is opaque. */
function fieldTerm(part: FieldPart): FilterTerm {
  const { name, value } = part;
  if (isRecord(value) && !isLiteral(value)) {
    const keys = Object.keys(value).map(operatorName);
    const mayBeColumn = keys.some((key) => key.startsWith('_') && !CONNECTIVES.has(key));
    if (!mayBeColumn) return { kind: 'related', name, where: termOf(partBehind(part)) };
    if (keys.length > 1 && !keys.every((key) => OPERATORS.has(key))) return { kind: 'opaque', name, value };
  }
  return and(
    comparisonsOf(value).map((one) =>
      comparison(name, one.kind === 'equal' ? '_eq' : operatorName(one.key), one.operand),
    ),
  );
}

function comparison(column: string, operator: string, value: unknown): FilterTerm {
  const isPlain = operator !== '_cast' && value !== null && !(Array.isArray(value) && value.includes(null));
  return isPlain
    ? { kind: 'compare', column, operator, value }
    : { kind: 'opaque', name: column, value: { [operator]: value } };
}

function tableText(table: unknown): string {
  const name = typeof table === 'string' ? { name: table } : table;
  if (!isRecord(name)) return stable(name);
  return `${nameText(name['schema'] ?? 'public')}.${nameText(name['name'])}`;
}

/** Returns a name, quoted when it could be taken for two. */
function nameText(name: unknown): string {
  return typeof name === 'string' && !/[."]/.test(name) ? name : stable(name);
}

/** Returns the name of an operator in its `_` form, of `$eq` or `_eq`. */
function operatorName(key: string): string {
  return key.startsWith('$') ? `_${key.slice(1)}` : key;
}

/** A text that names a session variable, which counts in any case (resolve/session.ts). */
const SESSION_VARIABLE = /^x-engine-./i;

/** Returns a text that is equal for equal values of comparisons. */
export function valueText(value: unknown): string {
  return typeof value === 'string' && SESSION_VARIABLE.test(value)
    ? JSON.stringify(value.toLowerCase())
    : stable(value);
}

/** Returns JSON whose keys are sorted. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    isRecord(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}

/** Returns the filter that admits what one of the filters does. Alternatives inside them are listed once, so that it stays small, however many
 *  roles inherit from each other. */
export function alternatives(filters: readonly unknown[]): unknown {
  const all = filters.flatMap(alternativesIn);
  const distinct = [...new Map(all.map((filter) => [textOfTerm(filterTerm(filter)), filter])).values()];
  const admitsAll = (filter: unknown) => isRecord(filter) && Object.keys(filter).length === 0;
  if (distinct.some(admitsAll)) return {};
  return distinct.length === 1 ? distinct[0] : { _or: distinct };
}

function alternativesIn(filter: unknown): readonly unknown[] {
  const { _or: alternatives, ...rest } = isRecord(filter) ? filter : {};
  const isUnion = Array.isArray(alternatives) && Object.keys(rest).length === 0;
  return isUnion ? alternatives.flatMap(alternativesIn) : [filter ?? {}];
}

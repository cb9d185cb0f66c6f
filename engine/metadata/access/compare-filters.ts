/** Compares two row filters without a database: does every row that one admits pass the other? The answer is sound: `same`, `narrower` and
 *  `wider` hold for all rows and sessions. It is not complete: filters that cannot be decided are `other`, and so are those of which
 *  neither contains the other.
 *  A filter admits a row only when it is true, so null counts as false; that is why `_not` is compared by its text. Pure. */
import { and, type FilterTerm, filterTerm, STRICT, textOfTerm, valueText } from './filter.ts';

/** The relation of what a role reaches after a change to what it reached before. */
export type AccessVerdict = 'same' | 'narrower' | 'wider' | 'other';

/** One part of a change of access. */
export type AccessPart = {
  /** The field of the permission: `columns`, `filter`. */
  readonly name: string;
  readonly verdict: AccessVerdict;
  /** The value in words. Null when the permission did not exist, and when the value is the same but stands for something else. */
  readonly before: string | null;
  /** The value in words; null when the permission is gone. What is different, when the value is the same. */
  readonly after: string | null;
};

/** Returns how the rows that `after` admits relate to those of `before`. */
export function compareFilters(before: unknown, after: unknown): AccessVerdict {
  const [old, next] = [filterTerm(before), filterTerm(after)];
  const isNarrower = implies(next, old);
  const isWider = implies(old, next);
  if (isNarrower && isWider) return 'same';
  if (isNarrower) return 'narrower';
  return isWider ? 'wider' : 'other';
}

/** Bounds the comparisons of parts: cases of `_or` inside `_and` multiply. Beyond it nothing is decided. */
const MOST_CASES = 4096;

/** True when every row that satisfies `a` certainly satisfies `b`. */
function implies(a: FilterTerm, b: FilterTerm): boolean {
  return isImplied(a, b, { cases: MOST_CASES });
}

function isImplied(a: FilterTerm, b: FilterTerm, budget: { cases: number }): boolean {
  if (--budget.cases < 0) return false;
  if (hasPart(a, b)) return true;
  if (b.kind === 'and') return b.parts.every((part) => isImplied(a, part, budget));
  if (a.kind === 'or') return a.parts.every((part) => isImplied(part, b, budget));
  if (b.kind === 'or' && b.parts.some((part) => isImplied(a, part, budget))) return true;
  if (a.kind === 'and') return conjunctionImplies(a.parts, b, budget);
  return isAtomImplied(a, b, budget);
}

/** True when `a` is `b`, or a conjunction with `b` among its parts. */
function hasPart(a: FilterTerm, b: FilterTerm): boolean {
  const text = textOfTerm(b);
  return textOfTerm(a) === text || (a.kind === 'and' && a.parts.some((part) => textOfTerm(part) === text));
}

/** One part may imply `b` alone. Otherwise each case of an alternative among the parts must imply it together with the others. */
function conjunctionImplies(parts: readonly FilterTerm[], b: FilterTerm, budget: { cases: number }): boolean {
  if (parts.some((part) => isImplied(part, b, budget))) return true;
  const choice = parts.findIndex(({ kind }) => kind === 'or');
  if (choice < 0) return false;
  const others = parts.filter((_, i) => i !== choice);
  const alternatives = parts[choice] as { readonly parts: readonly FilterTerm[] };
  return alternatives.parts.every((part) => isImplied(and([...others, part]), b, budget));
}

function isAtomImplied(a: FilterTerm, b: FilterTerm, budget: { cases: number }): boolean {
  if (a.kind === 'related' && b.kind === 'related') {
    return a.name === b.name && isImplied(a.where, b.where, budget);
  }
  if (a.kind === 'exists' && b.kind === 'exists') {
    return a.table === b.table && isImplied(a.where, b.where, budget);
  }
  return a.kind === 'compare' && b.kind === 'compare' && a.column === b.column && isComparisonImplied(a, b);
}

type Comparison = Extract<FilterTerm, { kind: 'compare' }>;

/** Values are compared by their JSON only: whether 1 and "1", or two texts, are one value is for the type of the column to say. */
function isComparisonImplied(a: Comparison, b: Comparison): boolean {
  if (b.operator === '_is_null') return b.value === false && isNeverNull(a);
  const admitted = valuesAdmitted(a);
  if (admitted) {
    const allowed = valuesAdmitted(b);
    if (allowed) return admitted.every((value) => allowed.includes(value));
    const isBound = b.operator === '_gte' || b.operator === '_lte';
    return isBound && admitted.every((value) => value === valueText(b.value));
  }
  const excluded = valuesExcluded(a);
  if (excluded) return valuesExcluded(b)?.every((value) => excluded.includes(value)) ?? false;
  return `${a.operator}e` === b.operator && isOrder(a) && valueText(a.value) === valueText(b.value);
}

/** True when the comparison is not true of a null column. A session variable may hold an empty list. */
function isNeverNull({ operator, value }: Comparison): boolean {
  if (operator === '_nin') return Array.isArray(value) && value.length > 0;
  return STRICT.has(operator);
}

function isOrder({ operator }: Comparison): boolean {
  return operator === '_gt' || operator === '_lt';
}

/** Returns the JSON of the values that `_eq` or `_in` admits; undefined for other operators and for a list in a session variable. */
function valuesAdmitted({ operator, value }: Comparison): readonly string[] | undefined {
  if (operator === '_eq') return [valueText(value)];
  return operator === '_in' && Array.isArray(value) ? value.map((item) => valueText(item)) : undefined;
}

/** Returns the JSON of the values that `_neq` or `_nin` excludes. */
function valuesExcluded({ operator, value }: Comparison): readonly string[] | undefined {
  if (operator === '_neq') return [valueText(value)];
  return operator === '_nin' && Array.isArray(value) ? value.map((item) => valueText(item)) : undefined;
}

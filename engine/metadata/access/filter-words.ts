/** Row filters in words, for people who review a change: `author_id is X-Engine-User-Id and status is one of draft, open`.
 *  Not here: the terms (filter.ts). Pure. */
import { type FilterTerm, filterTerm } from './filter.ts';

const WORDS: Readonly<Record<string, string>> = {
  _eq: 'is',
  _neq: 'is not',
  _gt: 'is more than',
  _gte: 'is at least',
  _lt: 'is less than',
  _lte: 'is at most',
  _in: 'is one of',
  _nin: 'is none of',
  _like: 'matches',
  _ilike: 'matches in any case',
  _contains: 'contains',
  _contained_in: 'is contained in',
  _ceq: 'is the column',
  _cneq: 'is not the column',
};

/** Returns the filter or check as a phrase; `all rows` without a condition, `no rows` for an empty `_or`. */
export function wordsOfFilter(filter: unknown): string {
  return wordsOf(filterTerm(filter));
}

function wordsOf(term: FilterTerm): string {
  switch (term.kind) {
    case 'and':
      return term.parts.length === 0 ? 'all rows' : term.parts.map(inside).join(' and ');
    case 'or':
      return term.parts.length === 0 ? 'no rows' : term.parts.map(inside).join(' or ');
    case 'not':
      return `not (${wordsOf(term.of)})`;
    case 'related':
      return isEmpty(term.where) ? `some ${term.name} exists` : `some ${term.name} has ${inside(term.where)}`;
    case 'exists':
      return `a row of ${term.table} has ${inside(term.where)}`;
    case 'compare':
      return comparisonWords(term);
    case 'opaque':
      return `${term.name} ${JSON.stringify(term.value)}`.trim();
  }
}

function isEmpty(term: FilterTerm): boolean {
  return term.kind === 'and' && term.parts.length === 0;
}

/** Returns the words as a part of others: in parentheses where what follows could be taken for a part of them. */
function inside(term: FilterTerm): string {
  return isOpenEnded(term) ? `(${wordsOf(term)})` : wordsOf(term);
}

function isOpenEnded(term: FilterTerm): boolean {
  switch (term.kind) {
    case 'and':
    case 'or':
      return term.parts.length > 1;
    case 'related':
      return !isEmpty(term.where);
    case 'exists':
      return true;
    case 'compare':
      return Array.isArray(term.value) && term.value.length > 1;
    default:
      return false;
  }
}

function comparisonWords({ column, operator, value }: Extract<FilterTerm, { kind: 'compare' }>): string {
  if (operator === '_is_null') return value === false ? `${column} is not null` : `${column} is null`;
  const values = Array.isArray(value) ? value.map(valueWords).join(', ') : valueWords(value);
  return `${column} ${WORDS[operator] ?? operator} ${values}`;
}

/** Texts have no quotes, unless they are empty, have spaces or punctuation of the words, or would be read as another JSON value: 1, true. */
function valueWords(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[^\s,()"]+$/.test(value) && !isJson(value);
  return isPlain ? value : JSON.stringify(value);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

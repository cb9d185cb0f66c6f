/** The condition of a permission in words: `{owner: {_eq: "X-Engine-User-Id"}}` is `owner = X-Engine-User-Id`.
 *  Pure. In: a condition as it is written. Out: text. Not here: what a condition means (engine/resolve/bool-exp.ts). */
import { isNumber } from './digits.js';

/** The operators that have a sign or a word; the name of any other one is its word. */
const SIGNS = {
  _eq: '=',
  _ne: '≠',
  _neq: '≠',
  _gt: '>',
  _gte: '≥',
  _lt: '<',
  _lte: '≤',
  _in: 'is one of',
  _nin: 'is none of',
  _like: 'is like',
  _nlike: 'is not like',
  _ilike: 'is like (ignoring case)',
  _nilike: 'is not like (ignoring case)',
  _similar: 'is similar to',
  _nsimilar: 'is not similar to',
  _regex: 'matches the regular expression',
  _nregex: 'does not match the regular expression',
  _iregex: 'matches the regular expression (ignoring case)',
  _niregex: 'does not match the regular expression (ignoring case)',
  _is_null: 'is null',
  _contains: 'contains',
  _contained_in: 'is contained in',
  _has_key: 'has the key',
  _has_keys_any: 'has one of the keys',
  _has_keys_all: 'has all of the keys',
  _ceq: '=',
  _cne: '≠',
  _cneq: '≠',
  _cgt: '>',
  _cgte: '≥',
  _clt: '<',
  _clte: '≤',
};

/** Returns an operator with its sign, for a list to choose from: `= (_eq)`. */
export function operatorText(name) {
  return Object.hasOwn(SIGNS, name) ? `${SIGNS[name]} (${name})` : name;
}

const JOINED = { _and: ' and ', _or: ' or ' };

export function inWords(condition) {
  const text = words(condition, '');
  return text === '' ? 'every row' : text;
}

/** Returns an empty text for a condition that is always true. `path` names the relationships that lead to the columns. */
function words(condition, path) {
  if (!isObject(condition)) return JSON.stringify(condition);
  const parts = Object.entries(condition).map(([name, value]) => part(name.replace(/^\$/, '_'), value, path));
  return all(parts);
}

/** The words of a condition that is never true. */
const NEVER = 'never';

function all(parts) {
  return parts.includes(NEVER) ? NEVER : joined(parts.filter(Boolean), JOINED._and);
}

function any(parts) {
  // One alternative that is always true makes the others irrelevant.
  if (parts.includes('')) return '';
  const possible = parts.filter((text) => text !== NEVER);
  return possible.length === 0 ? NEVER : joined(possible, JOINED._or);
}

function part(name, value, path) {
  if (name in JOINED && Array.isArray(value)) {
    const parts = value.map((each) => words(each, path));
    return name === '_or' ? any(parts) : all(parts);
  }
  if (name === '_not') {
    const inner = words(value, path);
    return { '': NEVER, [NEVER]: '' }[inner] ?? `not (${inner})`;
  }
  if (name === '_exists') {
    const { _table: table, _where: where } = value ?? {};
    return `a row of ${table?.name ?? table} exists where ${words(where ?? {}, '') || 'anything holds'}`;
  }
  return compared(`${path}${name}`, value);
}

/** Returns the comparisons of a column, or the condition on what a relationship leads to. */
function compared(name, value) {
  if (!isObject(value)) return `${name} = ${operand(value)}`;
  const entries = Object.entries(value);
  if (entries.length === 0) return `${name} exists`;
  const isColumn = entries.every(([operator]) => /^[_$]/.test(operator) && !isLogical(operator));
  if (!isColumn) return words(value, `${name}.`) || `${name} exists`;
  return joined(
    entries.map(([operator, given]) => comparison(name, operator.replace(/^\$/, '_'), given)),
    ' and ',
  );
}

function comparison(name, operator, given) {
  if (operator === '_is_null') return given === false ? `${name} is not null` : `${name} is null`;
  return `${name} ${SIGNS[operator] ?? operator.slice(1).replaceAll('_', ' ')} ${operand(given)}`;
}

function isLogical(operator) {
  return ['and', 'or', 'not', 'exists'].includes(operator.slice(1));
}

/** Returns names without quotation marks: session variables, and a list of names of columns. */
function operand(value) {
  if (typeof value === 'string') return /^x-/i.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value);
}

/** Returns the parts with brackets around those that another word joins. */
function joined(parts, word) {
  if (parts.length < 2) return parts[0] ?? '';
  const bracketed = (text) => (/ (and|or) /.test(text) ? `(${text})` : text);
  return parts.map(bracketed).join(word);
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isNumber(value);
}

/** The query for a page of rows: of a table, or of those that a relationship of one row leads to. Values are variables.
 *  Pure. In: what the schema offers (data-schema.js), and what the user has chosen. Out: a GraphQL request, and where its rows are. */
import { isListType, namedType } from './data-schema.js';
import { parseWithAllDigits } from './digits.js';

/** The most values of an enum that a message names. */
const MOST_VALUES = 20;

/** The most rows of a page. */
export const PAGE_ROWS = 50;

/** Returns the rows of a page for a role whose requests have at most `limit` rows; null is no limit, undefined one that is not known. */
export function pageRowsOf(limit) {
  return Math.min(PAGE_ROWS, limit ?? PAGE_ROWS);
}

/** Returns the request for rows, in the order that is chosen and then in that of the key columns: without an order, pages overlap. `through`, if there is one, is `{byKey, key, field}`: the field of one row by its key, and the relationship. `pageRows` are the most rows of a page. */
export function rowsQuery({ table, columns, keys, through, filters, order, page, pageRows = PAGE_ROWS }) {
  const target = through ? through.field : table;
  const given = target.isList
    ? listArguments(target, columns, { filters, orders: ordersOf(columns, keys, order), page, pageRows })
    : [];
  const names = columns.map(({ name }) => name);
  const selection = `{ ${names.length === 0 ? '__typename' : names.join(' ')} }`;
  const rows = call(target.name, given, selection);
  if (!through) return requestOf(table.namespace, [], given, rows, (data) => data[target.name]);
  const { byKey, key } = through;
  const keyValues = [...byKey.args].map(([name, type]) => ({
    argument: name,
    name: `key_${name}`,
    type,
    value: key[name],
  }));
  return requestOf(byKey.namespace, keyValues, given, call(byKey.name, keyValues, `{ ${rows} }`), (data) => {
    const found = data[byKey.name]?.[target.name];
    return target.isList ? found : found && [found];
  });
}

/** Returns the terms of the order that the role can ask for. */
function ordersOf(columns, keys, order) {
  const byKey = keys.filter((name) => name !== order?.column).map((column) => ({ column, direction: 'asc' }));
  return [...(order ? [order] : []), ...byKey].flatMap(({ column, direction }) => {
    const directions = columns.find(({ name }) => name === column)?.directions;
    return directions ? [{ [column]: directions[direction] }] : [];
  });
}

function listArguments({ args, orderArgument }, columns, { filters, orders, page, pageRows }) {
  const where = whereOf(filters, columns);
  const values = {
    where,
    ...(orderArgument && orders.length > 0 && { [orderArgument]: orders }),
    limit: pageRows,
    offset: page > 0 ? page * pageRows : undefined,
  };
  return Object.entries(values)
    .filter(([name, value]) => value !== undefined && args.has(name))
    .map(([name, value]) => ({ argument: name, name, type: args.get(name), value }));
}

function call(field, given, selection) {
  const list = given.map(({ argument, name }) => `${argument}: $${name}`).join(', ');
  return `${field}${list === '' ? '' : `(${list})`} ${selection}`;
}

/** Returns the request for root fields, which are those of a namespace if one is given. */
function requestOf(namespace, keys, given, body, rowsIn) {
  const all = [...keys, ...given];
  const declared = all.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const fields = namespace === undefined ? body : `${namespace} { ${body} }`;
  return {
    question: {
      query: `query Rows${declared === '' ? '' : `(${declared})`} { ${fields} }`,
      variables: Object.fromEntries(all.map(({ name, value }) => [name, value])),
    },
    rowsIn: (data) => rowsIn(namespace === undefined ? data : data[namespace]) ?? [],
  };
}

/** Returns the condition of the filters; undefined without any. */
function whereOf(filters, columns) {
  const conditions = filters.flatMap(({ column, operator, text }) => {
    const found = operatorIn(columns, column, operator);
    return found ? [{ [column]: { [operator]: operandOf(found.type, text) } }] : [];
  });
  if (conditions.length === 0) return undefined;
  return conditions.length === 1 ? conditions[0] : { _and: conditions };
}

/** Returns why rows cannot be asked for with the filters, which may be those of a link or of another role; empty when they can. */
export function problemOf(filters, columns) {
  const problems = filters.map(({ column, operator, text }) => {
    const found = operatorIn(columns, column, operator);
    if (!found) return `The role cannot filter by ${column} with ${operator}. Remove the filter.`;
    const { name, enumValues: values } = namedType(found.type);
    if (name === 'Boolean' && !isListType(found.type) && !['true', 'false'].includes(text))
      return `${text} is neither true nor false.`;
    if (values) return noValueOf(values, [operandOf(found.type, text)].flat());
    const isText = isJson(name) && textsIn(found.type, text).some(isNoJson);
    return isText && `${text} is no JSON. Text has quotation marks: "red".`;
  });
  return problems.find(Boolean) ?? '';
}

/** Returns why an enum does not have one of the texts; empty when it has all. */
function noValueOf(values, texts) {
  const names = values.map(({ name }) => name);
  const wrong = texts.find((text) => !names.includes(text));
  return wrong === undefined
    ? ''
    : `${wrong} is none of the values: ${names.slice(0, MOST_VALUES).join(', ')}${names.length > MOST_VALUES ? ' …' : ''}.`;
}

function operatorIn(columns, column, operator) {
  return columns.find(({ name }) => name === column)?.operators.find(({ name }) => name === operator);
}

/** Returns the texts that have to be JSON each. */
function textsIn(type, text) {
  if (!isListType(type)) return [text];
  return text.trim().startsWith('[') ? [text] : text.split(',');
}

function isNoJson(text) {
  return parsed(text) === undefined;
}

function isJson(type) {
  return /^json/i.test(type);
}

/** Returns the operand that a text means for a type. The engine checks it: text that is no number is sent as text. */
export function operandOf(type, text) {
  if (isListType(type)) {
    const list = text.trim().startsWith('[') ? parsed(text) : undefined;
    if (Array.isArray(list)) return list;
    // As Postgres writes an array.
    const [, inside = text] = (isJson(namedType(type).name) ? null : /^\s*\{(.*)\}\s*$/s.exec(text)) ?? [];
    return inside.split(',').map((item) => leafOf(namedType(type).name, item.trim()));
  }
  return leafOf(namedType(type).name, text);
}

function leafOf(type, text) {
  if (type === 'Boolean') return text !== 'false';
  if (isJson(type)) return parsed(text) ?? text;
  const isNumber =
    /^(Int|Float|numeric|bigint|smallint|float8|real)$/i.test(type) && /^-?\d+(\.\d+)?$/.test(text);
  // A number that JavaScript would change stays text, which the engine reads, too.
  return isNumber && String(Number(text)) === text ? Number(text) : text;
}

function parsed(text) {
  try {
    return parseWithAllDigits(text);
  } catch {
    return undefined;
  }
}

/** Returns the request as a document to paste, with its variables in a comment. */
export function asDocument({ query, variables }) {
  return Object.keys(variables).length === 0
    ? `${query}\n`
    : `${query}\n# Variables: ${JSON.stringify(variables)}\n`;
}

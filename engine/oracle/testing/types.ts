/** COLUMN_TYPES: what columns of a random table hold. A row says what a value looks like to a client (`json`) and to
 *  Postgres (`text`), and what can be asked of the column. Values are few, so that rows meet; they are odd, so that quoting
 *  and nulls matter. COMPARISONS: the operators, each as PostgreSQL's manual writes it; written without engine/sql. */

export type Value = { readonly json: unknown; readonly text: string };

export type ColumnType = {
  /** As Postgres spells it. */
  readonly sql: string;
  /** GraphQL's name of it; null where variables of it are not asked with. */
  readonly graphql: string | null;
  readonly values: readonly Value[];
  /** Has it a sum and an average? */
  readonly isNumber: boolean;
  /** Has it a `min` and a `max` in Postgres? */
  readonly hasExtremes: boolean;
  /** The text of an enum table, which GraphQL spells without quotes. */
  readonly isEnum?: boolean;
};

const plain = (...items: readonly unknown[]): Value[] => items.map((json) => ({ json, text: String(json) }));
const asJson = (...items: readonly unknown[]): Value[] =>
  items.map((json) => ({ json, text: JSON.stringify(json) }));
const arrays = (...items: readonly (readonly (string | number)[])[]): Value[] =>
  items.map((json) => ({ json, text: arrayText(json.map(String)) }));

/** PostgreSQL manual, "Array Input and Output Syntax". */
export function arrayText(items: readonly string[]): string {
  return `{${items.map((item) => `"${item.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

const number = { isNumber: true, hasExtremes: true };
const ordered = { isNumber: false, hasExtremes: true };
const other = { isNumber: false, hasExtremes: false };
const uuid = (end: string) => `a0eebc99-9c0b-4ef8-bb6d-6bb9bd3800${end}`;

export const INT: ColumnType = {
  sql: 'int4',
  graphql: 'Int',
  values: plain(1, 2, 3, 0, -1, 7, 2147483647),
  ...number,
};
export const TEXT: ColumnType = {
  sql: 'text',
  graphql: 'String',
  values: plain('a', 'b', 'A', '', "o'x", 'a%', 'ä_', '\\', '"q"', '{a,b}', 'null', '☃\n'),
  ...ordered,
};
const JSONB: ColumnType = {
  sql: 'jsonb',
  graphql: 'jsonb',
  values: asJson({}, { a: 1 }, { a: [1, { b: "o'x" }] }, [1, 2], 'a', 1.5, { b: '"' }, ['a', 'b'], true),
  ...other,
};
export const BOOLEAN: ColumnType = { sql: 'bool', graphql: 'Boolean', values: plain(true, false), ...other };
const TEXTS: ColumnType = {
  sql: 'text[]',
  graphql: '[String!]',
  values: arrays(['a'], [], ['a', 'b'], ["o'x", '"', '\\', ',']),
  ...other,
};

export const COLUMN_TYPES: readonly ColumnType[] = [
  INT,
  TEXT,
  BOOLEAN,
  { sql: 'int8', graphql: 'bigint', values: plain('1', '2', '-5', '9007199254740993'), ...number },
  { sql: 'numeric', graphql: 'numeric', values: plain('1.5', '0', '-2.50', '1e3', '2'), ...number },
  { sql: 'float8', graphql: 'float8', values: plain(0.5, 1, -2.25), ...number },
  { sql: 'uuid', graphql: 'uuid', values: plain(uuid('11'), uuid('12'), uuid('13')), ...other },
  {
    sql: 'timestamptz',
    graphql: 'timestamptz',
    values: plain('2024-02-29T12:00:00+00:00', '1999-12-31T23:59:59.123456-08:00', '2024-02-29'),
    ...ordered,
  },
  { sql: 'date', graphql: 'date', values: plain('2024-02-29', '1999-12-31', '2024-03-01'), ...ordered },
  JSONB,
  TEXTS,
  { sql: 'int4[]', graphql: '[Int!]', values: arrays([1], [], [1, 2], [2]), ...other },
];

/** Operators and their right sides. */
export type Comparison = {
  readonly name: string;
  readonly sql: (left: string, right: string) => string;
  /** What the right side is: a value of the column's type, several, or one of these. */
  readonly operand: 'same' | 'list' | { readonly type: ColumnType; readonly isList: boolean };
  readonly suits: (type: ColumnType) => boolean;
  /** What enums can be asked, too. */
  readonly isEquality?: true;
};

const all = () => true;
const isText = (type: ColumnType) => type === TEXT;
const isJsonb = (type: ColumnType) => type === JSONB;
export const isArray = ({ sql }: ColumnType) => sql.endsWith(']');
const mayContain = (type: ColumnType) => isJsonb(type) || isArray(type);
const infix = (symbol: string) => (left: string, right: string) => `${left} ${symbol} ${right}`;
const ofText = (...patterns: readonly string[]) => ({
  type: { ...TEXT, values: plain(...patterns) },
  isList: false,
});
const patterns = ofText('a%', '%', '_', "%'%", 'A', '', '\\\\', '%\\_');
const regexes = ofText('a', '^$', '[ab]+', '\\d', '.', '^(A|"q")', "'");
const similar = ofText('%(a|A)%', '%', 'a', '');
const keys = { ...ofText('a', 'b', ''), isList: false };

export const COMPARISONS: readonly Comparison[] = [
  { name: 'eq', sql: infix('='), operand: 'same', suits: all, isEquality: true },
  { name: 'neq', sql: infix('<>'), operand: 'same', suits: all, isEquality: true },
  { name: 'gt', sql: infix('>'), operand: 'same', suits: all },
  { name: 'gte', sql: infix('>='), operand: 'same', suits: all },
  { name: 'lt', sql: infix('<'), operand: 'same', suits: all },
  { name: 'lte', sql: infix('<='), operand: 'same', suits: all },
  { name: 'in', sql: (l, r) => `${l} = any(${r})`, operand: 'list', suits: all, isEquality: true },
  { name: 'nin', sql: (l, r) => `${l} <> all(${r})`, operand: 'list', suits: all, isEquality: true },
  { name: 'like', sql: infix('like'), operand: patterns, suits: isText },
  { name: 'nlike', sql: infix('not like'), operand: patterns, suits: isText },
  { name: 'ilike', sql: infix('ilike'), operand: patterns, suits: isText },
  { name: 'nilike', sql: infix('not ilike'), operand: patterns, suits: isText },
  { name: 'similar', sql: infix('similar to'), operand: similar, suits: isText },
  { name: 'nsimilar', sql: infix('not similar to'), operand: similar, suits: isText },
  { name: 'regex', sql: infix('~'), operand: regexes, suits: isText },
  { name: 'nregex', sql: infix('!~'), operand: regexes, suits: isText },
  { name: 'iregex', sql: infix('~*'), operand: regexes, suits: isText },
  { name: 'niregex', sql: infix('!~*'), operand: regexes, suits: isText },
  { name: 'contains', sql: infix('@>'), operand: 'same', suits: mayContain },
  { name: 'contained_in', sql: infix('<@'), operand: 'same', suits: mayContain },
  { name: 'has_key', sql: infix('?'), operand: keys, suits: isJsonb },
  { name: 'has_keys_any', sql: infix('?|'), operand: { ...keys, isList: true }, suits: isJsonb },
  { name: 'has_keys_all', sql: infix('?&'), operand: { ...keys, isList: true }, suits: isJsonb },
];

export { JSONB };

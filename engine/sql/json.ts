/** JSON text by concatenation: constants and value expressions joined with `||`, adjacent constants merged (ADR 4).
 *  One NULL makes a concatenation NULL, so whatever may be null is wrapped here and nowhere else. */
import type { PgType } from '../catalog/types.ts';
import type { Field } from '../plan/query-types.ts';
import { empty, type Fragment, join, literal, param, qualified, sql } from './fragment.ts';
import { columnOf } from './scope.ts';

/** Part of a JSON text: its own punctuation, or an expression that yields text and is never null. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'expression'; readonly expression: Fragment };

export const text = (value: string): Piece => ({ kind: 'text', text: value });
export const expression = (value: Fragment): Piece => ({ kind: 'expression', expression: value });

/** `{"a":…,"b":…}` */
export function jsonObject(
  entries: readonly { readonly key: string; readonly value: readonly Piece[] }[],
): Piece[] {
  const members = entries.flatMap(({ key, value }, i) => [
    text(`${i === 0 ? '' : ','}${JSON.stringify(key)}:`),
    ...value,
  ]);
  return [text('{'), ...members, text('}')];
}

/** `[a,b]` */
export function jsonList(items: readonly (readonly Piece[])[]): Piece[] {
  return [text('['), ...items.flatMap((item, i) => (i === 0 ? item : [text(','), ...item])), text(']')];
}

/** `[…]` around rows of JSON text that an aggregate has joined; null, when there were none, is `[]`. */
export function jsonArray(joined: Fragment): Piece[] {
  return [text('['), expression(sql`coalesce(${joined}, '')`), text(']')];
}

/** The aggregate that joins rows of JSON text; `order` is an ORDER BY, for rows that do not come in order. */
export function joinedRows(row: Fragment, order: Fragment = empty): Fragment {
  return sql`string_agg(${row}, ','${order})`;
}

/** The pieces as one expression: `'{"id":' || t."id"::text || '}'`. */
export function concatenate(pieces: readonly Piece[]): Fragment {
  const merged = mergeText(pieces);
  const [only] = merged;
  // A lone literal has no type yet, and an aggregate over it would be ambiguous.
  if (merged.length === 1 && only?.kind === 'text') return sql`${literal(only.text)}::text`;
  return chain(merged.map((piece) => (piece.kind === 'text' ? literal(piece.text) : piece.expression)));
}

/** Longer concatenations are made of groups: a chain copies what it has at each operator, which is quadratic in its length, and
 *  Postgres reads it by recursion, which a few thousand operators are too many for. */
const LONGEST_CHAIN = 64;

function chain(parts: readonly Fragment[]): Fragment {
  const { length } = parts;
  if (length <= LONGEST_CHAIN) return join(parts, sql` || `);
  const size = Math.max(LONGEST_CHAIN, Math.ceil(length / LONGEST_CHAIN));
  const groups = Array.from({ length: Math.ceil(length / size) }, (_, i) => {
    return sql`(${chain(parts.slice(i * size, (i + 1) * size))})`;
  });
  return chain(groups);
}

function mergeText(pieces: readonly Piece[]): readonly Piece[] {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text')
      merged[merged.length - 1] = text(last.text + piece.text);
    else merged.push(piece);
  }
  return merged;
}

type ColumnField = Extract<Field, { kind: 'column' }>;

/** A column's value as JSON text. */
export function columnJson(field: ColumnField, alias: string): Piece[] {
  const column = columnOf(alias, field.column);
  const value = field.path ? sql`(${column} #> ${param(field.path)})` : column;
  const printed = print(value, field);
  if (!field.isNullable && !field.path) return printed;
  return [expression(sql`coalesce(${concatenate(printed)}, 'null')`)];
}

type ComputedField = Extract<Field, { kind: 'computed' }>;

/** A computed field's value as JSON text; what a function returns may always be null. */
export function computedJson(field: ComputedField, call: Fragment): Piece[] {
  return nullableJson(field.path ? sql`(${call} #> ${param(field.path)})` : call, field);
}

/** Any value that may be null, as JSON text. */
export function nullableJson(value: Fragment, form: Printed): Piece[] {
  return [expression(sql`coalesce(${concatenate(print(value, form))}, 'null')`)];
}

type Printed = Pick<ColumnField, 'json' | 'type'>;

/** Never NULL unless the value is. `to_json` looks its argument's type up at every call (0.5 µs), so types whose text
 *  is known to need no escaping go around it. */
function print(value: Fragment, { json, type }: Printed): Piece[] {
  const plain = expression(sql`${value}::text`);
  switch (json) {
    case 'bare':
      return [plain];
    case 'quoted':
      if (isBuiltin(type, PLAIN_TEXT)) return [text('"'), plain, text('"')];
      if (isBuiltin(type, FRACTIONS)) return [expression(fraction(value))];
      return [expression(sql`to_json(${value})::text`)];
    case 'geojson': {
      // 15 digits after the point, and a long name of the system of coordinates, where it is not the usual one.
      const name = { schema: (type.base ?? type).schema, name: 'st_asgeojson' };
      return [expression(sql`${qualified(name)}(${value}, 15, 4)`)];
    }
    case 'capitals':
      // Not as the database's language does it: names are ASCII.
      return [text('"'), expression(sql`upper(${value}::text collate "C")`), text('"')];
    case 'stringified':
      if (isBuiltin(type, NUMBERS)) return [text('"'), plain, text('"')];
      if ((type.base ?? type).element) return [expression(sql`to_json(${value}::text[])::text`)];
      return [expression(sql`to_json(${value}::text)::text`)];
    default:
      return json satisfies never;
  }
}

const PLAIN_TEXT = ['uuid'];
const FRACTIONS = ['numeric', 'float4', 'float8'];
const NUMBERS = [...FRACTIONS, 'int2', 'int4', 'int8'];

/** NaN and the infinities, which JSON has no numbers for, are outside every range; to_json makes them strings. */
function fraction(value: Fragment): Fragment {
  return sql`case when ${value} between -1e30 and 1e30 then ${value}::text else to_json(${value})::text end`;
}

function isBuiltin(type: PgType, names: readonly string[]): boolean {
  return type.schema === 'pg_catalog' && type.element === null && names.includes(type.name);
}

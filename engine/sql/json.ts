/** JSON text by concatenation: constants and value expressions joined with `||`, adjacent constants merged (ADR 4), also into the branches of a choice. One NULL
 *  makes a concatenation NULL, so nullable values are wrapped here and nowhere else. */
import type { PgType } from '../catalog/types.ts';
import type { Field } from '../plan/query-types.ts';
import { empty, type Fragment, join, literal, param, qualified, sql } from './fragment.ts';
import { columnOf } from './scope.ts';

/** Literal JSON text: punctuation, names, constants. */
export type TextPiece = { readonly kind: 'text'; readonly text: string };

/** `absent` where a condition holds, otherwise the pieces. */
type Choice = {
  readonly kind: 'choice';
  readonly isAbsent: Fragment;
  readonly absent: string;
  readonly pieces: readonly Piece[];
};

/** Part of a JSON text: its own punctuation, an expression that yields text and is never null, or a choice between two texts. */
export type Piece = TextPiece | Choice | { readonly kind: 'expression'; readonly expression: Fragment };

export const text = (value: string): TextPiece => ({ kind: 'text', text: value });
export const expression = (value: Fragment): Piece => ({ kind: 'expression', expression: value });
export const nullIf = (isAbsent: Fragment, pieces: readonly Piece[]): Piece => {
  return { kind: 'choice', isAbsent, absent: 'null', pieces };
};

/** Returns the pieces of an object: `{"a":…,"b":…}`. */
export function jsonObject<P = Piece>(
  entries: readonly { readonly key: string; readonly value: readonly (P | TextPiece)[] }[],
): (P | TextPiece)[] {
  const members = entries.flatMap(({ key, value }, i) => [
    text(`${i === 0 ? '' : ','}${JSON.stringify(key)}:`),
    ...value,
  ]);
  return [text('{'), ...members, text('}')];
}

/** Returns the pieces of a list: `[a,b]`. */
export function jsonList<P = Piece>(items: readonly (readonly (P | TextPiece)[])[]): (P | TextPiece)[] {
  return [text('['), ...items.flatMap((item, i) => (i === 0 ? item : [text(','), ...item])), text(']')];
}

/** Returns `[…]` around rows of JSON text that an aggregate has joined; null, for no rows, becomes `[]`. */
export function jsonArray(joined: Fragment): Piece[] {
  return [text('['), expression(sql`coalesce(${joined}, '')`), text(']')];
}

/** Returns the aggregate that joins rows of JSON text; `order` is an ORDER BY, needed when the rows are not in order. */
export function joinedRows(row: Fragment, order: Fragment = empty): Fragment {
  return sql`string_agg(${row}, ','${order})`;
}

/** Returns the pieces as one expression: `'{"id":' || t."id"::text || '}'`. */
export function concatenate(pieces: readonly Piece[]): Fragment {
  const merged = absorbText(mergeText(pieces));
  const [only] = merged;
  // A single literal has no type yet, and an aggregate over it would be ambiguous.
  if (merged.length === 1 && only?.kind === 'text') return sql`${literal(only.text)}::text`;
  return chain(merged.map(operand));
}

function operand(piece: Piece): Fragment {
  if (piece.kind === 'text') return literal(piece.text);
  if (piece.kind === 'expression') return piece.expression;
  const { isAbsent, absent, pieces } = piece;
  return sql`case when ${isAbsent} then ${literal(absent)} else ${concatenate(pieces)} end`;
}

/** The longest text that is moved. Behind nested choices it is repeated in each of them. */
const LONGEST_MOVED = 128;

/** Returns the pieces with the texts beside a choice moved into it, where they are parts of its texts: two operators less for each row. */
function absorbText(pieces: readonly Piece[]): readonly Piece[] {
  const absorbed: Piece[] = [];
  for (const [i, piece] of pieces.entries()) {
    const last = absorbed.at(-1);
    if (isMoved(last) && piece.kind === 'choice') {
      absorbed[absorbed.length - 1] = {
        ...piece,
        absent: last.text + piece.absent,
        pieces: [last, ...piece.pieces],
      };
    } else if (last?.kind === 'choice' && isMoved(piece) && pieces[i + 1]?.kind !== 'choice') {
      absorbed[absorbed.length - 1] = {
        ...last,
        absent: last.absent + piece.text,
        pieces: [...last.pieces, piece],
      };
    } else absorbed.push(piece);
  }
  return absorbed;
}

function isMoved(piece: Piece | undefined): piece is TextPiece {
  return piece?.kind === 'text' && piece.text.length <= LONGEST_MOVED;
}

/** The longest chain of `||`; longer ones are split into groups. Each operator copies the text so far, which is quadratic in
 *  the length of the chain, and Postgres parses a chain recursively, which fails at a few thousand operators. */
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

/** Returns the pieces with adjacent texts merged into one. */
export function mergeText<P extends { readonly kind: string }>(
  pieces: readonly (P | TextPiece)[],
): readonly (P | TextPiece)[] {
  const merged: (P | TextPiece)[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (isText(piece) && last && isText(last)) merged[merged.length - 1] = text(last.text + piece.text);
    else merged.push(piece);
  }
  return merged;
}

function isText(piece: { readonly kind: string }): piece is TextPiece {
  return piece.kind === 'text';
}

type ColumnField = Extract<Field, { kind: 'column' }>;

/** Returns the value of a column as JSON text. */
export function columnJson(field: ColumnField, alias: string): Piece[] {
  const stored = columnOf(alias, field.column);
  // The cast removes the spaces at the end. PostgreSQL manual, "Character Types".
  const column = field.isKey ? sql`${stored}::text` : stored;
  const value = field.path ? sql`(${column} #> ${param(field.path)})` : column;
  return field.isNullable || field.path ? nullableJson(value, field) : print(value, field);
}

type ComputedField = Extract<Field, { kind: 'computed' }>;

/** Returns the value of a computed field as JSON text; the result of a function may always be null. */
export function computedJson(field: ComputedField, call: Fragment): Piece[] {
  return nullableJson(field.path ? sql`(${call} #> ${param(field.path)})` : call, field);
}

/** Returns a nullable value as JSON text. */
export function nullableJson(value: Fragment, form: Printed): Piece[] {
  return [expression(sql`coalesce(${concatenate(print(value, form))}, 'null')`)];
}

type Printed = Pick<ColumnField, 'json' | 'type'>;

/** Returns the JSON text of a value, which is NULL only when the value is. `to_json` looks up the type of its argument at
 *  every call (0.5 µs), so types whose text needs no escaping bypass it. */
function print(value: Fragment, { json, type }: Printed): Piece[] {
  const plain = expression(sql`${value}::text`);
  switch (json) {
    case 'bare':
      return [plain];
    case 'quoted':
      if (isBuiltin(type, PLAIN_TEXT)) return [text('"'), plain, text('"')];
      if (isBuiltin(type, ['numeric'])) return [expression(finite(value, sql`scale(${value}) is not null`))];
      if (isBuiltin(type, FLOATS)) return [expression(finite(value, sql`${value} between -1e30 and 1e30`))];
      return [expression(sql`to_json(${value})::text`)];
    case 'geojson': {
      // 15 decimal digits, and a long name of the coordinate system unless it is the default one.
      const name = { schema: (type.base ?? type).schema, name: 'st_asgeojson' };
      return [expression(sql`${qualified(name)}(${value}, 15, 4)`)];
    }
    case 'capitals':
      // The C collation suffices because names are ASCII.
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
const FLOATS = ['float4', 'float8'];
const NUMBERS = [...FLOATS, 'numeric', 'int2', 'int4', 'int8'];

/** Returns the text of a fractional number. JSON has no NaN or infinities; they do not satisfy `isNumber`, and `to_json` turns them into
 *  strings. The scale of a numeric is null for them, and cheaper than comparisons, which even a declared precision would need: a
 *  `numeric(10,2)` may be NaN. */
function finite(value: Fragment, isNumber: Fragment): Fragment {
  return sql`case when ${isNumber} then ${value}::text else to_json(${value})::text end`;
}

function isBuiltin(type: PgType, names: readonly string[]): boolean {
  return type.schema === 'pg_catalog' && type.element === null && names.includes(type.name);
}

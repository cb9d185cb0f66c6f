/** JSON text by concatenation: constants and value expressions joined with `||`, adjacent constants merged (ADR 4).
 *  One NULL makes a concatenation NULL, so whatever may be null is wrapped here and nowhere else. */
import type { Field } from '../plan/types.ts';
import { type Fragment, join, literal, param, sql } from './fragment.ts';
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

/** The pieces as one expression: `'{"id":' || t."id"::text || '}'`. */
export function concatenate(pieces: readonly Piece[]): Fragment {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (piece.kind === 'text' && last?.kind === 'text')
      merged[merged.length - 1] = text(last.text + piece.text);
    else merged.push(piece);
  }
  return join(
    merged.map((piece) => (piece.kind === 'text' ? constant(piece.text) : piece.expression)),
    sql` || `,
  );
}

/** Rows of JSON text as one JSON array; `[]` when there are none. */
export function jsonArray(row: Fragment): Fragment {
  return sql`'[' || coalesce(string_agg(${row}, ','), '') || ']'`;
}

/** A column's value as JSON text. */
export function columnJson(field: Extract<Field, { kind: 'column' }>, alias: string): Fragment {
  const column = columnOf(alias, field.column);
  const value = field.path ? sql`(${column} #> ${param(field.path)})` : column;
  const printed = printers[field.json](value);
  return field.isNullable || field.path ? sql`coalesce(${printed}, 'null')` : printed;
}

const printers = {
  bare: (value: Fragment) => sql`${value}::text`,
  quoted: (value: Fragment) => sql`to_json(${value})::text`,
  stringified: (value: Fragment) => sql`'"' || ${value}::text || '"'`,
} as const;

function constant(value: string): Fragment {
  return literal(value);
}

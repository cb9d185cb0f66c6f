/** The response from a template and the rows of its statements: text between text, nothing parsed. */
import type { TemplatePart } from '../sql/plan.ts';
import type { Row } from '../wire/statement.ts';

/** JSON text, by call and field. */
export type Called = readonly (readonly (string | Buffer)[])[];

const NOTHING_CALLED: Called = [];

/** A response: text, or bytes in pieces where a column is so long that the wire client left it undecoded. */
export type Body = string | readonly Buffer[];

/** `called`: by call, its fields. */
export function splice(
  template: readonly TemplatePart[],
  rows: readonly Row[],
  called: Called = NOTHING_CALLED,
): Body {
  let text = '';
  for (const part of template) {
    const piece = pieceOf(part, rows, called);
    if (typeof piece !== 'string') return bytesOf(template, rows, called);
    text += piece;
  }
  return text;
}

/** The response as text, however long it is. */
export function bodyText(body: Body): string {
  return typeof body === 'string' ? body : Buffer.concat(body).toString('utf8');
}

/** The same as bytes, a piece for each part of the template. */
export function bytesOf(
  template: readonly TemplatePart[],
  rows: readonly Row[],
  called: Called = NOTHING_CALLED,
): readonly Buffer[] {
  return template.map((part) => {
    const piece = pieceOf(part, rows, called);
    return typeof piece === 'string' ? Buffer.from(piece) : piece;
  });
}

function pieceOf(part: TemplatePart, rows: readonly Row[], called: Called): string | Buffer {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'called') return called[part.call]?.[part.field] ?? 'null';
  return rows[part.statement]?.[part.column] ?? 'null';
}

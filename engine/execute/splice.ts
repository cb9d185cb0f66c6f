/** The response from a template and the rows of its statements: text between text, nothing parsed. */
import type { TemplatePart } from '../sql/plan.ts';
import type { Row } from '../wire/statement.ts';

/** A response: text, or bytes in pieces where a column is so long that the wire client left it undecoded. */
export type Body = string | readonly Buffer[];

export function splice(template: readonly TemplatePart[], rows: readonly Row[]): Body {
  let text = '';
  for (const part of template) {
    const piece = pieceOf(part, rows);
    if (typeof piece !== 'string') return bytesOf(template, rows);
    text += piece;
  }
  return text;
}

/** The response as text, however long it is. */
export function bodyText(body: Body): string {
  return typeof body === 'string' ? body : Buffer.concat(body).toString('utf8');
}

/** The same as bytes, a piece for each part of the template. */
export function bytesOf(template: readonly TemplatePart[], rows: readonly Row[]): readonly Buffer[] {
  return template.map((part) => {
    const piece = pieceOf(part, rows);
    return typeof piece === 'string' ? Buffer.from(piece) : piece;
  });
}

function pieceOf(part: TemplatePart, rows: readonly Row[]): string | Buffer {
  return part.kind === 'text' ? part.text : (rows[part.statement]?.[part.column] ?? 'null');
}

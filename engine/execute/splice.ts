/** Builds a response from a template and the columns of its steps. Text is put between text, nothing is parsed. */
import type { TemplatePart } from '../sql/plan.ts';
import type { Row } from '../wire/statement.ts';

/** A response: text, or pieces of bytes when a column is so long that the wire client did not decode it. */
export type Body = string | readonly Buffer[];

/** `rows` are the columns of each step. */
export function splice(template: readonly TemplatePart[], rows: readonly Row[]): Body {
  let text = '';
  for (const part of template) {
    const piece = pieceOf(part, rows);
    if (typeof piece !== 'string') return bytesOf(template, rows);
    text += piece;
  }
  return text;
}

/** Returns the size in bytes; for text, the number of characters, which is less where it is not ASCII. */
export function sizeOfBody(body: Body): number {
  if (typeof body === 'string') return body.length;
  let size = 0;
  for (const { length } of body) size += length;
  return size;
}

/** Returns the response as text, however long it is. */
export function bodyText(body: Body): string {
  return typeof body === 'string' ? body : Buffer.concat(body).toString('utf8');
}

function bytesOf(template: readonly TemplatePart[], rows: readonly Row[]): readonly Buffer[] {
  return template.map((part) => {
    const piece = pieceOf(part, rows);
    return typeof piece === 'string' ? Buffer.from(piece) : piece;
  });
}

function pieceOf(part: TemplatePart, rows: readonly Row[]): string | Buffer {
  if (part.kind === 'text') return part.text;
  return rows[part.step]?.[part.column] ?? 'null';
}

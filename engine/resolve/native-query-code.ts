/** Parses the code of a native query into text and arguments. `{{name}}` is an argument except in comments; inside quotes it is
 *  refused, because it would be part of the text. The code must be a single statement that can be put in parentheses, without
 *  parameters: `$1` would be another value of the statement.
 *  In: code and the declared names. Out: its parts. Raises `nativeQueryInvalid`. Not here: validating the SQL (database/native-query.ts).
 *  Reference: docs/reference/behaviour/functions.md. */
import { pieceAt, type SqlPiece } from '../catalog/sql-pieces.ts';
import { fail } from '../errors/engine-error.ts';
import { own } from '../metadata/own.ts';

/** A text, or an argument whose value is inserted as a parameter. */
type CodePart = string | { readonly argument: string };

export function parseNativeQueryCode(code: string, names: ReadonlySet<string>): readonly CodePart[] {
  const text = trimEnd(code);
  const parts: CodePart[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const piece = pieceAt(text, at);
    const argument = argumentAt(text, piece, names);
    if (argument) {
      parts.push(text.slice(start, at), { argument: argument.name });
      start = argument.end;
    }
    depth += own(DEPTHS, text.slice(piece.start, piece.end)) ?? 0;
    if (depth < 0) refuse("there is a ')' that closes nothing");
    refusePiece(text, piece, names);
    at = argument?.end ?? piece.end;
  }
  if (depth > 0) refuse("there is a '(' that nothing closes");
  parts.push(text.slice(start));
  return parts.filter((part) => part !== '');
}

const DEPTHS: Readonly<Record<string, number>> = { '(': 1, ')': -1 };

type Found = { readonly name: string; readonly end: number };

function argumentAt(text: string, piece: SqlPiece, names: ReadonlySet<string>): Found | null {
  if (piece.kind !== 'mark' || !text.startsWith('{{', piece.start)) return null;
  const close = text.indexOf('}}', piece.start);
  if (close < 0) refuse("found '{{' without a matching closing '}}'");
  const name = text.slice(piece.start + 2, close).trim();
  if (!names.has(name)) refuse(`the argument "${name}" is used but not declared`);
  return { name, end: close + 2 };
}

function refusePiece(text: string, { kind, start, end }: SqlPiece, names: ReadonlySet<string>): void {
  if (kind === 'string' || kind === 'name') {
    const quoted = argumentsIn(text.slice(start, end)).find((name) => names.has(name));
    if (quoted !== undefined) {
      const where = kind === 'string' ? 'a string literal' : 'a quoted name';
      refuse(`the argument "${quoted}" is inside ${where}; arguments are values and need no quotes`);
    }
  }
  if (kind !== 'mark') return;
  if (text[start] === ';') refuse('there is more than one statement');
  const own = text[start] === '$' ? /^\$\d+/.exec(text.slice(start)) : null;
  if (own) refuse(`there is a parameter ${own[0]}; values come through arguments, {{name}}`);
}

/** Returns the names in `{{…}}`. Reads the text once, as a regular expression with white space on both sides of a name would not. */
function argumentsIn(quoted: string): readonly string[] {
  return quoted
    .split('}}')
    .slice(0, -1)
    .filter((part) => part.includes('{{'))
    .map((part) => part.slice(part.lastIndexOf('{{') + 2).trim());
}

/** Removes semicolons and white space at the end. */
function trimEnd(code: string): string {
  let end = code.length;
  while (end > 0 && /[;\s]/.test(code[end - 1]!)) end--;
  return code.slice(0, end);
}

function refuse(reason: string): never {
  fail('nativeQueryInvalid', { reason });
}

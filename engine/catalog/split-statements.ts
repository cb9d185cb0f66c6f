/** Splits SQL text into statements, so that each can run by itself outside a transaction (`no_transaction`); Postgres wraps a text of
 *  several statements in one. A semicolon inside quotes, dollar quotes, comments, parentheses or a `begin atomic` body does not end a
 *  statement.
 *  Not here: the meaning of statements. PostgreSQL manual, "Lexical Structure". */
import { pieceAt } from './sql-pieces.ts';

/** Returns the statements without their semicolons. Comments are kept, empty statements are omitted. */
export function splitStatements(text: string): readonly string[] {
  const statements: string[] = [];
  let start = 0;
  let depth = 0;
  let words: string[] = [];
  for (let at = 0; at < text.length; ) {
    const { kind, end, text: piece } = pieceAt(text, at);
    if (piece === '(') depth++;
    if (piece === ')') depth--;
    if (kind === 'word') words.push(piece.toLowerCase());
    if (piece === ';' && depth <= 0 && atomicDepth(words) === 0) {
      statements.push(text.slice(start, at));
      start = end;
      depth = 0;
      words = [];
    }
    at = end;
  }
  statements.push(text.slice(start));
  return statements.filter((statement) => hasSubstance(statement));
}

/** Returns the nesting depth in `create function … begin atomic … end` after the words so far. */
function atomicDepth(words: readonly string[]): number {
  if (words[0] !== 'create') return 0;
  let depth = 0;
  words.forEach((word, index) => {
    if (word === 'atomic' && words[index - 1] === 'begin') depth++;
    else if (depth > 0 && word === 'case') depth++;
    else if (depth > 0 && word === 'end') depth--;
  });
  return depth;
}

function hasSubstance(statement: string): boolean {
  for (let at = 0; at < statement.length; ) {
    const piece = pieceAt(statement, at);
    if (piece.kind !== 'comment' && piece.text.trim() !== '') return true;
    at = piece.end;
  }
  return false;
}

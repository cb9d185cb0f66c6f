/** SQL text → its statements, so that each can run on its own outside a transaction (`no_transaction`): Postgres wraps a
 *  text of several in one. A semicolon inside quotes, dollar quotes, comments, parentheses or a `begin atomic` body does
 *  not end a statement. Not here: what the statements mean. PostgreSQL manual, "Lexical Structure". */
import { pieceAt } from '../catalog/sql-pieces.ts';

/** Without their semicolons, comments kept, empty ones left out. */
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

/** How deep inside `create function … begin atomic … end` the words so far end. */
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

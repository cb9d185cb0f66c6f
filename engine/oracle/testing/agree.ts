/** Two answers to one request, and what to say when they are not the same. */

import type { Answer } from './arena.ts';
import { digest, parseExactly, type Shape } from './json.ts';
import type { Request } from './query-text.ts';
import type { Role } from './world-types.ts';

export type Occasion = {
  readonly role: Role | null;
  readonly request: Request;
  /** What Postgres was asked. */
  readonly sql: string;
};

/** `theirs` is the `data` alone. Raises with everything needed to understand a difference. */
export function mustAgree(occasion: Occasion, ours: Answer, theirs: Answer, shape: Shape): void {
  const mine = 'text' in ours ? digestOf(dataOf(ours.text), shape) : JSON.stringify(ours);
  const other = 'text' in theirs ? digestOf(theirs.text, shape) : JSON.stringify(theirs);
  if (mine !== other) throw new Error(describe(occasion, mine, other));
}

export function describe({ role, request, sql }: Occasion, ours: string, theirs: string): string {
  const lines = [
    `as ${role?.name ?? 'administrator'}:`,
    request.query,
    JSON.stringify(request.variables),
    sql,
    `engine:   ${ours}`,
    `postgres: ${theirs}`,
  ];
  return lines.join('\n');
}

function digestOf(text: string, shape: Shape): string {
  return JSON.stringify(digest(parseExactly(text), shape));
}

/** Without parsing: the members of an answer are in an order, too. */
function dataOf(text: string): string {
  return /^\{"data":(.*)\}$/s.exec(text)?.[1] ?? fail(text);
}

function fail(text: string): never {
  throw new Error(`no answer: ${text}`);
}

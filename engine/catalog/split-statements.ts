/** Splits SQL text into statements, as the grammar of Postgres does. A semicolon inside quotes, dollar quotes, comments, parentheses or a
 *  `begin atomic` body does not end a statement. The caller sends each statement by the extended protocol, where Postgres refuses a text
 *  that it reads as several, so that a difference between this and Postgres is an error and nothing else.
 *  Not here: the meaning of statements. PostgreSQL manual, "Lexical Structure" and "CREATE FUNCTION". */
import { finish, type Steps } from '../metadata/steps.ts';
import { pieceAt } from './sql-pieces.ts';

/** The number of characters that a step reads, besides the token at its end. */
const STEP_LENGTH = 16_384;
/** Longer words are no keywords. */
const LONGEST_KEYWORD = 16;
/** The first words of a statement that may have a body. */
const ROUTINE = /^create (or replace )?(function|procedure) /;
const WORDS_OF_ROUTINE = 4;

/** The statements of a text. A file may have millions, so that each is two numbers. */
export class Statements implements Iterable<string> {
  readonly #text: string;
  #ranges = new Int32Array(32);
  #length = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    return this.#length;
  }

  add(start: number, end: number): void {
    if (2 * this.#length === this.#ranges.length) {
      const longer = new Int32Array(2 * this.#ranges.length);
      longer.set(this.#ranges);
      this.#ranges = longer;
    }
    this.#ranges[2 * this.#length] = start;
    this.#ranges[2 * this.#length + 1] = end;
    this.#length++;
  }

  /** Returns the statement from its first word, without its semicolon. */
  at(index: number): string {
    return this.#text.slice(this.startOf(index), this.#ranges[2 * index + 1]);
  }

  /** Returns the position in the text of the first word of a statement. */
  startOf(index: number): number {
    return this.#ranges[2 * index]!;
  }

  /** Returns the line in the text of the first word of a statement, from 1. */
  lineOf(index: number): number {
    return 1 + lineFeedsIn(this.#text, this.startOf(index));
  }

  *[Symbol.iterator](): Iterator<string> {
    for (let index = 0; index < this.#length; index++) yield this.at(index);
  }
}

/** Returns the number of line feeds before a position. */
export function lineFeedsIn(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** Returns the statements of a text at once. */
export function splitStatements(text: string): Statements {
  return finish(splitSteps(text));
}

/** Returns the statements of a text. Empty statements are omitted. */
export function* splitSteps(text: string): Steps<Statements> {
  const statements = new Statements(text);
  let reader = new StatementReader();
  let stepEnd = STEP_LENGTH;
  for (let at = 0; at < text.length; ) {
    const { kind, end } = pieceAt(text, at);
    if (kind !== 'space' && kind !== 'comment') {
      const isKeyword = kind === 'mark' || (kind === 'word' && end - at <= LONGEST_KEYWORD);
      const token = isKeyword ? text.slice(at, end).toLowerCase() : '';
      if (token === ';' && !reader.isOpen) {
        if (reader.start !== undefined) statements.add(reader.start, at);
        reader = new StatementReader();
      } else reader.read(token, at);
    }
    at = end;
    if (at < stepEnd) continue;
    stepEnd = at + STEP_LENGTH;
    yield;
  }
  if (reader.start !== undefined) statements.add(reader.start, text.length);
  return statements;
}

/** Reads the tokens of one statement. */
class StatementReader {
  /** The position of the first token. */
  start: number | undefined;
  #depth = 0;
  #isBody = false;
  #head = '';
  #wordsOfHead = 0;
  #before = '';

  /** True when a semicolon would be part of the statement. */
  get isOpen(): boolean {
    return this.#depth > 0 || this.#isBody;
  }

  read(token: string, at: number): void {
    this.start ??= at;
    if (this.#wordsOfHead < WORDS_OF_ROUTINE) {
      this.#wordsOfHead++;
      this.#head += `${token} `;
    }
    if (token === '(') this.#depth++;
    else if (token === ')') this.#depth--;
    else if (token === 'atomic') this.#isBody ||= this.#isBodyNext();
    // The end of a `case` is never after a semicolon.
    else if (token === 'end' && (this.#before === ';' || this.#before === 'atomic')) this.#isBody = false;
    this.#before = token;
  }

  #isBodyNext(): boolean {
    return this.#before === 'begin' && this.#depth === 0 && ROUTINE.test(this.#head);
  }
}

/** The number of tokens in the head of a statement. The longest one that matters: `copy binary a . b . c from stdin`. */
const TOKENS_OF_HEAD = 16;

/** Returns the first tokens of a statement in lower case, separated by spaces, without comments and what is in parentheses. Texts in quotes
 *  are a quote. */
export function headOf(statement: string): string {
  const tokens: string[] = [];
  let depth = 0;
  for (let at = 0; at < statement.length && tokens.length < TOKENS_OF_HEAD; ) {
    const { kind, end } = pieceAt(statement, at);
    const token =
      kind === 'mark' || kind === 'word' ? statement.slice(at, end).toLowerCase() : statement[at]!;
    if (token === ')') depth--;
    else if (token === '(') depth++;
    else if (depth <= 0 && kind !== 'space' && kind !== 'comment') tokens.push(token);
    at = end;
  }
  return tokens.join(' ');
}

/** A migration: one SQL file with a version. In: the text of a file. Out: its statements with their lines, its checksum, and the problems
 *  that prevent it from running.
 *  Not here: folders (read-migrations.ts), what has run (record.ts), running it (run-file.ts). */
import { createHash, type Hash } from 'node:crypto';
import { headOf, type Statements, splitSteps } from '../catalog/split-statements.ts';
import type { Steps } from '../metadata/steps.ts';

export type Migration = {
  /** Digits without leading zeros. */
  readonly version: string;
  readonly name: string;
  /** The path of the file, for messages. */
  readonly file: string;
  /** The checksum of the text; line endings and a byte order mark do not count. */
  readonly sha256: string;
  /** True when all statements run in one transaction. */
  readonly isTransactional: boolean;
  readonly statements: Statements;
};

/** The first line of a file whose statements run one by one, each outside of a transaction. */
export const NO_TRANSACTION = '-- pergola: no-transaction';

const DIRECTIVE = /^--\s*pergola:(.*)/i;

/** Returns the migration in a text. */
export function* migrationSteps(
  identity: Pick<Migration, 'version' | 'name' | 'file'>,
  given: string,
): Steps<Migration> {
  const text = yield* withLineFeeds(given.replace(/^\uFEFF/, ''));
  const { version, name, file } = identity;
  const sha256 = createHash('sha256').update(text).digest('hex');
  yield;
  const isTransactional = directiveIn(text) !== 'no-transaction';
  return { version, name, file, sha256, isTransactional, statements: yield* splitSteps(text) };
}

/** The number of characters in which line endings are replaced at once. */
const PART_LENGTH = 65_536;

/** Returns the text with line feeds in place of carriage returns with line feeds. */
function* withLineFeeds(text: string): Steps<string> {
  if (!text.includes('\r\n')) return text;
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = at + PART_LENGTH;
    if (text[end - 1] === '\r') end++;
    // The result of replaceAll with many matches takes long to read.
    parts.push(text.slice(at, end).split('\r\n').join('\n'));
    at = end;
    yield;
  }
  return parts.join('');
}

/** The checksum of the first statements of a migration, so that a run can continue in a file whose other statements were edited. */
export class StatementsChecksum {
  readonly #statements: Statements;
  readonly #hash: Hash = createHash('sha256');
  #count = 0;

  constructor({ statements }: Pick<Migration, 'statements'>) {
    this.#statements = statements;
  }

  /** Returns the checksum of the first `count` statements, which are at least as many as before. */
  ofFirst(count: number): string {
    for (; this.#count < Math.min(count, this.#statements.length); this.#count++) {
      if (this.#count > 0) this.#hash.update(';');
      this.#hash.update(this.#statements.at(this.#count));
    }
    return this.#hash.copy().digest('hex');
  }
}

/** Orders versions as numbers. */
export function compareVersions(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : Number(a > b));
}

/** Returns the first line's directive in lower case; undefined when there is none. */
function directiveIn(text: string): string | undefined {
  const [line = ''] = text.split('\n', 1);
  return DIRECTIVE.exec(line)?.[1]?.trim().toLowerCase();
}

/** A statement that cannot run as part of a file, and the reason. The first match counts. */
type Refusal = {
  /** Matches the head of the statement (`headOf`). */
  readonly of: RegExp;
  /** True when the statement may run in a file without a transaction. */
  readonly isFineOutside?: boolean;
  readonly reason: string;
};

/** Statements that only psql can run. */
const OF_PSQL: readonly Refusal[] = [
  { of: /^\\/, reason: 'is a command of psql, not SQL; remove it' },
  {
    of: /^copy .*\bfrom (stdin|program)( |$)/,
    reason: 'reads rows from outside of the database; use insert, as pg_dump --inserts writes it',
  },
];

const REFUSALS: readonly Refusal[] = [
  ...OF_PSQL,
  {
    of: /^(begin|start transaction|commit|end|rollback(?! ((work|transaction) )?to( |$))|abort|prepare transaction)( |$)/,
    reason: `begins or ends a transaction; remove it: a file runs in one transaction, or, with the first line "${NO_TRANSACTION}", in none`,
  },
  {
    of: /^(create (unique )?index concurrently|drop index concurrently|reindex (.* )?concurrently)( |$)/,
    isFineOutside: true,
    reason: `cannot run in a transaction; begin the file with the line "${NO_TRANSACTION}"`,
  },
  {
    of: /^(vacuum|create database|drop database|alter system|create tablespace|drop tablespace)( |$)/,
    isFineOutside: true,
    reason: `cannot run in a transaction; begin the file with the line "${NO_TRANSACTION}"`,
  },
];

/** Matches the beginning of statements that REFUSALS may be about, so that the heads of others are not read. */
const SUSPECT = /^(\\|copy|begin|start|commit|end|rollback|abort|prepare|create|drop|reindex|vacuum|alter)/i;

/** The most statements of a file that are reported one by one. */
const MOST_REPORTED = 10;
/** The number of statements in a step. */
const STEP_STATEMENTS = 1024;

/** Returns why only psql can run the statement; undefined when the database can. */
export function psqlProblem(statement: string): string | undefined {
  return refusalOf(OF_PSQL, statement)?.reason;
}

function refusalOf(
  refusals: readonly Refusal[],
  statement: string,
  isTransactional = true,
): Refusal | undefined {
  if (!SUSPECT.test(statement)) return undefined;
  const head = headOf(statement);
  return refusals.find(({ of, isFineOutside }) => of.test(head) && !(isFineOutside && !isTransactional));
}

/** Returns what prevents a migration from running. */
export function* contentProblems(migration: Migration, text: string): Steps<readonly string[]> {
  const { file, statements, isTransactional } = migration;
  const directive = directiveIn(text.replace(/^\uFEFF/, ''));
  if (directive !== undefined && directive !== 'no-transaction') {
    return [`${file}:1: unknown directive "${directive}"; the only one is "${NO_TRANSACTION}"`];
  }
  if (statements.length === 0) return [`${file}: contains no statement; write one or delete the migration`];
  const problems: string[] = [];
  let others = 0;
  for (let i = 0; i < statements.length; i++) {
    if (i % STEP_STATEMENTS === 0) yield;
    const refusal = refusalOf(REFUSALS, statements.at(i), isTransactional);
    if (!refusal) continue;
    if (problems.length === MOST_REPORTED) others++;
    else problems.push(`${file}:${statements.lineOf(i)}: statement ${i + 1} ${refusal.reason}`);
  }
  if (others > 0) problems.push(`${file}: ${others} more statements cannot run`);
  return problems;
}

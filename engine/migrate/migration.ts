/** A migration: one SQL file with a version. In: the text of a file. Out: its statements with their lines, its checksum, and the problems
 *  that prevent it from running.
 *  Not here: folders (read-migrations.ts), what has run (record.ts), running it (run-file.ts). */
import { createHash } from 'node:crypto';
import { splitStatements } from '../catalog/split-statements.ts';
import { pieceAt } from '../catalog/sql-pieces.ts';

export type MigrationStatement = {
  readonly text: string;
  /** The line in the file of the first word of the statement, from 1. */
  readonly line: number;
};

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
  readonly statements: readonly MigrationStatement[];
};

/** The first line of a file whose statements run one by one, each outside of a transaction. */
export const NO_TRANSACTION = '-- pergola: no-transaction';

const DIRECTIVE = /^--\s*pergola:\s*(.*?)\s*$/i;

/** Returns the migration in a text. */
export function parseMigration(
  identity: Pick<Migration, 'version' | 'name' | 'file'>,
  given: string,
): Migration {
  const text = given.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const { version, name, file } = identity;
  return {
    version,
    name,
    file,
    sha256: sha256Of(text),
    isTransactional: directiveIn(text) !== 'no-transaction',
    statements: statementsIn(text),
  };
}

/** Returns the checksum of the first `count` statements, so that a run can continue in a file whose other statements were edited. */
export function checksumOfFirst({ statements }: Migration, count: number): string {
  return sha256Of(
    statements
      .slice(0, count)
      .map(({ text }) => text)
      .join(';'),
  );
}

/** Orders versions as numbers. */
export function compareVersions(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : Number(a > b));
}

/** Returns the first line's directive in lower case; undefined when there is none. */
function directiveIn(text: string): string | undefined {
  const [line = ''] = text.split('\n', 1);
  return DIRECTIVE.exec(line)?.[1]?.toLowerCase();
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function statementsIn(text: string): readonly MigrationStatement[] {
  let from = 0;
  return splitStatements(text).map((statement) => {
    const start = text.indexOf(statement, from);
    from = start + statement.length;
    const skipped = startOfWords(statement);
    return { text: statement.slice(skipped), line: lineAt(text, start + skipped) };
  });
}

/** Returns the line of a position in a text, from 1. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

/** Returns the position after the leading comments and white space. */
function startOfWords(statement: string): number {
  let at = 0;
  for (; at < statement.length; ) {
    const { kind, text, end } = pieceAt(statement, at);
    if (kind !== 'comment' && text.trim() !== '') return at;
    at = end;
  }
  return at;
}

/** A statement that cannot run as part of a file, and the reason. The first match counts. */
type Refusal = {
  readonly of: RegExp;
  /** True when the statement may run in a file without a transaction. */
  readonly isFineOutside?: boolean;
  readonly reason: string;
};

/** Statements that only psql can run. */
const OF_PSQL: readonly Refusal[] = [
  { of: /^\\/, reason: 'is a command of psql, not SQL; remove it' },
  {
    of: /^copy\b[\s\S]*\bfrom\s+(stdin|program)\b/i,
    reason: 'reads rows from outside of the database; use insert, as pg_dump --inserts writes it',
  },
];

const REFUSALS: readonly Refusal[] = [
  ...OF_PSQL,
  {
    of: /^(begin|start\s+transaction|commit|end|rollback(?!\s+to\b)|abort|prepare\s+transaction)\b/i,
    reason: `begins or ends a transaction; remove it: a file runs in one transaction, or, with the first line "${NO_TRANSACTION}", in none`,
  },
  {
    of: /^(create\s+(unique\s+)?index|drop\s+index|reindex\b[\s\S]*)\s+concurrently\b/i,
    isFineOutside: true,
    reason: `cannot run in a transaction; begin the file with the line "${NO_TRANSACTION}"`,
  },
  {
    of: /^(vacuum\b|create\s+database\b|drop\s+database\b|alter\s+system\b|create\s+tablespace\b|drop\s+tablespace\b)/i,
    isFineOutside: true,
    reason: `cannot run in a transaction; begin the file with the line "${NO_TRANSACTION}"`,
  },
];

/** Returns why only psql can run the statement; undefined when the database can. */
export function psqlProblem(statement: string): string | undefined {
  return OF_PSQL.find(({ of }) => of.test(statement))?.reason;
}

/** Returns what prevents a migration from running. */
export function contentProblems(migration: Migration, text: string): readonly string[] {
  const { file, statements, isTransactional } = migration;
  const directive = directiveIn(text.replace(/^\uFEFF/, ''));
  if (directive !== undefined && directive !== 'no-transaction') {
    return [`${file}:1: unknown directive "${directive}"; the only one is "${NO_TRANSACTION}"`];
  }
  if (statements.length === 0) return [`${file}: contains no statement; write one or delete the migration`];
  return statements.flatMap(({ text: statement, line }, i) => {
    const refusal = REFUSALS.find(
      ({ of, isFineOutside }) => of.test(statement) && !(isFineOutside && !isTransactional),
    );
    return refusal ? [`${file}:${line}: statement ${i + 1} ${refusal.reason}`] : [];
  });
}

/** The flags of `pergola migrate`: one table for parsing, for which command takes which, and for help.
 *  Out: the flags. Raises FlagProblem. Environment: ENGINE_GRAPHQL_DATABASE_URL, ENGINE_GRAPHQL_ADMIN_SECRET,
 *  ENGINE_GRAPHQL_HEADER_PREFIX. */
import type { EngineAddress } from '../../operator/engine/address.ts';
import { FlagProblem } from '../../operator/folder/flag-problem.ts';
import { engineAddressOf, type Flag, flagLine, parseFlagTable } from '../../operator/folder/flag-table.ts';
import type { Subcommands } from '../completion/flags.ts';

type CommandName = 'create' | 'up' | 'status' | 'verify';
type MigrateFlag = Flag & { readonly of: readonly CommandName[] };

const ALL = ['create', 'up', 'status', 'verify'] as const;
const OF_DATABASE = ['up', 'status', 'verify'] as const;
const UP = ['up'] as const;

const FLAGS = {
  folder: {
    of: ALL,
    short: 'f',
    value: 'FOLDER',
    doc: 'the migrations (required); FOLDER/SOURCE if it exists',
  },
  source: { of: ALL, value: 'NAME', doc: 'the name of the source; default default' },
  'database-url': { of: OF_DATABASE, value: 'URL', doc: 'the database; default ENGINE_GRAPHQL_DATABASE_URL' },
  output: { of: OF_DATABASE, short: 'o', value: 'FORMAT', values: ['text', 'json'], doc: 'the format' },
  'no-transaction': { of: ['create'], doc: 'for statements that cannot run in a transaction' },
  'lock-timeout': {
    of: UP,
    value: 'SECONDS',
    doc: 'how long a statement waits for a lock of a table; default 5',
  },
  'lock-retries': { of: UP, value: 'N', doc: 'how often to try again after that, with pauses; default 10' },
  wait: { of: UP, value: 'SECONDS', doc: 'how long to wait for another run; default 600' },
  'allow-out-of-order': { of: UP, doc: 'run pending versions that are below an applied one' },
  'allow-missing': { of: ['up', 'verify'], doc: 'accept that files of applied versions are gone' },
  'resume-from': { of: UP, value: 'N', doc: 'continue the unfinished version with its statement N' },
  'mark-applied': {
    of: UP,
    value: 'VERSION',
    isList: true,
    doc: 'record VERSION as applied, as its file is now, without running it; repeatable',
  },
  adopt: { of: UP, doc: 'count as applied what the command line of Hasura has run' },
  engine: { of: UP, value: 'URL', doc: 'with --adopt: read that record from this engine' },
  'admin-secret': { of: UP, value: 'TEXT', doc: 'with --engine; default ENGINE_GRAPHQL_ADMIN_SECRET' },
  'header-prefix': { of: UP, value: 'TEXT', doc: 'with --engine; default ENGINE_GRAPHQL_HEADER_PREFIX' },
  help: { of: ALL, short: 'h', doc: 'this text' },
} as const satisfies Record<string, MigrateFlag>;

type FlagName = keyof typeof FLAGS;

const DOCS: Readonly<Record<CommandName, readonly [words: string, doc: string]>> = {
  create: ['create NAME', 'write the file of a new migration'],
  up: [
    'up',
    'run what has not run, in order; a second run at the same time waits, and then has nothing to do',
  ],
  status: [
    'status',
    'the state of every version: applied, pending, out-of-order, changed, missing, running, interrupted, failed, unknown',
  ],
  verify: ['verify', 'exit with 1 unless what ran is what the files say; pending migrations are fine'],
};

/** The commands of `migrate`, with the flags that each takes. */
export const SUBCOMMANDS: Subcommands = Object.fromEntries(
  ALL.map((name) => [name, { doc: DOCS[name][1], flags: flagsOf(name) }]),
);

function flagsOf(command: CommandName): readonly string[] {
  const rows = Object.entries<MigrateFlag>(FLAGS);
  return rows.filter(([, { of }]) => of.includes(command)).map(([name]) => name);
}

export const HELP = `pergola migrate: versioned SQL for the database of a source.

  pergola migrate create add_isbn -f migrations     write a new, empty migration
  pergola migrate status -f migrations --database-url postgres://…
  pergola migrate up -f migrations --database-url postgres://…
  pergola migrate verify -f migrations --database-url postgres://…

${Object.values(DOCS)
  .map(([words, doc]) => `  ${words.padEnd(12)} ${doc}`)
  .join('\n')}

A migration is VERSION_NAME.sql or VERSION_NAME/up.sql. It runs in one transaction. A file whose first line is
"-- pergola: no-transaction" runs statement by statement, as create index concurrently requires. The record of what ran is in the
database, in the schema pergola_migrations.

If a statement without a transaction fails or its run is killed, up stops and says at which statement. Look at the database, then run
up with --resume-from N or --mark-applied VERSION.

${Object.entries(FLAGS).map(lineOf).join('\n')}

Exit codes: 0 done, 1 anything wrong, 2 from status: migrations are pending.
Guide: docs/guides/migrations.md
`;

export type MigrateFlags = {
  readonly folder: string;
  readonly source: string;
  /** Words that are no flags. */
  readonly words: readonly string[];
  readonly isJson: boolean;
  readonly has: (name: FlagName) => boolean;
  readonly text: (name: FlagName) => string | undefined;
  readonly texts: (name: FlagName) => readonly string[];
  /** Returns the flag's whole number. Raises FlagProblem for anything else. */
  readonly number: (name: FlagName) => number | undefined;
  /** Returns the URL of the database. Raises FlagProblem when there is none. */
  readonly databaseUrl: () => string;
  /** Returns the engine of `--engine`; undefined without it. */
  readonly engine: () => EngineAddress | undefined;
};

/** Returns the flags of a command; undefined when they ask for help. Raises FlagProblem. */
export function parseMigrateFlags(command: CommandName, argv: readonly string[]): MigrateFlags | undefined {
  const { values, words } = parseFlagTable(FLAGS, argv, { hasWords: true });
  if (values['help'] === true) return undefined;
  const foreign = Object.keys(values).find(
    (name) => !(FLAGS[name as FlagName].of as readonly string[]).includes(command),
  );
  if (foreign !== undefined) throw new FlagProblem(`migrate ${command} has no flag --${foreign}`);
  if (command !== 'create' && words.length > 0) {
    throw new FlagProblem(`unexpected ${JSON.stringify(words[0])}; the folder is -f FOLDER`);
  }
  const texts = (name: FlagName) => [values[name] ?? []].flat().filter((value) => typeof value === 'string');
  const text = (name: FlagName) => texts(name).at(-1);
  const folder = text('folder');
  if (folder === undefined) throw new FlagProblem('the folder of the migrations is required: -f FOLDER');
  return {
    folder,
    source: sourceIn(text('source')),
    words,
    isJson: text('output') === 'json',
    has: (name) => values[name] === true,
    text,
    texts,
    number: (name) => numberIn(name, text(name)),
    databaseUrl: () => databaseUrlIn(text('database-url')),
    engine: () => (values['engine'] === undefined ? undefined : engineAddressOf(values, 'pergola migrate')),
  };
}

function sourceIn(given: string | undefined): string {
  if (given === '' || given?.includes('/')) throw new FlagProblem('--source is the name of a source');
  return given ?? 'default';
}

function numberIn(name: FlagName, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,6}$/.test(text)) {
    throw new FlagProblem(`--${name} ${JSON.stringify(text)} is not a whole number`);
  }
  return Number(text);
}

function databaseUrlIn(given: string | undefined): string {
  const url = given ?? process.env['ENGINE_GRAPHQL_DATABASE_URL'];
  if (url) return url;
  throw new FlagProblem(
    'the database is required: --database-url postgres://… or ENGINE_GRAPHQL_DATABASE_URL',
  );
}

function lineOf([name, flag]: [string, MigrateFlag]): string {
  const of = flag.of.length === ALL.length ? '' : ` (${flag.of.join(', ')})`;
  return flagLine(name, flag) + of;
}

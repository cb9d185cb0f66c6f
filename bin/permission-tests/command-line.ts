/** The flags of `pergola test`. In: the arguments. Out: TestOptions; undefined for help. Raises FlagProblem. */
import { statSync } from 'node:fs';
import { FlagProblem } from '../../operator/folder/flag-problem.ts';
import {
  type FlagTable,
  flagLines,
  parseFlagTable,
  textOf,
  textsOf,
} from '../../operator/folder/flag-table.ts';
import { SQL_ORDER } from '../prepare-database.ts';
import { FORMATS, type Format } from './report.ts';

const FLAGS = {
  filename: {
    short: 'f',
    value: 'FOLDER',
    doc: 'the folder with resources, tests and *.sql files (required)',
  },
  only: { value: 'NAME', isList: true, doc: 'run this test only; may be repeated' },
  migrations: {
    value: 'FOLDER',
    doc: 'the migrations of the database; default FOLDER/migrations, if there is one',
  },
  'database-url': {
    value: 'URL',
    doc: `a Postgres server of your own, for example one with extensions; the tests create databases on it
                              and drop them, and the database that the URL names is not changed`,
  },
  coverage: { doc: 'print how many tests exercise each permission of a role on a table' },
  'min-coverage': { value: 'PERCENT', doc: 'exit with 1 when tests exercise fewer permissions than this' },
  mutate: {
    doc: `when all tests pass: serve wider permissions, without one of their restrictions or with one more
                              column or computed field, and report those that no test notices`,
  },
  output: { short: 'o', value: 'FORMAT', values: Object.keys(FORMATS), doc: 'the format' },
  help: { short: 'h', doc: 'print this help' },
} as const satisfies FlagTable;

export const HELP = `pergola test -f FOLDER: run the PermissionTests of a folder, without a cluster.

Starts a Postgres and an engine for the duration of the tests, applies the resources, and sends the request of each PermissionTest as its
role. ${SQL_ORDER}
It is the same with --database-url, and in pergola up. Every test starts from the data of these files. Triggers are not applied, and
every Source leads to this Postgres: no database and no webhook of a trigger outside is used.

${flagLines(FLAGS, { width: 27 })}

The engine takes its other options from the environment (ENGINE_GRAPHQL_*).
Exit codes: 0 every test passed, 1 a test failed, a permission is not noticed or the coverage is too low, 2 the tests could not run.
`;

export type TestOptions = {
  readonly folder: string;
  /** The folder of the migrations. */
  readonly migrations: string | undefined;
  readonly only: readonly string[];
  readonly databaseUrl: string | undefined;
  readonly showsCoverage: boolean;
  /** The lowest accepted coverage in percent; 0 accepts every coverage. */
  readonly minCoverage: number;
  readonly mutates: boolean;
  readonly format: Format;
};

export function parseTestFlags(argv: readonly string[]): TestOptions | undefined {
  const { values } = parseFlagTable(FLAGS, argv);
  if (values['help'] === true) return undefined;
  const migrations = textOf(values, 'migrations');
  const minCoverage = textOf(values, 'min-coverage');
  return {
    folder: folderIn(textOf(values, 'filename')),
    migrations: migrations === undefined ? undefined : folderIn(migrations),
    only: textsOf(values, 'only'),
    databaseUrl: urlIn(textOf(values, 'database-url')),
    showsCoverage: values['coverage'] === true || minCoverage !== undefined,
    minCoverage: percentIn(minCoverage ?? '0'),
    mutates: values['mutate'] === true,
    format: (textOf(values, 'output') ?? 'text') as Format,
  };
}

function folderIn(folder: string | undefined): string {
  if (!folder) throw new FlagProblem('the folder is required: -f FOLDER');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new FlagProblem(`there is no folder ${folder}`);
}

function urlIn(url: string | undefined): string | undefined {
  if (url === undefined || (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url))) return url;
  throw new FlagProblem('--database-url needs a URL such as postgres://user@host:5432/postgres');
}

function percentIn(text: string): number {
  const percent = Number(text);
  if (text.trim() !== '' && percent >= 0 && percent <= 100) return percent;
  throw new FlagProblem(`--min-coverage is a number from 0 to 100, not ${text}`);
}

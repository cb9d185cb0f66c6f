/** The flags of `pergola test`. In: the arguments. Out: TestOptions; undefined for help. Raises FlagProblem. */
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { FlagProblem } from '../../operator/folder/flag-problem.ts';
import { FORMATS, type Format } from './report.ts';

export const HELP = `pergola test -f FOLDER: run the PermissionTests of a folder, without a cluster.

Starts a Postgres and an engine for the duration of the tests, runs the migrations and then the other *.sql files of the folder, applies
the resources, and sends the request of each PermissionTest as its role. Every test starts from the data of these files.
Triggers are not applied, and every Source leads to this Postgres: no database and no webhook of a trigger outside is used.

  -f, --filename FOLDER       the folder with resources, tests and *.sql files (required)
      --only NAME             run this test only; may be repeated
      --migrations FOLDER     the migrations of the database; default FOLDER/migrations, if there is one
      --database-url URL      a Postgres server of your own, for example one with extensions; the tests create databases on it
                              and drop them, and the database that the URL names is not changed
      --coverage              print how many tests exercise each permission of a role on a table
      --min-coverage PERCENT  exit with 1 when tests exercise fewer permissions than this
      --mutate                when all tests pass: serve wider permissions, without a filter, a check or a limit, with one more
                              column or with aggregations, and report those that no test notices
  -o, --output FORMAT         ${Object.keys(FORMATS).join(', ')}; default text
  -h, --help                  print this help

The engine takes its other options from the environment (ENGINE_GRAPHQL_*).
Exit codes: 0 every test passed, 1 a test failed, a permission is not noticed or the coverage is too low, 2 the tests could not run.
`;

const FLAGS = {
  filename: { type: 'string', short: 'f' },
  only: { type: 'string', multiple: true },
  migrations: { type: 'string' },
  'database-url': { type: 'string' },
  coverage: { type: 'boolean', default: false },
  'min-coverage': { type: 'string' },
  mutate: { type: 'boolean', default: false },
  output: { type: 'string', short: 'o', default: 'text' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

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
  const values = valuesIn(argv);
  if (values.help) return undefined;
  return {
    folder: folderIn(values.filename),
    migrations: values.migrations === undefined ? undefined : folderIn(values.migrations),
    only: values.only ?? [],
    databaseUrl: urlIn(values['database-url']),
    showsCoverage: values.coverage || values['min-coverage'] !== undefined,
    minCoverage: percentIn(values['min-coverage'] ?? '0'),
    mutates: values.mutate,
    format: formatIn(values.output),
  };
}

function valuesIn(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: FLAGS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new FlagProblem((error as Error).message);
  }
}

function folderIn(folder: string | undefined): string {
  if (folder === undefined) throw new FlagProblem('the folder is required: -f FOLDER');
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

function formatIn(format: string): Format {
  if (Object.hasOwn(FORMATS, format)) return format as Format;
  throw new FlagProblem(`-o ${format} is not supported; there are ${Object.keys(FORMATS).join(', ')}`);
}

/** The command line of `pergola up` → its options, and the environment of the engine it starts. Every option of `pergola serve` is
 *  accepted, by its flag or its variable, and passed on as a variable, so that no secret is in the list of processes.
 *  Raises FlagProblem. Not here: what `serve` does with its options (engine/config). */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadOptions, OptionsError, takeArgument } from '../../engine/config/load-options.ts';
import { type OptionFlag, type Options, variableOf, variablesOf } from '../../engine/config/options.ts';
import { nearest } from '../../engine/errors/nearest.ts';
import { FlagProblem } from '../../operator/folder/flag-problem.ts';
import { SQL_ORDER } from '../prepare-database.ts';
import { USUAL_PORT } from './engine-process.ts';

/** The actions for SQL that was edited after it ran. */
const EDITED_SQL = ['refuse', 'down', 'recreate'] as const;
export type EditedSql = (typeof EDITED_SQL)[number];

export const HELP = `pergola up [FOLDER]: run Postgres, the engine, and the reconcile loop over a folder of custom resources.
${SQL_ORDER} New files are run as soon as they appear.
In your own database only Migration resources run, unless you give --run-sql: then all of it, in the same order.

      --port PORT           the port of the engine; default ${USUAL_PORT}, or the next free one; 0 is any free one
      --data DIR            the folder for the data and the admin secret; default .pergola; git ignores it
      --admin-secret TEXT   the admin secret; default ENGINE_GRAPHQL_ADMIN_SECRET, or one generated in the data folder
      --header-prefix TEXT  the prefix of the engine's headers and session variables, such as x-hasura-; default
                            ENGINE_GRAPHQL_HEADER_PREFIX, else x-engine-
      --database-url URL    your own database instead of the embedded one; the variable has no effect here
      --run-sql             run the SQL of FOLDER in your own database, too
      --migrations DIR      the migrations of the database; default FOLDER/migrations, if there is one
      --edited-sql ACTION   what to do with SQL that was edited after it ran, while you develop: refuse (default) names it; down undoes
                            the newest migration with its down.sql, and runs it again; recreate deletes all data of the embedded
                            database, and runs all SQL again
      --init                write resources for the tables of the database into FOLDER (default resources) first; files that exist
                            are unchanged. Without FOLDER, a terminal is asked when your own database has no resources
  -h, --help                print this text

Every option of pergola serve is an option of up too, also after --, and so is its variable:
  pergola up shop --enable-allowlist --unauthorized-role visitor
  pergola serve --help      print them
`;

export type UpOptions = {
  readonly folder: string;
  /** True when the command line names the folder. */
  readonly isFolderNamed: boolean;
  /** True when resources are written first, by --init. */
  readonly isInit: boolean;
  readonly port: number | undefined;
  readonly data: string;
  readonly adminSecret: string | undefined;
  /** The origin of the admin secret: the state folder, the variable that other commands read, or elsewhere, such as a flag. */
  readonly secretFrom: 'state' | 'variable' | 'given';
  readonly headerPrefix: string;
  /** True when the SQL of the folder runs in the database of the user, too. */
  readonly runsSql: boolean;
  /** The folder of the migrations. */
  readonly migrations: string | undefined;
  readonly editedSql: EditedSql;
  readonly databaseUrl: string | undefined;
  readonly metadataDatabaseUrl: string | undefined;
  readonly host: string;
  readonly hasConsole: boolean;
  /** True when the caller gives the key of the named values. */
  readonly hasValuesKey: boolean;
  /** The variables of the engine's options that flags set, and of those with another default here. */
  readonly engineEnvironment: Readonly<Record<string, string>>;
};

/** Returns undefined when the help is asked for. */
export function parseUp(argv: readonly string[], env: NodeJS.ProcessEnv): UpOptions | undefined {
  const line = splitArguments(argv);
  if (line.own.has('help')) return undefined;
  const isInit = line.own.has('init');
  const mayBeNew = isInit && line.given.has('database-url') && !line.own.has('run-sql');
  const folder = folderOf(line.folders, mayBeNew);
  const set = (flag: OptionFlag) =>
    line.given.get(flag) ??
    variablesOf(flag)
      .map((name) => env[name])
      .find(Boolean);
  const options = engineOptions(line, env);
  const adminSecret = set('admin-secret');
  // The variable by which `plan` finds the secret, too.
  const isVariable = !line.given.has('admin-secret') && adminSecret === env[variableOf('admin-secret')];
  return {
    folder,
    isFolderNamed: line.folders.length > 0,
    isInit,
    port: portOf(line.own.get('port') ?? set('server-port')),
    data: line.own.get('data') ?? '.pergola',
    adminSecret,
    secretFrom: adminSecret === undefined ? 'state' : isVariable ? 'variable' : 'given',
    headerPrefix: options.headerPrefix,
    ...sqlOptions(line),
    databaseUrl: line.given.get('database-url'),
    metadataDatabaseUrl: line.given.get('metadata-database-url'),
    host: set('server-host') === undefined ? '127.0.0.1' : options.serverHost,
    hasConsole: set('enable-console') === undefined || options.enableConsole,
    hasValuesKey: options.valuesKey !== undefined || options.valuesKeyFile !== undefined,
    engineEnvironment: {
      ...Object.fromEntries([...line.given].map(([flag, value]) => [variableOf(flag), value])),
      // The engine is the developer's own.
      [variableOf('console-mode')]: set('console-mode') ?? 'edit',
      [variableOf('enabled-log-types')]: [...new Set([...options.enabledLogTypes, ...DELIVERY_LOGS])].join(
        ',',
      ),
    },
  };
}

/** The types of log lines from which failed deliveries of events are printed (engine-log.ts). */
export const DELIVERY_LOGS = ['event-trigger', 'scheduled-trigger'] as const;

function sqlOptions({ own, given }: CommandLine): Pick<UpOptions, 'runsSql' | 'migrations' | 'editedSql'> {
  const migrations = own.get('migrations');
  const action = own.get('edited-sql') ?? 'refuse';
  const editedSql = EDITED_SQL.find((each) => each === action);
  if (editedSql === undefined) {
    throw new FlagProblem(`--edited-sql ${action} is not supported; use ${EDITED_SQL.join(', ')}`);
  }
  const isOwnDatabase = given.has('database-url');
  if (own.has('run-sql') && !isOwnDatabase) {
    throw new FlagProblem('--run-sql needs --database-url; in the embedded database the SQL is run anyway');
  }
  if (editedSql === 'recreate' && isOwnDatabase) {
    throw new FlagProblem(
      '--edited-sql recreate is for the embedded database; in your own, use --edited-sql down',
    );
  }
  if (editedSql === 'down' && isOwnDatabase && !own.has('run-sql')) {
    throw new FlagProblem('--edited-sql down needs --run-sql in your own database');
  }
  return {
    runsSql: own.has('run-sql'),
    migrations: migrations === undefined ? undefined : folderAt(migrations),
    editedSql,
  };
}

const OWN_VALUES: readonly string[] = ['port', 'data', 'migrations', 'edited-sql'];
const OWN_FLAGS: ReadonlyMap<string, string> = new Map([
  ['-h', 'help'],
  ['--help', 'help'],
  ['--init', 'init'],
  ['--port', 'port'],
  ['--data', 'data'],
  ['--run-sql', 'run-sql'],
  ['--migrations', 'migrations'],
  ['--edited-sql', 'edited-sql'],
]);

type CommandLine = {
  readonly own: ReadonlyMap<string, string>;
  readonly folders: readonly string[];
  /** The arguments for the engine, and the options among them. */
  readonly engine: readonly string[];
  readonly given: ReadonlyMap<OptionFlag, string>;
};

function splitArguments(argv: readonly string[]): CommandLine {
  const own = new Map<string, string>();
  const given = new Map<OptionFlag, string>();
  const folders: string[] = [];
  const engine: string[] = [];
  for (let i = 0; i < argv.length; ) {
    const argument = argv[i]!;
    const [written = '', inline] = argument.split(/=(.*)/s);
    const name = OWN_FLAGS.get(written);
    if (argument === '--') {
      i += 1;
    } else if (name !== undefined) {
      const takesNext = OWN_VALUES.includes(name) && inline === undefined;
      if (inline !== undefined && !OWN_VALUES.includes(name)) {
        throw new FlagProblem(`${written} has no value; write ${written}`);
      }
      if (OWN_VALUES.includes(name) && own.has(name))
        throw new FlagProblem(`${written} is given twice; give it once`);
      if (takesNext) refuseFlagAsValue(written, argv[i + 1]);
      own.set(name, (takesNext ? argv[i + 1] : inline) ?? missingValue(written));
      i += takesNext ? 2 : 1;
    } else if (argument.startsWith('-')) {
      const taken = takeArgument(argv, i);
      if (taken.kind === 'option') {
        if (taken.count === 2) refuseFlagAsValue(written, argv[i + 1]);
        if (given.has(taken.flag)) throw new FlagProblem(`${written} is given twice; give it once`);
        given.set(taken.flag, taken.value);
      }
      if (taken.kind === 'unknown') refuseMisspelt(written);
      engine.push(...argv.slice(i, i + taken.count));
      i += taken.count;
    } else {
      folders.push(argument);
      i += 1;
    }
  }
  return { own, folders, engine, given };
}

/** Raises FlagProblem when the word after a flag is a flag of `up`, so that `--admin-secret --help` does not set the secret. */
function refuseFlagAsValue(flag: string, next = ''): void {
  if (OWN_FLAGS.has(next.split('=')[0]!))
    throw new FlagProblem(`${flag} needs a value, and ${next} is a flag`);
}

function missingValue(flag: string): string {
  if (OWN_VALUES.includes(OWN_FLAGS.get(flag)!)) throw new FlagProblem(`${flag} needs a value`);
  return '';
}

/** Raises FlagProblem when the flag is nearly one of `up` itself. `serve` reports all others. */
function refuseMisspelt(flag: string): void {
  const near = nearest(flag, [...OWN_FLAGS.keys()]);
  if (near !== undefined) throw new FlagProblem(`there is no flag ${flag}; did you mean ${near}?`);
}

function folderOf(folders: readonly string[], mayBeNew: boolean): string {
  if (folders.length > 1) throw new FlagProblem(`expected one folder, not ${folders.join(' and ')}`);
  const folder = resolve(folders[0] ?? '.');
  return mayBeNew && !existsSync(folder) ? folder : folderAt(folder);
}

function folderAt(path: string): string {
  const folder = resolve(path);
  if (!existsSync(folder)) throw new FlagProblem(`there is no folder ${folder}`);
  if (!statSync(folder).isDirectory())
    throw new FlagProblem(`${folder} is a file; give the folder that contains it`);
  return folder;
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = text === '' ? Number.NaN : Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65536) return port;
  throw new FlagProblem(`--port ${text} is no port`);
}

/** Returns the options that the engine will have. `up` provides a database and a secret later, so that texts stand for them here. */
function engineOptions({ engine, given }: CommandLine, env: NodeJS.ProcessEnv): Options {
  const provided = {
    [variableOf('database-url')]: 'postgres://localhost',
    ...(given.has('admin-secret') ? {} : { [variableOf('admin-secret')]: 'generated' }),
  };
  try {
    return loadOptions(engine, { ...env, ...provided });
  } catch (error) {
    if (error instanceof OptionsError) throw new FlagProblem(error.problems.join('\n'));
    throw error;
  }
}

/** `pergola init --database-url URL -o FOLDER`: reads a database and writes custom resources for it, as people would have written them. A
 *  second run writes what is new, suggests what belongs in files that exist, and changes none of them.
 *  Exit codes: 0 written or nothing new, 1 not (it says why), 2 wrong flags.
 *  Not here: the parts (init/): reading the database, what is proposed, resources, the summary. */
import { optionAddress } from '../engine/database/connect.ts';
import { nearest } from '../engine/errors/nearest.ts';
import { FlagProblem, runCommand } from '../operator/folder/flag-problem.ts';
import {
  type FlagTable,
  type FlagValues,
  flagLines,
  parseFlagTable,
  textOf,
  textsOf,
} from '../operator/folder/flag-table.ts';
import { SCHEMAS_FLAG, schemaBaseOf } from '../operator/folder/schemas.ts';
import { type InitOptions, printNewResources, writeNewResources } from './init/init-folder.ts';

const FLAGS = {
  'database-url': { value: 'URL', doc: 'the database; default ENGINE_GRAPHQL_DATABASE_URL' },
  output: { short: 'o', value: 'FOLDER', doc: 'the folder to write, or - for standard output (required)' },
  schema: {
    value: 'NAME',
    isList: true,
    doc: 'only this schema; repeatable. Default: all but those of tools',
  },
  role: { value: 'NAME', doc: 'write permissions of this role, with --readable' },
  readable: { doc: 'the role reads every table, except columns whose name says secret' },
  source: { value: 'NAME', doc: 'the source that the tables belong to; default default' },
  'engine-ref': { value: 'NAME', doc: 'the Engine that the resources refer to; default none' },
  namespace: { short: 'n', value: 'NAME', doc: 'the namespace of the resources; default none' },
  ...SCHEMAS_FLAG,
  help: { short: 'h', doc: 'print this help' },
} as const satisfies FlagTable;

const HELP = `pergola init --database-url URL -o FOLDER: write custom resources for a database that exists.

  pergola init --database-url postgres://localhost/shop -o resources
  pergola init --database-url postgres://localhost/shop -o resources --role reader --readable
  pergola up resources --database-url postgres://localhost/shop

It writes a Table for each table and view, with relationships along foreign keys, enum tables and computed fields, and a Function for each
function that returns rows of a table. Views have relationships along the keys of tables that they return. Without --role, only
administrators see anything. Run it again after a change of the database: it writes what is new, prints what belongs in files that exist,
and changes no file.

${flagLines(FLAGS, { width: 26 })}
`;

type InitFlags = InitOptions & {
  /** The folder; undefined for standard output. */
  readonly folder: string | undefined;
};

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('init', () => optionsOf(argv), init, { help: HELP });
}

/** Writes or prints the resources, then the summary. */
async function init({ folder, ...options }: InitFlags): Promise<number> {
  if (folder !== undefined) {
    process.stdout.write(await writeNewResources(folder, options));
    return 0;
  }
  const { text, summary } = await printNewResources(options);
  process.stdout.write(text);
  process.stderr.write(summary);
  return 0;
}

/** Returns undefined when help is wanted. */
function optionsOf(argv: readonly string[]): InitFlags | undefined {
  const values = parsed(argv);
  if (values['help'] === true) return undefined;
  const text = (name: keyof typeof FLAGS) => textOf(values, name);
  const url = text('database-url') ?? (process.env['ENGINE_GRAPHQL_DATABASE_URL'] || undefined);
  if (url === undefined) {
    throw new FlagProblem('the database is required: --database-url postgres://USER:PASSWORD@HOST/DATABASE');
  }
  const output = text('output');
  if (!output) throw new FlagProblem('the folder is required: -o FOLDER, or -o - for standard output');
  const role = text('role');
  if (role !== undefined && values['readable'] !== true) {
    throw new FlagProblem(`--role ${role} needs --readable, which lets it read every table`);
  }
  if (role === undefined && values['readable'] === true) {
    throw new FlagProblem('--readable needs --role NAME, the role that reads');
  }
  if (role === 'admin') {
    throw new FlagProblem(
      'the role admin reads and writes everything without permissions; name another role',
    );
  }
  requireUrl(url);
  return {
    url,
    folder: output === '-' ? undefined : output,
    schemas: textsOf(values, 'schema'),
    role,
    source: text('source') ?? 'default',
    engineRef: text('engine-ref'),
    namespace: text('namespace'),
    schemaBase: schemaBaseOf(text('schemas')),
  };
}

function requireUrl(url: string): void {
  try {
    optionAddress(url);
  } catch (error) {
    throw new FlagProblem(error instanceof Error ? error.message : String(error));
  }
}

function parsed(argv: readonly string[]): FlagValues {
  const unknown = argv.find((word) => /^--[a-z]/.test(word) && !Object.hasOwn(FLAGS, flagOf(word)));
  if (unknown !== undefined) {
    const near = nearest(flagOf(unknown), Object.keys(FLAGS));
    throw new FlagProblem(
      `there is no flag ${unknown.split('=')[0]}${near ? `; did you mean --${near}?` : ''}`,
    );
  }
  const { values, words } = parseFlagTable(FLAGS, argv, { hasWords: true });
  const [word] = words;
  if (word !== undefined) throw new FlagProblem(`${word} is no flag; for a folder write -o ${word}`);
  return values;
}

function flagOf(word: string): string {
  return word.slice(2).split('=')[0]!;
}

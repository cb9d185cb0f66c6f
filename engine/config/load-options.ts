/** Arguments and environment → Options, or one error that lists all problems. A flag overrides its variable; an empty
 *  variable counts as unset. An unknown variable is ignored, because it may be for another version; an unknown flag
 *  is an error, because it may be a typing mistake.
 *  Not here: the rows (options.ts), their parsers (option-types.ts). */
import { nearest } from '../errors/nearest.ts';
import { booleanOf, OptionValueError } from './option-types.ts';
import { nameOf, OPTIONS, type OptionFlag, type OptionRow, type Options, variableOf } from './options.ts';

/** Raised for invalid options. `problems` are sentences without secrets. */
export class OptionsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'OptionsError';
    this.problems = problems;
  }
}

/** Loads the options. `argv` is without program and command. Throws OptionsError. */
export function loadOptions(argv: readonly string[], env: NodeJS.ProcessEnv): Options {
  const problems: string[] = [];
  const given = flagsOf(argv, problems);
  const entries = FLAGS.map((flag) => [nameOf(flag), settingOf(flag, given, env, problems)] as const);
  const options = Object.fromEntries(entries) as unknown as Options;
  if (problems.length === 0) problems.push(...contradictionsOf(options));
  if (problems.length > 0) throw new OptionsError(problems);
  return options;
}

const FLAGS = Object.keys(OPTIONS) as OptionFlag[];

type Given = ReadonlyMap<OptionFlag, string>;

/** Parses `--flag value`, `--flag=value`, and a bare `--flag` for true. The last occurrence counts. */
function flagsOf(argv: readonly string[], problems: string[]): Given {
  const given = new Map<OptionFlag, string>();
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    const [name, inline] = splitAtEquals(argument);
    if (!isFlag(name)) {
      problems.push(unknown(argument, name));
      if (inline === undefined && argument.startsWith('--') && !argv[i + 1]?.startsWith('--')) i++;
      continue;
    }
    const isBoolean = OPTIONS[name].type.isBoolean === true;
    const next = argv[i + 1];
    const takesNext =
      inline === undefined && next !== undefined && (!isBoolean || booleanOf(next) !== undefined);
    if (takesNext) i++;
    const value = inline ?? (takesNext ? next : isBoolean ? 'true' : '');
    if (value === '') problems.push(`--${name} needs a value`);
    given.set(name, value);
  }
  return given;
}

function splitAtEquals(argument: string): readonly [string, string | undefined] {
  const name = argument.replace(/^--/, '');
  const equals = name.indexOf('=');
  if (!argument.startsWith('--')) return ['', undefined];
  return equals < 0 ? [name, undefined] : [name.slice(0, equals), name.slice(equals + 1)];
}

function isFlag(name: string): name is OptionFlag {
  return Object.hasOwn(OPTIONS, name);
}

/** Describes an unknown argument. A value without a flag is not repeated: it may be a secret. */
function unknown(argument: string, name: string): string {
  if (!argument.startsWith('--')) return 'there is a value that belongs to no flag';
  const suggestion = nearest(name, FLAGS);
  return `there is no flag --${name}${suggestion ? `; did you mean --${suggestion}?` : ''}`;
}

function settingOf(flag: OptionFlag, given: Given, env: NodeJS.ProcessEnv, problems: string[]): unknown {
  const row: OptionRow<unknown> = OPTIONS[flag];
  const text = given.get(flag) ?? env[variableOf(flag)];
  if (text === undefined || text === '') return row.default;
  try {
    return row.type.parse(text);
  } catch (error) {
    if (!(error instanceof OptionValueError)) throw error;
    problems.push(`${given.has(flag) ? `--${flag}` : variableOf(flag)} ${error.message}`);
    return row.default;
  }
}

function contradictionsOf(options: Options): readonly string[] {
  const { databaseUrl, metadataDatabaseUrl, adminSecret, adminSecrets, authHook } = options;
  const hasTokens = options.jwtSecret !== undefined || options.jwtSecrets !== undefined;
  const hasSecret = adminSecret !== undefined || adminSecrets !== undefined;
  const problems: readonly (readonly [boolean, string])[] = [
    [
      databaseUrl === undefined && metadataDatabaseUrl === undefined,
      'a database is needed: --database-url postgres://…, or ENGINE_GRAPHQL_DATABASE_URL',
    ],
    [
      (hasTokens || authHook !== undefined) && !hasSecret,
      'tokens and an authentication hook need an admin secret beside them: --admin-secret',
    ],
    [hasTokens && authHook !== undefined, '--jwt-secret and --auth-hook exclude each other'],
  ];
  return problems.flatMap(([isSo, problem]) => (isSo ? [problem] : []));
}

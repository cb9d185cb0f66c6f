/** Arguments and environment → Options, or one error that lists all problems. A flag overrides its variables, of which the first
 *  that is set counts (options.ts); an empty variable counts as unset. An unknown variable is ignored, because it may be for
 *  another version; an unknown flag is an error, because it may be a typing mistake. Options that only the reference engine has
 *  are accepted: `foreignSettings` names them for the log.
 *  Not here: the rows (options.ts), their parsers (option-types.ts). */
import { resolve, sep } from 'node:path';
import { nearest } from '../errors/nearest.ts';
import { referenceValue } from './compatibility.ts';
import { booleanOf, OptionValueError } from './option-types.ts';
import {
  FOREIGN_PREFIX,
  nameOf,
  OPTIONS,
  type OptionFlag,
  type OptionRow,
  type Options,
  variableOf,
  variablesOf,
  variablesWithoutEffect,
  WITHOUT_EFFECT,
} from './options.ts';

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
  const { flags: given } = flagsOf(argv, problems);
  const isReference = settingOf('compatibility', given, env, []) === 'reference';
  const entries = FLAGS.map((flag) => {
    const setting = settingOf(flag, given, env, problems);
    return [
      nameOf(flag),
      setting ?? (isReference ? referenceValue(flag) : undefined) ?? OPTIONS[flag].default,
    ];
  });
  const options = Object.fromEntries(entries) as unknown as Options;
  if (problems.length === 0) problems.push(...contradictionsOf(options));
  if (problems.length > 0) throw new OptionsError(problems);
  return options;
}

const FLAGS = Object.keys(OPTIONS) as OptionFlag[];

/** The options by every name of their flag. */
const BY_FLAG = new Map(
  FLAGS.flatMap((flag) => {
    const { alsoFlags = [] }: OptionRow<unknown, unknown> = OPTIONS[flag];
    return [flag, ...alsoFlags].map((name) => [name, flag] as const);
  }),
);

/** The names of settings that come from the reference engine, without their values. */
export type ForeignSettings = {
  /** Variables that are read in place of the engine's own. */
  readonly aliases: readonly string[];
  /** Options, or parts of an option's value, that are accepted and do nothing. */
  readonly withoutEffect: readonly string[];
};

export function foreignSettings(argv: readonly string[], env: NodeJS.ProcessEnv): ForeignSettings {
  const { flags, withoutEffect } = flagsOf(argv, []);
  const sources = FLAGS.map((flag) => ({ flag, ...sourceOf(flag, flags, env) }));
  const parts = sources.flatMap(({ flag, name, text }) =>
    (OPTIONS[flag].type.ignored?.(text ?? '') ?? []).map((part) => `${name}: ${part}`),
  );
  const variables = Object.keys(WITHOUT_EFFECT).flatMap(variablesWithoutEffect);
  return {
    aliases: sources.map(({ name }) => name).filter((name) => name.startsWith(FOREIGN_PREFIX)),
    withoutEffect: [...withoutEffect, ...variables.filter((name) => env[name]), ...parts],
  };
}

type Given = ReadonlyMap<OptionFlag, string>;

type Arguments = { readonly flags: Given; readonly withoutEffect: readonly string[] };

/** Parses `--flag value`, `--flag=value`, and a bare `--flag` for true. The last occurrence counts. */
function flagsOf(argv: readonly string[], problems: string[]): Arguments {
  const given = new Map<OptionFlag, string>();
  const withoutEffect: string[] = [];
  for (let i = 0; i < argv.length; ) {
    const taken = takeArgument(argv, i);
    i += taken.count;
    if (taken.kind === 'unknown') problems.push(unknown(argv[i - taken.count]!));
    else if (taken.kind === 'without effect') withoutEffect.push(`--${taken.written}`);
    else {
      const { flag, value } = taken;
      const { whenEmpty }: OptionRow<unknown> = OPTIONS[flag];
      if (value === '' && whenEmpty === undefined) problems.push(`--${flag} needs a value`);
      given.set(flag, value);
    }
  }
  return { flags: given, withoutEffect };
}

/** An argument of the command line. `count` is 2 when the next argument is its value. */
export type TakenArgument = { readonly count: number } & (
  | { readonly kind: 'option'; readonly flag: OptionFlag; readonly value: string }
  | { readonly kind: 'without effect'; readonly written: string }
  | { readonly kind: 'unknown' }
);

/** Reads the argument at a position, and its value if it has one. */
export function takeArgument(argv: readonly string[], i: number): TakenArgument {
  const argument = argv[i]!;
  const next = argv[i + 1];
  const [written, inline] = splitAtEquals(argument);
  const flag = BY_FLAG.get(written);
  if (flag === undefined) {
    const skipsNext = inline === undefined && argument.startsWith('-') && !next?.startsWith('-');
    const count = skipsNext && next !== undefined ? 2 : 1;
    return Object.hasOwn(WITHOUT_EFFECT, written)
      ? { kind: 'without effect', written, count }
      : { kind: 'unknown', count };
  }
  const isBoolean = OPTIONS[flag].type.isBoolean === true;
  const takesNext =
    inline === undefined && next !== undefined && (!isBoolean || booleanOf(next) !== undefined);
  const value = inline ?? (takesNext ? next : isBoolean ? 'true' : '');
  return { kind: 'option', flag, value, count: takesNext ? 2 : 1 };
}

function splitAtEquals(argument: string): readonly [string, string | undefined] {
  const name = argument.replace(/^--?/, '');
  const equals = name.indexOf('=');
  if (!argument.startsWith('-')) return ['', undefined];
  return equals < 0 ? [name, undefined] : [name.slice(0, equals), name.slice(equals + 1)];
}

/** Describes an unknown argument. A value without a flag is not repeated: it may be a secret. */
function unknown(argument: string): string {
  if (!argument.startsWith('-')) return 'there is a value that belongs to no flag';
  const [name] = splitAtEquals(argument);
  // Such as --port: pergola up has that, and pergola serve --server-port.
  const ofThisName = FLAGS.filter((flag) => flag.endsWith(`-${name}`));
  const suggestion = ofThisName.length === 1 ? ofThisName[0] : nearest(name, FLAGS);
  return `there is no flag --${name}${suggestion ? `; did you mean --${suggestion}?` : ''}`;
}

/** Returns the value of an option; undefined when it is not given. */
function settingOf(flag: OptionFlag, given: Given, env: NodeJS.ProcessEnv, problems: string[]): unknown {
  const row: OptionRow<unknown> = OPTIONS[flag];
  const { name, text } = sourceOf(flag, given, env);
  if (text === undefined || text === '') return text === '' ? row.whenEmpty : undefined;
  try {
    return row.type.parse(text);
  } catch (error) {
    if (!(error instanceof OptionValueError)) throw error;
    problems.push(`${name} ${error.message}`);
    return undefined;
  }
}

/** Returns the text of an option and the flag or variable that gives it. The text is empty only if the option has a value for an
 *  empty variable. */
function sourceOf(
  flag: OptionFlag,
  given: Given,
  env: NodeJS.ProcessEnv,
): { readonly name: string; readonly text: string | undefined } {
  if (given.has(flag)) return { name: `--${flag}`, text: given.get(flag) };
  const { whenEmpty }: OptionRow<unknown> = OPTIONS[flag];
  const isSet = (name: string) => env[name] !== undefined && (env[name] !== '' || whenEmpty !== undefined);
  const name = variablesOf(flag).find(isSet);
  return { name: name ?? variableOf(flag), text: name && env[name] };
}

/** True when the path is the folder or is below it. */
function isWithin(path: string | undefined, folder: string): boolean {
  return (
    path !== undefined && `${resolve(path)}${sep}`.startsWith(`${resolve(folder)}${sep}`.replace(/\/+$/, sep))
  );
}

function contradictionsOf(options: Options): readonly string[] {
  const { databaseUrl, metadataDatabaseUrl, adminSecret, adminSecrets, adminSecretPath, authHook } = options;
  const hasTokens = options.jwtSecret !== undefined || options.jwtSecrets !== undefined;
  const hasSecret = [adminSecret, adminSecrets, adminSecretPath].some((given) => given !== undefined);
  const hasConsoleSecret = options.consoleSecret !== undefined || options.consoleSecretPath !== undefined;
  const isReadable = (path: string | undefined) =>
    options.dynamicSecretsPath.some((folder) => isWithin(path, folder));
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
    [hasConsoleSecret && !hasSecret, 'a console secret needs an admin secret beside it: --admin-secret'],
    ...(['admin', 'console'] as const).map(
      (kind) =>
        [
          isReadable(options[`${kind}SecretPath`]),
          `--${kind}-secret-path is below --dynamic-secrets-path, so metadata could read the ${kind} secrets`,
        ] as const,
    ),
  ];
  return problems.flatMap(([isSo, problem]) => (isSo ? [problem] : []));
}

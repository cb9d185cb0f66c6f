/** The flags of a command as a table: from it come parsing, help and, by the help, the completion of shells.
 *  Out: values and words. Raises FlagProblem. Environment: ENGINE_GRAPHQL_ADMIN_SECRET, ENGINE_GRAPHQL_HEADER_PREFIX.
 *  Not here: which flags a command has, and what their values mean. */
import { parseArgs } from 'node:util';
import { nearest } from '@pergola/engine/nearest';
import type { EngineAddress } from '../engine/address.ts';
import { FlagProblem } from './flag-problem.ts';
import { FORMAT_NAMES } from './output.ts';

export type Flag = {
  readonly short?: string;
  /** The name of the value in the help. Absent: the flag has none. */
  readonly value?: string;
  /** The only values that the flag takes. The help lists them after `doc`. */
  readonly values?: readonly string[];
  /** The flag may be given several times. */
  readonly isList?: true;
  readonly doc: string;
};

export type FlagTable = Readonly<Record<string, Flag>>;

/** The value of each flag that is given: true for one without a value, a list for one that may be given several times. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** The flags that may be given twice, and whose last value counts: a script appends them to a command that has a default. Of any other
 *  flag without a list, a second value would replace the first unnoticed. */
export const OVERRIDABLE: ReadonlySet<string> = new Set([
  'engine',
  'admin-secret',
  'header-prefix',
  'database-url',
]);

/** An argument as `parseArgs` splits it. */
type Token = NonNullable<ReturnType<typeof tokensOf>>[number];
type OptionToken = Extract<Token, { readonly kind: 'option' }>;

/** Returns the flags, and the words that are no flags where a command has some. */
export function parseFlagTable(
  flags: FlagTable,
  argv: readonly string[],
  { hasWords = false }: { readonly hasWords?: boolean } = {},
): { readonly values: FlagValues; readonly words: readonly string[] } {
  const values = new Map<string, string | true | string[]>();
  const words: string[] = [];
  for (const token of tokensOf(flags, argv)) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = flagOf(flags, token);
    const value = valueIn(flag, token);
    const before = values.get(token.name);
    if (flag.isList && Array.isArray(before)) before.push(value as string);
    else if (before !== undefined && value !== true && !OVERRIDABLE.has(token.name)) {
      throw new FlagProblem(`${token.rawName} is given twice; give it once`);
    } else values.set(token.name, flag.isList && value !== true ? [value] : value);
  }
  if (!hasWords && words.length > 0) throw new FlagProblem(unexpected(words[0]!, flags));
  return { values: Object.fromEntries(values), words };
}

function tokensOf(flags: FlagTable, argv: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { short, value }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  // Not strict: the messages here also say what to write.
  return parseArgs({ args: [...argv], options, strict: false, tokens: true }).tokens;
}

function flagOf(flags: FlagTable, { name, rawName }: OptionToken): Flag {
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (flag !== undefined) return flag;
  const near = rawName.startsWith('--') ? nearest(name, Object.keys(flags)) : undefined;
  throw new FlagProblem(
    `there is no flag ${rawName}${near === undefined ? '' : `; did you mean --${near}?`}`,
  );
}

function valueIn(flag: Flag, { name, rawName, value, inlineValue }: OptionToken): string | true {
  if (flag.value === undefined) {
    if (value === undefined) return true;
    throw new FlagProblem(`${rawName} has no value; write ${rawName}`);
  }
  if (value === undefined) throw new FlagProblem(`${rawName} needs a value: ${rawName} ${flag.value}`);
  if (!inlineValue && /^-./.test(value)) {
    throw new FlagProblem(
      `${rawName} needs a value, and ${value} is a flag; a value that begins with a dash is written --${name}=${value}`,
    );
  }
  if (flag.values !== undefined && !flag.values.includes(value))
    throw new FlagProblem(unknownValue(name, flag, value));
  if (name === 'output' && flag.value === 'FOLDER' && FORMAT_NAMES.includes(value)) {
    throw new FlagProblem(
      `${rawName} ${value}: here ${rawName} is the folder to write, not a format; write ${rawName} ./${value} for a folder of this name`,
    );
  }
  return value;
}

function unknownValue(name: string, { short, values = [] }: Flag, value: string): string {
  const written = name === 'output' && short ? `-${short}` : `--${name}`;
  const near = nearest(value, values);
  return `${written} ${value} is not supported; ${near === undefined ? '' : `did you mean ${near}? `}use ${values.join(', ')}`;
}

function unexpected(word: string, flags: FlagTable): string {
  const hint = Object.hasOwn(flags, 'filename') ? `for a folder or a file write -f ${word}` : 'remove it';
  return `${word} is no flag; ${hint}`;
}

/** Returns the text of a flag; undefined when it is not given. */
export function textOf(values: FlagValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** Returns all texts of a flag that may be given several times. */
export function textsOf(values: FlagValues, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? value : [];
}

/** Returns the line of a flag in the help: `  -o, --output FORMAT   the format`. `indent` stands in place of a short name. */
export function flagLine(
  name: string,
  { short, value, values, doc }: Flag,
  { width = 28, indent = '    ' }: { readonly width?: number; readonly indent?: string } = {},
): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  const listed = values === undefined ? doc : `${doc}: ${values.join(', ')}`;
  return `  ${`${short === undefined ? indent : `-${short}, `}${long}`.padEnd(width)} ${listed}`;
}

/** Returns the lines of all flags in the help. */
export function flagLines(flags: FlagTable, form?: Parameters<typeof flagLine>[2]): string {
  return Object.entries(flags)
    .map(([name, flag]) => flagLine(name, flag, form))
    .join('\n');
}

/** Returns the engine that `--engine`, `--admin-secret` and `--header-prefix` or their variables name. */
export function engineAddressOf(values: FlagValues, client?: string): EngineAddress {
  return {
    url: textOf(values, 'engine') ?? 'http://127.0.0.1:8080',
    adminSecret: textOf(values, 'admin-secret') ?? process.env['ENGINE_GRAPHQL_ADMIN_SECRET'],
    headerPrefix: textOf(values, 'header-prefix') ?? process.env['ENGINE_GRAPHQL_HEADER_PREFIX'],
    ...(client === undefined ? {} : { client }),
  };
}

/** Returns the same as `engineAddressOf`. Raises FlagProblem for a URL that no request can have. */
export function checkedEngineAddressOf(values: FlagValues, client?: string): EngineAddress {
  const address = engineAddressOf(values, client);
  if (/^https?:$/.test(URL.parse(address.url)?.protocol ?? '')) return address;
  throw new FlagProblem(`--engine ${address.url || "''"} is not a URL; write it as http://HOST:PORT`);
}

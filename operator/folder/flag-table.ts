/** The flags of a command as a table: from it come parsing and help.
 *  Out: values and words. Raises FlagProblem. Environment: ENGINE_GRAPHQL_ADMIN_SECRET, ENGINE_GRAPHQL_HEADER_PREFIX.
 *  Not here: which flags a command has, and what their values mean. */
import { parseArgs } from 'node:util';
import type { EngineAddress } from '../engine/address.ts';
import { FlagProblem } from './flag-problem.ts';

export type Flag = {
  readonly short?: string;
  /** The name of the value in the help. Absent: the flag has none. */
  readonly value?: string;
  /** The flag may be given several times. */
  readonly isList?: true;
  readonly doc: string;
};

export type FlagTable = Readonly<Record<string, Flag>>;

/** The value of each flag that is given: true for one without a value, a list for one that may be given several times. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Returns the flags, and the words that are no flags where a command has some. */
export function parseFlagTable(
  flags: FlagTable,
  argv: readonly string[],
  { hasWords = false }: { readonly hasWords?: boolean } = {},
): { readonly values: FlagValues; readonly words: readonly string[] } {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { short, value, isList }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: isList ?? false,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  try {
    const given = parseArgs({ args: [...argv], options, strict: true, allowPositionals: hasWords });
    return { values: given.values as FlagValues, words: given.positionals };
  } catch (error) {
    throw new FlagProblem(error instanceof Error ? error.message : String(error));
  }
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
  { short, value, doc }: Flag,
  { width = 28, indent = '    ' }: { readonly width?: number; readonly indent?: string } = {},
): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return `  ${`${short === undefined ? indent : `-${short}, `}${long}`.padEnd(width)} ${doc}`;
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
  throw new FlagProblem(`--engine ${address.url} is not a URL; write it as http://HOST:PORT`);
}

/** The types of options: a parser each, and the placeholder that `--help` prints. In: the text of a flag or a
 *  variable, never empty. Out: the value, or an error that says what is expected.
 *  Not here: which options exist (options.ts). */

/** Raised by a parser. The loader puts the name of the option in front of the message. */
export class OptionValueError extends Error {}

export type OptionType<T> = {
  /** The placeholder after the flag in `--help`: `--server-port PORT`. */
  readonly placeholder: string;
  readonly unit?: 'ms' | 's' | 'bytes' | undefined;
  readonly parse: (text: string) => T;
  /** True when a bare flag means true. */
  readonly isBoolean?: true;
  /** The JSON Schema of the value in the chart's values; text when absent. */
  readonly schema?: object;
  /** Returns the parts of the text that are accepted and have no effect. */
  readonly ignored?: (text: string) => readonly string[];
};

const TRUE_TEXTS = ['true', 't', 'yes', 'y', 'on', '1'];
const FALSE_TEXTS = ['false', 'f', 'no', 'n', 'off', '0'];

/** Returns the boolean of a text; undefined when it is neither yes nor no. */
export function booleanOf(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  if (TRUE_TEXTS.includes(lower)) return true;
  return FALSE_TEXTS.includes(lower) ? false : undefined;
}

export const flag: OptionType<boolean> = {
  placeholder: '[true|false]',
  isBoolean: true,
  schema: { type: 'boolean' },
  parse: (text) =>
    booleanOf(text) ?? wrong(`expects one of ${[...TRUE_TEXTS, ...FALSE_TEXTS].join(', ')}, not "${text}"`),
};

export function text(placeholder: string): OptionType<string> {
  return { placeholder, parse: (value) => value };
}

const UNITS = { MS: 'ms', SECONDS: 's', BYTES: 'bytes' } as const;

/** Addresses that the reference engine writes in other ways. */
const HOSTS: Readonly<Record<string, string>> = { '*4': '0.0.0.0', '!4': '0.0.0.0', '*6': '::', '!6': '::' };

/** An address to listen on; `*4` and `*6` are all addresses of one version of IP. */
export const listeningHost: OptionType<string> = {
  placeholder: 'HOST',
  parse: (value) => HOSTS[value] ?? value,
};

/** A whole number between two bounds, both included. The placeholder may name a unit. */
export function integer(
  placeholder: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): OptionType<number> {
  const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return {
    placeholder,
    unit: UNITS[placeholder as keyof typeof UNITS],
    schema: { type: 'integer', minimum: least, maximum: most },
    parse: (value) => {
      const number = /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
      return number >= least && number <= most
        ? number
        : wrong(`expects a whole number ${bounds}, not "${value}"`);
    },
  };
}

export function oneOf<const T extends string>(choices: readonly T[]): OptionType<T> {
  return {
    placeholder: choices.join('|'),
    schema: { enum: choices },
    parse: (value) =>
      choices.find((choice) => choice.toLowerCase() === value.toLowerCase()) ??
      wrong(`expects one of ${choices.join(', ')}, not "${value}"`),
  };
}

/** The naming convention; `hasura-default` is an earlier public name of `default`. */
export const namingConvention: OptionType<'default' | 'graphql-default'> = {
  placeholder: 'default|graphql-default',
  schema: { enum: ['default', 'graphql-default'] },
  parse: (value) => {
    const convention = oneOf(['default', 'graphql-default', 'hasura-default']).parse(value);
    return convention === 'hasura-default' ? 'default' : convention;
  },
};

/** A comma-separated list of choices, in any case; spaces around commas are allowed. Names in `withoutEffect` are left out of
 *  the list. */
export function listOf<const T extends string>(
  choices: readonly T[],
  withoutEffect: readonly string[] = [],
): OptionType<readonly T[]> {
  const item = oneOf(choices);
  const isIgnored = (name: string) => withoutEffect.includes(name.toLowerCase());
  return {
    placeholder: 'NAME,…',
    schema: { type: 'array', items: { enum: [...choices, ...withoutEffect] } },
    parse: (value) =>
      commaSeparated(value)
        .filter((name) => !isIgnored(name))
        .map(item.parse),
    ignored: (value) => commaSeparated(value).filter(isIgnored),
  };
}

function commaSeparated(value: string): readonly string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A JSON array of non-empty strings: `["one", "two"]`. Errors never repeat the text, which may contain secrets. */
export const jsonTexts: OptionType<readonly string[]> = {
  placeholder: 'JSON',
  parse: (value) => {
    const list = jsonOf(value);
    return Array.isArray(list) && list.length > 0 && list.every((x) => typeof x === 'string' && x !== '')
      ? list
      : wrong('expects a JSON array of non-empty strings, for example ["first", "second"]');
  },
};

/** A comma-separated list of absolute paths. */
export const paths: OptionType<readonly string[]> = {
  placeholder: 'PATH,…',
  schema: { type: 'array', items: { type: 'string' } },
  parse: (value) => {
    const given = commaSeparated(value);
    const other = given.find((path) => !path.startsWith('/'));
    return other === undefined ? given : wrong(`expects absolute paths, not "${other}"`);
  },
};

/** A comma-separated list of connection strings. A comma inside a URL separates its hosts, so only one before a scheme counts. */
export const urls: OptionType<readonly string[]> = {
  placeholder: 'URL,…',
  parse: (value) =>
    value
      .split(/,(?=\s*[a-z]+:\/\/)/i)
      .map((url) => url.trim())
      .filter((url) => url !== ''),
};

/** The format `name=value,…` that OpenTelemetry uses for headers. Errors never repeat the text, which may contain
 *  secrets. */
export const pairs: OptionType<Readonly<Record<string, string>>> = {
  placeholder: 'NAME=VALUE,…',
  parse: (value) =>
    Object.fromEntries(
      commaSeparated(value).map((pair) => {
        const [, name, text] = /^([A-Za-z0-9-]+)\s*=\s*(.*)$/.exec(pair) ?? [];
        return name === undefined ? wrong('expects name=value, comma-separated') : [name, text ?? ''];
      }),
    ),
};

/** An address of HTTP or HTTPS. Errors never repeat the text, which may contain a password. */
export const httpUrl: OptionType<string> = {
  placeholder: 'URL',
  parse: (value) => {
    const protocol = URL.parse(value)?.protocol;
    return protocol === 'http:' || protocol === 'https:' ? value : wrong('expects http://… or https://…');
  },
};

/** The address of a form that creates a file: `{name}` and `{text}` stand for the name and the content of the file. */
export const newFileUrl: OptionType<string> = {
  placeholder: 'URL',
  parse: (value) =>
    value.includes('{text}')
      ? httpUrl.parse(value)
      : wrong('expects {text} where the text of the file belongs'),
};

/** The origin of a page as browsers send it: scheme, name and perhaps port. A star can be a part of the name or the port, and a
 *  slash at the end is accepted. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(?=[^/])[^\s/?#@*]*\*?[^\s/?#@*]*\/?$/i;

/** A comma-separated list of origins, or `*` for every origin. The value is the text. Not here: which origins match
 *  (http/cors.ts). */
export const origins: OptionType<string> = {
  placeholder: 'ORIGINS',
  parse: (value) => {
    const other = commaSeparated(value).find((origin) => origin !== '*' && !ORIGIN.test(origin));
    return other === undefined
      ? value
      : wrong(`expects * or origins such as https://*.example.com, comma-separated, not "${other}"`);
  },
};

/** A header prefix such as `x-engine-`: lower case, ending in a dash. */
export const headerPrefix: OptionType<string> = {
  placeholder: 'PREFIX',
  parse: (value) => {
    const prefix = value.toLowerCase();
    return /^[a-z][a-z0-9]*(-[a-z0-9]+)*-$/.test(prefix)
      ? prefix
      : wrong(`expects letters, digits and dashes, ending in a dash, such as x-engine-, not "${value}"`);
  },
};

function jsonOf(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function wrong(expectation: string): never {
  throw new OptionValueError(expectation);
}

/** Connection strings of Postgres → a ConnectionTarget: the hosts to try in order, who connects to which database, and the other
 *  parameters by name. Accepts `postgres://` and `postgresql://` URLs and libpq's `keyword=value` strings, several hosts included;
 *  anything else raises ConnectionStringError. No message contains text of the input, which may be any secret.
 *  Not here: where the text comes from (database-url.ts), what completes it (connection-defaults.ts), what the driver is given of a
 *  target (connect.ts), certificates (tls.ts). PostgreSQL manual, "Connection Strings". */
import { METHODS } from '../wire/authentication.ts';
import { SESSIONS } from '../wire/dial.ts';

export type Host = {
  readonly host: string | null;
  readonly port: number | null;
  /** The IP address to connect to in place of the host, which is still the name in the certificate. */
  readonly address?: string;
};

export type ConnectionTarget = {
  /** At least one; null is the default, as in libpq. */
  readonly hosts: readonly Host[];
  readonly user: string | null;
  readonly password: string | null;
  readonly database: string | null;
  /** All others, by the names of libpq (`sslmode`, `options`) or of the driver (`statement_timeout`). */
  readonly parameters: Readonly<Record<string, string>>;
};

/** A connection string as pairs, each with the keyword of libpq. */
export type Keywords = Readonly<Record<string, string>>;

/** Raised for an invalid connection string. The message contains no text of it and is safe to show to anyone. */
export class ConnectionStringError extends Error {}

/** The form of a value: any text, a whole number, one of a few texts. A parameter that is `refused` is not supported, and ignoring it
 *  could weaken the connection. */
type Rule = 'any' | 'whole' | 'refused' | readonly string[];

const FLAG = ['0', '1'] as const;
const TLS_VERSIONS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;

/** The keywords of libpq. PostgreSQL manual, "Parameter Key Words". */
const KEYWORDS = new Map<string, Rule>(
  Object.entries({
    ...rules(['host', 'hostaddr', 'port', 'dbname', 'user', 'password'], 'any'),
    ...rules(['passfile', 'service', 'servicefile'], 'any'),
    ...rules(['application_name', 'fallback_application_name', 'options'], 'any'),
    client_encoding: ['auto', 'UTF8', 'utf8', 'UTF-8', 'utf-8'],
    ...rules(['connect_timeout', 'keepalives_idle'], 'whole'),
    keepalives: FLAG,
    sslmode: ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
    requiressl: FLAG,
    sslnegotiation: ['postgres', 'direct'],
    ...rules(['sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'sslcrl'], 'any'),
    sslcertmode: ['disable', 'allow'],
    sslsni: FLAG,
    ssl_min_protocol_version: TLS_VERSIONS,
    ssl_max_protocol_version: TLS_VERSIONS,
    channel_binding: ['disable', 'prefer', 'require'],
    require_auth: 'any',
    gssencmode: ['disable', 'prefer'],
    target_session_attrs: SESSIONS,
    load_balance_hosts: ['disable', 'random'],
    min_protocol_version: ['3.0'],
    max_protocol_version: ['3.0', '3.2', 'latest'],
    // These have no effect: Node.js does not set the first three, the last ones are of GSS and of compression, which is not used.
    ...rules(['keepalives_interval', 'keepalives_count', 'tcp_user_timeout'], 'whole'),
    ...rules(['sslcompression', 'krbsrvname', 'gsslib', 'gssdelegation'], 'any'),
    ...rules(['replication', 'requirepeer', 'sslcrldir', 'sslkeylogfile'], 'refused'),
    ...rules(['scram_client_key', 'scram_server_key', 'oauth_issuer', 'oauth_client_id'], 'refused'),
    ...rules(['oauth_client_secret', 'oauth_scope'], 'refused'),
  } satisfies Record<string, Rule>),
);

/** Names of the driver that URLs may also have. */
const DRIVER_PARAMETERS: ReadonlySet<string> = new Set([
  ...['statement_timeout', 'lock_timeout', 'query_timeout', 'idle_in_transaction_session_timeout'],
  ...['ssl', 'uselibpqcompat'],
]);

/** Beginnings of parameters that may protect a connection: an unknown one is refused rather than ignored. */
const PROTECTING = ['ssl', 'require', 'channel', 'gss', 'target'];

function rules(names: readonly string[], rule: Rule): Readonly<Record<string, Rule>> {
  return Object.fromEntries(names.map((name) => [name, rule]));
}

/** True when the value of a parameter is one of a few texts, and therefore no secret. */
export function isChoice(name: string): boolean {
  return typeof KEYWORDS.get(name) === 'object';
}

/** `complete` adds what the string does not say. */
export function parseConnectionString(
  text: string,
  complete: (given: Keywords) => Keywords = (given) => given,
): ConnectionTarget {
  return targetOf(complete(keywordsIn(text)));
}

/** True for a keyword of libpq. */
export function isKeyword(name: string): boolean {
  return KEYWORDS.has(name);
}

/** Raises for a parameter that is not supported, or has an invalid value. */
function checkKeywords(given: Keywords): void {
  for (const [name, value] of Object.entries(given)) {
    const rule = KEYWORDS.get(name);
    if (rule === undefined || rule === 'any') continue;
    if (rule === 'refused') refuse(`the parameter ${name} is not supported`);
    if (rule === 'whole') {
      if (!/^\s*[-+]?\d{1,9}\s*$/.test(value)) refuse(`its ${name} is not a whole number`);
    } else if (!rule.includes(value)) refuse(`its ${name} is none of ${rule.join(', ')}`);
  }
}

function keywordsIn(text: string): Keywords {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\u0000-\u0008\u000e-\u001f\u007f]/.test(text)) return refuse('it contains control characters');
  const scheme = /^postgres(?:ql)?:\/\//i.exec(text);
  if (scheme) return parseUrl(text.slice(scheme[0].length));
  if (/^\s*[a-z_]+\s*=/.test(text)) return parsePairs(text);
  return refuse('expected postgres://…, postgresql://… or keyword=value pairs');
}

/** Returns the target as a `keyword=value` string of libpq, without its password and what only the driver knows. */
export function printKeywords({ hosts, user, database, parameters }: ConnectionTarget): string {
  const list = (values: readonly (string | number | null | undefined)[]) =>
    values.every((value) => value == null) ? null : values.map((value) => value ?? '').join(',');
  const pairs: Readonly<Record<string, string | null | undefined>> = {
    ...Object.fromEntries(Object.entries(parameters).filter(([name]) => KEYWORDS.has(name))),
    host: list(hosts.map(({ host }) => host)),
    hostaddr: list(hosts.map(({ address }) => address)),
    port: list(hosts.map(({ port }) => port)),
    user,
    dbname: database,
  };
  return Object.entries(pairs)
    .flatMap(([name, value]) => (value == null ? [] : [`${name}='${value.replaceAll(/['\\]/g, '\\$&')}'`]))
    .join(' ');
}

/** Parses `[user[:password]@][host[:port],…][/database][?name=value&…]`. */
function parseUrl(text: string): Keywords {
  const question = text.indexOf('?');
  const [address, query] = question < 0 ? [text, ''] : [text.slice(0, question), text.slice(question + 1)];
  const slash = address.indexOf('/');
  const [authority, path] = slash < 0 ? [address, ''] : [address.slice(0, slash), address.slice(slash + 1)];
  const at = authority.lastIndexOf('@');
  const credentials = at < 0 ? '' : authority.slice(0, at);
  const colon = credentials.indexOf(':');
  const hosts = authority
    .slice(at + 1)
    .split(',')
    .map(hostOf);
  const given: Record<string, string> = {};
  const put = (name: string, value: string) => {
    if (value !== '') given[name] = decoded(value);
  };
  put('user', colon < 0 ? credentials : credentials.slice(0, colon));
  put('password', colon < 0 ? '' : credentials.slice(colon + 1));
  put('dbname', path);
  if (hosts.some(([host]) => host !== '')) given['host'] = hosts.map(([host]) => host).join(',');
  if (hosts.some(([, port]) => port !== '')) given['port'] = hosts.map(([, port]) => port).join(',');
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = decoded(equals < 0 ? '' : pair.slice(equals + 1));
    if (KEYWORDS.has(name) || DRIVER_PARAMETERS.has(name)) given[name] = value;
    else {
      // Other tools have parameters of their own, which mean nothing here.
      const start = PROTECTING.find((each) => name.toLowerCase().startsWith(each));
      if (start !== undefined) refuse(`it has an unknown parameter that begins with ${start}`);
    }
  }
  return withoutForms(given);
}

/** Replaces the driver's `ssl` and `no-verify` with `sslmode`. As in libpq, `ssl=true` is `require`. */
function withoutForms({ ssl, uselibpqcompat, ...given }: Readonly<Record<string, string>>): Keywords {
  if (given['sslmode'] === 'no-verify' || ssl === 'no-verify') {
    const { sslrootcert, ...rest } = given;
    return { ...rest, sslmode: 'require' };
  }
  if (ssl === undefined || given['sslmode'] !== undefined) return given;
  if (['', '1', 'true'].includes(ssl)) return { ...given, sslmode: 'require' };
  if (['0', 'false'].includes(ssl)) return { ...given, sslmode: 'disable' };
  return refuse('its ssl is none of true, false, no-verify');
}

/** Returns the host and the port of one element of the list, each as a text. */
function hostOf(text: string): readonly [string, string] {
  const match = /^(?:\[([0-9a-fA-F:.]+(?:%[\w.]+)?)\]|([^:[\]]*))(?::(\d*))?$/.exec(text);
  if (!match) return refuse('its host or port cannot be read');
  const [, address, name = '', port = ''] = match;
  return [address ?? decoded(name), port];
}

/** `keyword = value` pairs, separated by spaces; a value may be in single quotes, `\` escapes the next character. */
function parsePairs(text: string): Keywords {
  const given: Record<string, string> = {};
  const pair = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)/gsy;
  const end = text.trimEnd().length;
  while (pair.lastIndex < end) {
    const match = pair.exec(text);
    if (!match) return refuse('its keyword=value pairs cannot be read');
    const [, name = '', quoted, plain = ''] = match;
    if (!KEYWORDS.has(name)) refuse('it has a keyword that libpq does not know');
    given[name] = (quoted ?? plain).replaceAll(/\\(.)/gs, '$1');
  }
  return withoutForms(given);
}

function targetOf(all: Keywords): ConnectionTarget {
  // An empty value is the default.
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  checkKeywords(given);
  const { host, hostaddr, port, user, password, dbname, requiressl, ...others } = given;
  const parameters =
    requiressl === '1' && others['sslmode'] === undefined ? { ...others, sslmode: 'require' } : others;
  checkTls(parameters);
  allowedMethods(parameters['require_auth']);
  return {
    hosts: hostsOf(host, hostaddr, port),
    user: user ?? null,
    password: password ?? null,
    database: dbname ?? null,
    parameters,
  };
}

/** Refuses what contradicts itself: a mode that may end without encryption, and a parameter that has a meaning only with it. */
function checkTls(parameters: Keywords): void {
  const { sslmode, sslrootcert, sslnegotiation } = parameters;
  const versions = TLS_VERSIONS as readonly (string | undefined)[];
  const least = versions.indexOf(parameters['ssl_min_protocol_version']);
  const most = versions.indexOf(parameters['ssl_max_protocol_version']);
  if (most >= 0 && least > most) refuse('its ssl_min_protocol_version is above its ssl_max_protocol_version');
  if (sslrootcert === 'system' && sslmode !== undefined && sslmode !== 'verify-full')
    refuse('sslrootcert=system needs sslmode=verify-full');
  const isWeak = ['disable', 'allow', 'prefer', undefined].includes(sslmode) && sslrootcert !== 'system';
  if (sslnegotiation === 'direct' && isWeak)
    refuse('sslnegotiation=direct needs sslmode=require, verify-ca or verify-full');
}

const FOREIGN_METHODS = ['gss', 'sspi', 'oauth'];

/** Parses `require_auth`: methods that are allowed, or with `!` those that are not. Undefined when all are. */
export function allowedMethods(text: string | undefined): ReadonlySet<(typeof METHODS)[number]> | undefined {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const isNegated = names[0]!.startsWith('!');
  const methods = new Set(names.map((name) => (isNegated ? name.slice(1) : name)));
  const known: readonly string[] = [...METHODS, ...FOREIGN_METHODS];
  if (
    names.some((name) => name.startsWith('!') !== isNegated) ||
    [...methods].some((name) => !known.includes(name))
  )
    refuse(`its require_auth is not a list of ${known.join(', ')}`);
  return new Set(METHODS.filter((method) => methods.has(method) !== isNegated));
}

/** A single port is that of all hosts. */
function hostsOf(
  host: string | undefined,
  hostaddr: string | undefined,
  port: string | undefined,
): readonly Host[] {
  const [names, addresses, ports] = [host, hostaddr, port].map((list) => list?.split(','));
  const count = addresses?.length ?? names?.length ?? 1;
  if (names && names.length !== count) refuse('it has not as many hosts as values of hostaddr');
  if (ports && ports.length !== 1 && ports.length !== count) refuse('it has not as many ports as hosts');
  return Array.from({ length: count }, (_, i) => {
    const address = addresses?.[i] || undefined;
    return {
      host: names?.[i] || null,
      port: portOf(ports?.[ports.length === 1 ? 0 : i] ?? ''),
      ...(address !== undefined && { address }),
    };
  });
}

function portOf(text: string): number | null {
  if (text.trim() === '') return null;
  const port = /^\s*\d{1,5}\s*$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : refuse('its port is not a number from 1 to 65535');
}

/** Percent-decodes a text. A `%` that begins no code is kept, because passwords are often not encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll(/%(?![0-9a-fA-F]{2})/g, '%25'));
  } catch {
    return text;
  }
}

function refuse(problem: string): never {
  throw new ConnectionStringError(problem);
}

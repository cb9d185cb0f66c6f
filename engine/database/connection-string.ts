/** Connection strings of Postgres → a ConnectionTarget: the hosts to try in order, who connects to which database, and the other
 *  parameters by name. Accepts `postgres://` and `postgresql://` URLs and libpq's `keyword=value` strings, several hosts included;
 *  anything else raises ConnectionStringError. No message contains text of the input, which may be any secret.
 *  Not here: where the text comes from (database-url.ts), what the driver is given of a target (connect.ts), TLS of a source (tls.ts).
 *  PostgreSQL manual, "Connection Strings". */
import { SESSIONS } from '../wire/dial.ts';

export type Host = { readonly host: string | null; readonly port: number | null };

export type ConnectionTarget = {
  /** At least one; null is the default, as in libpq. */
  readonly hosts: readonly Host[];
  readonly user: string | null;
  readonly password: string | null;
  readonly database: string | null;
  /** All others, by the names of libpq (`sslmode`, `options`) or of the driver (`ssl`). */
  readonly parameters: Readonly<Record<string, string>>;
};

/** Raised for an invalid connection string. The message contains no text of it and is safe to show to anyone. */
export class ConnectionStringError extends Error {}

/** Keywords of libpq. Names of the target's own fields come first. PostgreSQL manual, "Parameter Key Words". */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...['host', 'hostaddr', 'port', 'dbname', 'user', 'password'],
  ...['application_name', 'fallback_application_name', 'options', 'client_encoding', 'connect_timeout'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count', 'tcp_user_timeout'],
  ...['sslmode', 'sslnegotiation', 'sslcompression', 'sslcert', 'sslkey', 'sslpassword', 'sslcertmode'],
  ...['sslrootcert', 'sslcrl', 'sslcrldir', 'sslsni', 'ssl_min_protocol_version', 'ssl_max_protocol_version'],
  ...[
    'requiressl',
    'requirepeer',
    'require_auth',
    'channel_binding',
    'gssencmode',
    'gsslib',
    'gssdelegation',
  ],
  ...[
    'krbsrvname',
    'target_session_attrs',
    'load_balance_hosts',
    'min_protocol_version',
    'max_protocol_version',
  ],
]);

/** Names of the driver that URLs may also have. */
const DRIVER_PARAMETERS: ReadonlySet<string> = new Set([
  ...['ssl', 'uselibpqcompat', 'statement_timeout', 'lock_timeout', 'query_timeout'],
  'idle_in_transaction_session_timeout',
]);

/** Parameters with a few possible values. */
export const CHOICES: Readonly<Record<string, readonly string[]>> = {
  sslmode: ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
  sslnegotiation: ['postgres', 'direct'],
  target_session_attrs: SESSIONS,
};

/** Refused because they would read other files or use another protocol. */
const REFUSED: ReadonlySet<string> = new Set(['service', 'servicefile', 'passfile', 'replication']);

export function parseConnectionString(text: string): ConnectionTarget {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\u0000-\u0008\u000e-\u001f\u007f]/.test(text)) return refuse('it contains control characters');
  const scheme = /^postgres(?:ql)?:\/\//i.exec(text);
  if (scheme) return parseUrl(text.slice(scheme[0].length));
  if (/^\s*[a-z_]+\s*=/.test(text)) return parseKeywords(text);
  return refuse('expected postgres://…, postgresql://… or keyword=value pairs');
}

/** Returns the target as a `keyword=value` string of libpq, without its password and what only the driver knows. */
export function printKeywords({ hosts, user, database, parameters }: ConnectionTarget): string {
  const list = (values: readonly (string | number | null)[]) =>
    values.every((value) => value === null) ? null : values.map((value) => value ?? '').join(',');
  const { ssl, sslmode } = parameters;
  const isEncrypted = ssl !== undefined && ssl !== 'false' && ssl !== '0';
  const mode = sslmode === 'no-verify' || (sslmode === undefined && isEncrypted) ? 'require' : sslmode;
  const pairs: Readonly<Record<string, string | null | undefined>> = {
    ...Object.fromEntries(Object.entries(parameters).filter(([name]) => KEYWORDS.has(name))),
    sslmode: mode,
    host: list(hosts.map(({ host }) => host)),
    port: list(hosts.map(({ port }) => port)),
    user,
    dbname: database,
  };
  return Object.entries(pairs)
    .flatMap(([name, value]) => (value == null ? [] : [`${name}='${value.replaceAll(/['\\]/g, '\\$&')}'`]))
    .join(' ');
}

/** Parses `[user[:password]@][host[:port],…][/database][?name=value&…]`. */
function parseUrl(text: string): ConnectionTarget {
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
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    if (REFUSED.has(name)) refuse(`the parameter ${name} is not supported`);
    // Other tools have parameters of their own, which mean nothing here.
    if (KEYWORDS.has(name) || DRIVER_PARAMETERS.has(name))
      given[name] = decoded(equals < 0 ? '' : pair.slice(equals + 1));
  }
  return targetOf(given, hosts);
}

function hostOf(text: string): Host {
  const match = /^(?:\[([0-9a-fA-F:.]+(?:%[\w.]+)?)\]|([^:[\]]*))(?::(\d*))?$/.exec(text);
  if (!match) return refuse('its host or port cannot be read');
  const [, address, name = '', port = ''] = match;
  const host = address ?? decoded(name);
  return { host: host === '' ? null : host, port: portOf(port) };
}

/** `keyword = value` pairs, separated by spaces; a value may be in single quotes, `\` escapes the next character. */
function parseKeywords(text: string): ConnectionTarget {
  const given: Record<string, string> = {};
  const pair = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)/gsy;
  const end = text.trimEnd().length;
  while (pair.lastIndex < end) {
    const match = pair.exec(text);
    if (!match) return refuse('its keyword=value pairs cannot be read');
    const [, name = '', quoted, plain = ''] = match;
    if (REFUSED.has(name)) refuse(`the parameter ${name} is not supported`);
    if (!KEYWORDS.has(name)) refuse('it has a keyword that libpq does not know');
    given[name] = (quoted ?? plain).replaceAll(/\\(.)/gs, '$1');
  }
  return targetOf(given, [{ host: null, port: null }]);
}

/** Parameters that name hosts replace those of the address. */
function targetOf(given: Readonly<Record<string, string>>, hosts: readonly Host[]): ConnectionTarget {
  const { host, hostaddr, port, user, password, dbname, ...parameters } = given;
  for (const [name, value] of Object.entries(parameters)) {
    if (CHOICES[name]?.includes(value) === false)
      refuse(`its ${name} is none of ${CHOICES[name].join(', ')}`);
  }
  const names = (hostaddr || host)?.split(',');
  const named = names?.map((name, i) => ({ host: name === '' ? null : name, port: hosts[i]?.port ?? null }));
  return {
    hosts: withPorts(named ?? hosts, port),
    user: user || null,
    password: password || null,
    database: dbname || null,
    parameters,
  };
}

/** One port is that of all hosts. */
function withPorts(hosts: readonly Host[], text: string | undefined): readonly Host[] {
  if (text === undefined || text === '') return hosts;
  const ports = text.split(',').map(portOf);
  if (ports.length !== 1 && ports.length !== hosts.length) refuse('it has not as many ports as hosts');
  return hosts.map(({ host }, i) => ({ host, port: ports.length === 1 ? ports[0]! : ports[i]! }));
}

function portOf(text: string): number | null {
  if (text === '') return null;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
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

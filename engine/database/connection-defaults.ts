/** Completes the keywords of a connection string, as libpq does: from a section of the service file, the variables PGHOST to PGSSLMODE, the files of
 *  the home folder, and the password file. In: the keywords that are given, an environment. Out: more keywords, a password.
 *  The author of metadata chooses the host and must not be sent what belongs to the engine: a string that stands in the metadata
 *  is completed without passwords, certificates of the client and service files.
 *  Not here: the grammar (connection-string.ts). PostgreSQL manual, "Environment Variables", "The Connection Service File", "The
 *  Password File". */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../resolve/environment-variables.ts';
import {
  ConnectionStringError,
  type ConnectionTarget,
  type Host,
  isKeyword,
  type Keywords,
} from './connection-string.ts';

/** `literal`: the string stands in the metadata. `value`: a named value holds it, the Secret of a resource. `secret`: a variable or a file
 *  of the engine holds it. `option`: an option of the engine holds it. Errors say nothing of a value or a secret. */
export type Origin = 'literal' | 'value' | 'secret' | 'option';

/** True when the connection may use credentials of the engine itself, such as PGPASSWORD: its administrator chose the host. */
export function hasCredentials(origin: Origin): boolean {
  return origin === 'secret' || origin === 'option';
}

/** True when errors must not have texts of the connection string. */
export function isHidden(origin: Origin): boolean {
  return origin === 'secret' || origin === 'value';
}

export type DatabaseAddress = {
  readonly target: ConnectionTarget;
  readonly origin: Origin;
  /** Returns the target at the moment, where it may change. Raises ConnectionStringError. */
  readonly current?: () => ConnectionTarget;
};

const VARIABLES: Readonly<Record<string, string>> = {
  PGHOST: 'host',
  PGHOSTADDR: 'hostaddr',
  PGPORT: 'port',
  PGDATABASE: 'dbname',
  PGUSER: 'user',
  PGAPPNAME: 'application_name',
  PGOPTIONS: 'options',
  PGCLIENTENCODING: 'client_encoding',
  PGCONNECT_TIMEOUT: 'connect_timeout',
  PGTARGETSESSIONATTRS: 'target_session_attrs',
  PGLOADBALANCEHOSTS: 'load_balance_hosts',
  PGSSLMODE: 'sslmode',
  PGREQUIRESSL: 'requiressl',
  PGSSLNEGOTIATION: 'sslnegotiation',
  PGSSLROOTCERT: 'sslrootcert',
  PGSSLCRL: 'sslcrl',
  PGSSLCRLDIR: 'sslcrldir',
  PGSSLCERTMODE: 'sslcertmode',
  PGSSLSNI: 'sslsni',
  PGSSLMINPROTOCOLVERSION: 'ssl_min_protocol_version',
  PGSSLMAXPROTOCOLVERSION: 'ssl_max_protocol_version',
  PGCHANNELBINDING: 'channel_binding',
  PGREQUIREAUTH: 'require_auth',
  PGREQUIREPEER: 'requirepeer',
  PGGSSENCMODE: 'gssencmode',
  PGMINPROTOCOLVERSION: 'min_protocol_version',
  PGMAXPROTOCOLVERSION: 'max_protocol_version',
};

/** The variables of the engine's own credentials. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  PGPASSWORD: 'password',
  PGPASSFILE: 'passfile',
  PGSSLCERT: 'sslcert',
  PGSSLKEY: 'sslkey',
};

/** The keywords that a string in the metadata may not have, because they read other credentials. */
const OF_FILES = ['service', 'servicefile', 'passfile'] as const;

/** Adds to the given keywords. Raises ConnectionStringError. */
export function completedBy(env: Environment, origin: Origin): (given: Keywords) => Keywords {
  return (given) => {
    if (hasCredentials(origin)) {
      const ofService = serviceOf(given, env);
      const variables = { ...fromVariables(VARIABLES, env), ...fromVariables(CREDENTIALS, env) };
      return withHomeFiles({ ...variables, ...ofService, ...given }, env, [
        ...AUTHORITY_FILES,
        ...CLIENT_FILES,
      ]);
    }
    for (const name of OF_FILES) {
      if (given[name] !== undefined)
        throw new ConnectionStringError(`the parameter ${name} is not supported in metadata`);
    }
    return withHomeFiles({ ...fromVariables(VARIABLES, env), ...given }, env, AUTHORITY_FILES);
  };
}

function fromVariables(names: Readonly<Record<string, string>>, env: Environment): Keywords {
  return Object.fromEntries(
    Object.entries(names).flatMap(([variable, name]) => (env[variable] ? [[name, env[variable]]] : [])),
  );
}

const AUTHORITY_FILES = [
  ['sslrootcert', 'root.crt'],
  ['sslcrl', 'root.crl'],
] as const;
const CLIENT_FILES = [
  ['sslcert', 'postgresql.crt'],
  ['sslkey', 'postgresql.key'],
] as const;

/** Adds the files of `~/.postgresql` that exist. A key of the home folder belongs to a certificate. */
function withHomeFiles(
  given: Keywords,
  env: Environment,
  files: readonly (readonly [string, string])[],
): Keywords {
  const added: Record<string, string> = { ...given };
  for (const [name, file] of files) {
    const path = homeFile(env, '.postgresql', file);
    if (added[name] || path === undefined) continue;
    if (name === 'sslkey' && !added['sslcert']) continue;
    added[name] = path;
  }
  return added;
}

function homeFile(env: Environment, ...path: readonly string[]): string | undefined {
  const file = env['HOME'] ? join(env['HOME'], ...path) : undefined;
  return file !== undefined && existsSync(file) ? file : undefined;
}

/** The section of a service file: `[name]`, then `keyword=value` lines without quotes. */
function serviceOf(given: Keywords, env: Environment): Keywords {
  const service = given['service'] || env['PGSERVICE'];
  if (!service) return {};
  const named = given['servicefile'] || env['PGSERVICEFILE'];
  const files = [
    named || homeFile(env, '.pg_service.conf'),
    env['PGSYSCONFDIR'] && join(env['PGSYSCONFDIR'], 'pg_service.conf'),
  ];
  for (const file of files) {
    if (!file) continue;
    const section = sectionOf(textOf(file, 'service file'), service);
    if (section) return section;
  }
  throw new ConnectionStringError('the definition of its service is not found');
}

function sectionOf(text: string, service: string): Keywords | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const start = lines.indexOf(`[${service}]`);
  if (start < 0) return undefined;
  const end = lines.findIndex((line, i) => i > start && line.startsWith('['));
  const pairs = lines
    .slice(start + 1, end < 0 ? undefined : end)
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.split('=', 1)[0]!.trim(), line.slice(line.indexOf('=') + 1).trim()] as const);
  if (pairs.some(([name]) => name === 'service' || name === 'servicefile'))
    throw new ConnectionStringError('its service names another service');
  if (!pairs.every(([name]) => isKeyword(name)))
    throw new ConnectionStringError('its service has a keyword that libpq does not know');
  return Object.fromEntries(pairs);
}

/** The fields of a line of a password file; `\` escapes a colon. */
const PASSWORD_LINE = /^((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):((?:\\.|[^:\\])*):(.*)$/;

/** Returns the password for a host from the password file; undefined when there is none. As in libpq, a file that others may read
 *  is not used. */
export function passwordFrom(
  { parameters, database, user }: Pick<ConnectionTarget, 'parameters' | 'database' | 'user'>,
  { host, address, port }: Host,
  env: Environment,
): string | undefined {
  const file = parameters['passfile'] ?? homeFile(env, '.pgpass');
  if (file === undefined || !isPrivate(file)) return undefined;
  const name = host?.startsWith('/') ? 'localhost' : (host ?? address ?? 'localhost');
  const wanted = [name, String(port ?? 5432), database ?? user ?? '', user ?? ''];
  for (const line of textOf(file, 'password file').split(/\r?\n/)) {
    const [, ...fields] = (line.startsWith('#') ? null : PASSWORD_LINE.exec(line)) ?? [];
    const isFor = wanted.every((value, i) => fields[i] === '*' || unescaped(fields[i] ?? '') === value);
    if (isFor && fields[4]) return unescaped(fields[4]);
  }
  return undefined;
}

function unescaped(field: string): string {
  return field.replaceAll(/\\(.)/g, '$1');
}

function isPrivate(file: string): boolean {
  const status = statSync(file, { throwIfNoEntry: false });
  return status?.isFile() === true && (status.mode & 0o077) === 0;
}

function textOf(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new ConnectionStringError(`its ${what} cannot be read`);
  }
}

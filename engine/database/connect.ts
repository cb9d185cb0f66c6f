/** A DatabaseAddress → what is needed to connect to it (wire/dial.ts), and one connected client for those who need no pool.
 *  Not here: reading connection strings (connection-string.ts), certificates (tls.ts), opening (wire/dial.ts). */
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import type pg from 'pg';
import type { Environment } from '../resolve/environment-variables.ts';
import { type Dialing, dial, SESSIONS, type Server } from '../wire/dial.ts';
import type { Tls } from '../wire/socket.ts';
import {
  completedBy,
  type DatabaseAddress,
  hasCredentials,
  isHidden,
  type Origin,
  passwordFrom,
} from './connection-defaults.ts';
import {
  allowedMethods,
  ConnectionStringError,
  type ConnectionTarget,
  type Host,
  isChoice,
  parseConnectionString,
} from './connection-string.ts';
import { tlsOfParameters } from './tls.ts';

type Purpose = {
  readonly applicationName: string;
  /** How long one server may take, unless the connection has a `connect_timeout`. */
  readonly timeoutMs: number;
  /** The longest time for one server; unlimited when absent. */
  readonly mostMs?: number;
};

/** Parameters of TLS; they give way to a source's `ssl_configuration`. */
const TLS_PARAMETERS: ReadonlySet<string> = new Set([
  ...['sslmode', 'sslrootcert', 'sslcrl', 'sslcert', 'sslkey', 'sslpassword', 'sslcertmode', 'sslsni'],
  ...['sslnegotiation', 'ssl_min_protocol_version', 'ssl_max_protocol_version'],
]);

/** Parameters that the driver sends as they are. */
const SESSION_PARAMETERS = [
  ...['options', 'statement_timeout', 'lock_timeout'],
  ...['query_timeout', 'idle_in_transaction_session_timeout'],
] as const;

/** How an option names a file that contains the connection string. */
const FILE_SCHEME = 'dynamic-from-file://';

/** An option of the engine, or a test's own URL. The file of `dynamic-from-file:///PATH` is read now and for each new connection. Raises
 *  ConnectionStringError. */
export function optionAddress(text: string, env: Environment = process.env): DatabaseAddress {
  const given = text.trim();
  if (!given.startsWith(FILE_SCHEME)) return { target: optionTarget(given, env), origin: 'option' };
  const path = given.slice(FILE_SCHEME.length);
  const read = () => optionTarget(textIn(path), env);
  return { target: read(), origin: 'option', current: read };
}

function optionTarget(text: string, env: Environment): ConnectionTarget {
  try {
    return parseConnectionString(text, completedBy(env, 'option'));
  } catch (error) {
    if (!(error instanceof ConnectionStringError)) throw error;
    throw new ConnectionStringError(
      `the database URL is not a connection string of Postgres: ${error.message}`,
    );
  }
}

function textIn(path: string): string {
  if (!isAbsolute(path)) throw new ConnectionStringError(`${FILE_SCHEME}${path} needs an absolute path`);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    throw new ConnectionStringError(`cannot read the database URL from file ${JSON.stringify(path)}`);
  }
}

export function withoutTls(target: ConnectionTarget): ConnectionTarget {
  const kept = Object.entries(target.parameters).filter(([name]) => !TLS_PARAMETERS.has(name));
  return { ...target, parameters: Object.fromEntries(kept) };
}

/** Returns what is needed to connect. Servers, credentials and certificates are those of the address when a connection is opened; the
 *  other parameters are those of the address now. */
export function dialingOf(
  { target, origin, current = () => target }: DatabaseAddress,
  purpose: Purpose,
): Dialing {
  const { parameters } = target;
  const methods = allowedMethods(parameters['require_auth']);
  const channelBinding = (['disable', 'require'] as const).find(
    (way) => way === parameters['channel_binding'],
  );
  const seconds = Number(parameters['connect_timeout'] ?? 0);
  const timeoutMs = seconds > 0 ? seconds * 1000 : purpose.timeoutMs;
  return {
    servers: () => {
      const now = current();
      return now.hosts.map((host) => serverOf(now, host, purpose, origin));
    },
    tls: () => tlsOfParameters(current().parameters),
    timeoutMs: Math.min(timeoutMs, purpose.mostMs ?? timeoutMs),
    session: SESSIONS.find((name) => name === parameters['target_session_attrs']) ?? 'any',
    isShuffled: parameters['load_balance_hosts'] === 'random',
    authentication: { channelBinding: channelBinding ?? 'prefer', ...(methods && { methods }) },
    hidden: isHidden(origin) ? textsOf(target) : [],
  };
}

/** A connected client. Raises why no host takes it. */
export function connectTo(address: DatabaseAddress, purpose: Purpose, tls?: Tls): Promise<pg.Client> {
  return dial(dialingOf(address, purpose), tls);
}

/** The texts that errors about a connection might contain, to be masked. */
export function textsOf({
  hosts,
  user,
  password,
  database,
  parameters,
}: ConnectionTarget): readonly string[] {
  const given = Object.entries(parameters).filter(([name]) => !isChoice(name));
  const values = given.flatMap(([, value]) => [value, ...value.split(/[\s=]/)]);
  const places = hosts.flatMap(({ host, address }) => [host, address]);
  return [...places, user, password, database, ...values].flatMap((text) => text || []);
}

function serverOf(
  target: ConnectionTarget,
  host: Host,
  { applicationName }: Purpose,
  origin: Origin,
): Server {
  const { parameters, database } = target;
  const user = target.user ?? nameOfUser();
  const password =
    target.password ??
    (hasCredentials(origin) ? passwordFrom({ parameters, database, user }, host, process.env) : undefined);
  const given = SESSION_PARAMETERS.flatMap((name) => {
    return parameters[name] === undefined ? [] : [[name, parameters[name]] as const];
  });
  const idleSeconds = Number(parameters['keepalives_idle'] ?? 0);
  return {
    host: host.host ?? host.address ?? 'localhost',
    port: host.port ?? 5432,
    ...(host.address !== undefined && { address: host.address }),
    login: {
      ...(user !== null && { user }),
      ...((database ?? user) !== null && { database: (database ?? user)! }),
      // Without a function the driver looks for PGPASSWORD.
      password: password ?? (() => ''),
      keepAlive: parameters['keepalives'] !== '0',
      ...(idleSeconds > 0 && { keepAliveInitialDelayMillis: idleSeconds * 1000 }),
      application_name:
        parameters['application_name'] ?? parameters['fallback_application_name'] ?? applicationName,
      ...Object.fromEntries(given),
    },
  };
}

/** Null for a user of the system without a name, as in many containers. */
function nameOfUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}

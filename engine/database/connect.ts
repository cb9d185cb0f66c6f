/** A DatabaseAddress → what the driver is given to connect to it, and one connected client for those who need no pool.
 *  Not here: reading connection strings (connection-string.ts), opening (wire/dial.ts). */
import pg from 'pg';
import { type Dialing, dial, SESSIONS, type Tls } from '../wire/dial.ts';
import {
  CHOICES,
  ConnectionStringError,
  type ConnectionTarget,
  type Host,
  parseConnectionString,
} from './connection-string.ts';

export type DatabaseAddress = {
  readonly target: ConnectionTarget;
  /** `literal`: it stands in the metadata. `secret`: a variable or a file holds it, so errors say nothing of it. `option`: an
   *  option of the engine holds it. libpq's variables (PGPASSWORD) complete the last two only: who writes metadata chooses the
   *  host, and must not be sent the engine's password. */
  readonly origin: 'literal' | 'secret' | 'option';
};

type Purpose = { readonly applicationName: string; readonly timeoutMs: number };

/** Parameters of TLS; they give way to a source's `ssl_configuration`. */
const TLS_PARAMETERS: ReadonlySet<string> = new Set([
  ...['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'sslnegotiation'],
  'uselibpqcompat',
]);

/** Parameters that the driver sends as they are. */
const SESSION_PARAMETERS = [
  ...['application_name', 'fallback_application_name', 'options', 'statement_timeout', 'lock_timeout'],
  ...['query_timeout', 'idle_in_transaction_session_timeout'],
] as const;

/** An option of the engine, or a test's own URL. Raises ConnectionStringError. */
export function optionAddress(text: string): DatabaseAddress {
  try {
    return { target: parseConnectionString(text.trim()), origin: 'option' };
  } catch (error) {
    if (!(error instanceof ConnectionStringError)) throw error;
    throw new ConnectionStringError(
      `the database URL is not a connection string of Postgres: ${error.message}`,
    );
  }
}

export function withoutTls(target: ConnectionTarget): ConnectionTarget {
  const kept = Object.entries(target.parameters).filter(([name]) => !TLS_PARAMETERS.has(name));
  return { ...target, parameters: Object.fromEntries(kept) };
}

export function dialingOf({ target, origin }: DatabaseAddress, purpose: Purpose): Dialing {
  return {
    configs: () => {
      const tls = tlsConfig(target);
      return target.hosts.map((host) => ({ ...configOf(target, host, purpose, origin), ...tls }));
    },
    session: SESSIONS.find((name) => name === target.parameters['target_session_attrs']) ?? 'any',
    hidden: origin === 'secret' ? textsOf(target) : [],
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
  const given = Object.entries(parameters).filter(([name]) => CHOICES[name] === undefined);
  const values = given.flatMap(([, value]) => [value, ...value.split(/[\s=]/)]);
  return [...hosts.map(({ host }) => host), user, password, database, ...values].flatMap(
    (text) => text || [],
  );
}

function configOf(
  { user, password, database, parameters }: ConnectionTarget,
  { host, port }: Host,
  { applicationName, timeoutMs }: Purpose,
  origin: DatabaseAddress['origin'],
): pg.ClientConfig {
  const given = SESSION_PARAMETERS.flatMap((name) => {
    return parameters[name] === undefined ? [] : [[name, parameters[name]] as const];
  });
  return {
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    application_name: applicationName,
    ...(host !== null && { host }),
    ...(port !== null && { port }),
    ...(user !== null && { user }),
    ...(database !== null && { database }),
    ...(password !== null && { password }),
    // Without a function the driver looks for PGPASSWORD.
    ...(password === null && origin === 'literal' && { password: () => '' }),
    ...Object.fromEntries(given),
  };
}

/** The driver's own reading of the parameters, of which the configuration is the only form it has. */
function tlsConfig({ parameters }: ConnectionTarget): pg.ClientConfig {
  const given = Object.entries(parameters).filter(([name]) => TLS_PARAMETERS.has(name));
  if (given.length === 0) return {};
  const query = given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  try {
    const { ssl, sslNegotiation: sslnegotiation } = new pg.Client({
      connectionString: `postgres://localhost/?${query}`,
    }) as unknown as { readonly ssl: pg.ClientConfig['ssl']; readonly sslNegotiation: string };
    return { ...(ssl !== undefined && { ssl }), sslnegotiation } as pg.ClientConfig;
  } catch {
    throw new ConnectionStringError('its TLS parameters cannot be used');
  }
}

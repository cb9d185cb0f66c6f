/** Opens one connection, encrypted as configured, to the first host that accepts it. In: the driver's configuration
 *  for each host, a Tls. Out: a connected client.
 *  As in libpq, the certificate chain of the server is verified whenever an authority is given, and its host name
 *  only in `verify-full`. `prefer` and `allow` have a second attempt for servers that refuse the first. Unix sockets
 *  are never encrypted.
 *  Not here: where certificates come from (database/tls.ts). PostgreSQL manual, "SSL Support". */
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { redacted } from './redacted.ts';

type SslMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** The encryption of a connection; certificates and keys are PEM texts. */
export type Tls = {
  readonly mode: SslMode;
  /** The trusted authorities; without them, those of Node.js. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
};

type Way = 'plain' | 'encrypted';

const WAYS: Readonly<Record<SslMode, readonly Way[]>> = {
  disable: ['plain'],
  allow: ['plain', 'encrypted'],
  prefer: ['encrypted', 'plain'],
  require: ['encrypted'],
  'verify-ca': ['encrypted'],
  'verify-full': ['encrypted'],
};

/** The states a server can be required to be in, as in libpq's `target_session_attrs`. */
export const SESSIONS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
type TargetSession = (typeof SESSIONS)[number];

export type Dialing = {
  /** Returns one configuration for each host, in the order of attempts. Called for each connection, because
   *  certificate files may change. */
  readonly configs: () => readonly pg.ClientConfig[];
  /** The required state of the server; any when absent. */
  readonly session?: TargetSession;
  /** Texts that errors must not contain. */
  readonly hidden?: readonly string[];
};

/** Connects. Without a Tls, the configuration decides about encryption. As in libpq, the next host is tried unless
 *  this one rejects the credentials. Raises the error of the last host. */
export async function dial(
  { configs, session = 'any', hidden = [] }: Dialing,
  tls: Tls | undefined,
): Promise<pg.Client> {
  let failure: unknown = new Error(`no server of the connection is ${session}`);
  for (const wanted of session === 'prefer-standby' ? (['standby', 'any'] as const) : [session]) {
    for (const config of configs()) {
      try {
        const client = await dialOne(config, tls);
        if (wanted === 'any' || (await isIn(client, wanted))) return client;
        await client.end();
      } catch (error) {
        failure = redacted(error, hidden);
        if (isAboutCredentials(error)) throw failure;
      }
    }
  }
  throw failure;
}

async function isIn(
  client: pg.Client,
  session: Exclude<TargetSession, 'any' | 'prefer-standby'>,
): Promise<boolean> {
  const { rows } = await client.query(
    `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as "readOnly"`,
  );
  const { standby, readOnly } = rows[0];
  if (session === 'primary' || session === 'standby') return standby === (session === 'standby');
  return (standby || readOnly) === (session === 'read-only');
}

function isAboutCredentials(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code?.startsWith('28') ?? false);
}

async function dialOne(config: pg.ClientConfig, tls: Tls | undefined): Promise<pg.Client> {
  if (!tls) return opened(config);
  const ways = isSocket(config) ? WAYS.disable : WAYS[tls.mode];
  const configs = ways.map((way) => ({ ...config, ssl: way === 'encrypted' ? optionsOf(tls) : false }));
  const [first, second] = configs;
  try {
    return await opened(first!);
  } catch (error) {
    if (!second || !isRefusal(error)) throw error;
    return opened(second);
  }
}

async function opened(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config);
  // A broken connection fails the statement that runs on it. Without a listener it would also end the process.
  client.on('error', () => {});
  await client.connect();
  return client;
}

function optionsOf({ mode, ca, cert, key }: Tls): ConnectionOptions {
  const isChecked = ca !== undefined || mode === 'verify-ca' || mode === 'verify-full';
  return {
    rejectUnauthorized: isChecked,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

/** True for a Unix socket. Only the driver knows its default host. */
function isSocket(config: pg.ClientConfig): boolean {
  return new pg.Client({ ...config, ssl: false }).host.startsWith('/');
}

/** True for an error of a reachable server that refuses this kind of connection, or this client, or fails the TLS
 *  handshake. */
function isRefusal(error: unknown): boolean {
  const { code, message = '', syscall } = error as { code?: string; message?: string; syscall?: string };
  if (error instanceof pg.DatabaseError) return code?.startsWith('28') ?? false;
  if (/^The server does not support SSL|establishing an SSL connection$/.test(message)) return true;
  return code !== undefined && syscall !== 'connect' && syscall !== 'getaddrinfo';
}

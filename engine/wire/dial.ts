/** Opens one connection, encrypted as far as is asked, to the first host that takes it. In: the driver's configuration for each
 *  host, a Tls. Out: a connected client.
 *  As libpq: the server's chain is checked wherever an authority is given, its host name in `verify-full` alone; `prefer` and
 *  `allow` have a second way, for a server that refuses the first; over Unix sockets nothing is encrypted.
 *  Not here: where certificates come from (database/tls.ts). PostgreSQL manual, "SSL Support". */
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { redacted } from './redacted.ts';

export type SslMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** What a connection is encrypted with; PEM texts. */
export type Tls = {
  readonly mode: SslMode;
  /** The authorities that are trusted; without them those Node.js trusts. */
  readonly ca?: string;
  /** Of the client. */
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

/** States that a server must be in, as in libpq's `target_session_attrs`. */
export const SESSIONS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
export type TargetSession = (typeof SESSIONS)[number];

export type Dialing = {
  /** One for each host, in the order to try them. Called for each connection, because certificates in files may change. */
  readonly configs: () => readonly pg.ClientConfig[];
  /** Absent: any server will do. */
  readonly session?: TargetSession;
  /** Texts that errors must not contain. */
  readonly hidden?: readonly string[];
};

/** Without a Tls, encrypted as the configuration says. As libpq, tries the next host unless this one refuses the credentials.
 *  Raises the failure of the last host tried. */
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
  // A connection that breaks fails what runs on it; without a listener it would end the process too.
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

/** Only the driver knows its defaults. */
function isSocket(config: pg.ClientConfig): boolean {
  return new pg.Client({ ...config, ssl: false }).host.startsWith('/');
}

/** By a server that is there: it does not take this way, or not from this client, or the handshake fails. */
function isRefusal(error: unknown): boolean {
  const { code, message = '', syscall } = error as { code?: string; message?: string; syscall?: string };
  if (error instanceof pg.DatabaseError) return code?.startsWith('28') ?? false;
  if (/^The server does not support SSL|establishing an SSL connection$/.test(message)) return true;
  return code !== undefined && syscall !== 'connect' && syscall !== 'getaddrinfo';
}

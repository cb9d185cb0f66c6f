/** Opens one connection to the first server that accepts it and is in the required state. In: the servers to try, a Tls. Out: a
 *  connected client.
 *  `prefer` and `allow` have a second attempt for servers that refuse the first. Unix sockets are never encrypted.
 *  Not here: sockets and their encryption (socket.ts), where addresses and certificates come from (database/connect.ts, tls.ts).
 *  PostgreSQL manual, "Database Connection Control Functions". */
import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import pg from 'pg';
import { type Authentication, requireAuthentication } from './authentication.ts';
import { redacted } from './redacted.ts';
import {
  isAboutTls,
  isEncrypted,
  isUnixSocket,
  openSocket,
  type ServerAddress,
  type SslMode,
  type Tls,
  type Way,
} from './socket.ts';

const WAYS: Readonly<Record<SslMode, readonly [Way, Way?]>> = {
  disable: ['plain'],
  allow: ['plain', 'encrypted'],
  prefer: ['offered', 'plain'],
  require: ['encrypted'],
  'verify-ca': ['encrypted'],
  'verify-full': ['encrypted'],
};

/** The states a server can be required to be in, as in libpq's `target_session_attrs`. */
export const SESSIONS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
type TargetSession = (typeof SESSIONS)[number];

/** One server, with what the driver needs for it. */
export type Server = ServerAddress & { readonly login: pg.ClientConfig };

export type Dialing = {
  /** Returns the servers in the order of attempts. Called for each connection, because files of passwords may change. */
  readonly servers: () => readonly Server[];
  /** Returns the encryption. Called for each connection, because certificate files may change. */
  readonly tls: () => Tls;
  /** The time limit for one server. */
  readonly timeoutMs: number;
  /** The required state of the server; any when absent. */
  readonly session?: TargetSession;
  /** True when servers, and the addresses of one host, are tried in random order. */
  readonly isShuffled?: boolean;
  readonly authentication?: Authentication;
  /** Texts that errors must not contain. */
  readonly hidden?: readonly string[];
};

/** How an open connection was opened, for a second one to the same server. */
const OPENED = new WeakMap<
  pg.Client,
  { readonly endpoint: ServerAddress; readonly way: Way; readonly tls: Tls }
>();

/** True when a statement that only a primary accepts has to find the new one after a failover. */
export function followsPrimary({ session }: Dialing): boolean {
  return session === 'read-write' || session === 'primary';
}

/** True for an error of opening a connection, as opposed to one of a statement. */
export function isNotConnected(error: unknown): boolean {
  return (error as { readonly isNotConnected?: boolean } | null)?.isNotConnected === true;
}

/** Connects; `tls` replaces the encryption of the connection. As in libpq, the next server is tried unless this one rejects the
 *  credentials. Raises the error of the last server. */
export async function dial(dialing: Dialing, tls?: Tls): Promise<pg.Client> {
  try {
    return await dialFirst(dialing, tls ?? dialing.tls());
  } catch (error) {
    throw Object.assign(redacted(error, dialing.hidden ?? []) as Error, { isNotConnected: true });
  }
}

async function dialFirst(dialing: Dialing, tls: Tls): Promise<pg.Client> {
  const { session = 'any' } = dialing;
  let failure: unknown = new Error(`no server of the connection is ${session}`);
  const servers = await serversOf(dialing, tls);
  for (const wanted of session === 'prefer-standby' ? (['standby', 'any'] as const) : [session]) {
    for (const server of servers) {
      try {
        if ('problem' in server) throw server.problem;
        const client = await dialOne(server, tls, dialing);
        if (wanted === 'any' || (await isIn(client, wanted))) return client;
        await client.end();
      } catch (error) {
        failure = error;
        if (isAboutCredentials(error)) throw failure;
      }
    }
  }
  throw failure;
}

/** Returns the servers with their addresses, where all addresses of a name may have to be tried. Otherwise Node.js chooses the
 *  address that connects first. */
async function serversOf(
  dialing: Dialing,
  tls: Tls,
): Promise<readonly (Server | { readonly problem: unknown })[]> {
  const { session = 'any', isShuffled = false } = dialing;
  const servers = inOrder(dialing.servers(), isShuffled);
  if (session === 'any' && !isShuffled && !tls.hidesName) return servers;
  const found = servers.map(async (server) => {
    if (server.address !== undefined || isUnixSocket(server) || isIP(server.host)) return [server];
    try {
      const addresses = await lookup(server.host, { all: true });
      return inOrder(addresses, isShuffled).map(({ address }) => ({ ...server, address }));
    } catch (problem) {
      return [{ problem }];
    }
  });
  return (await Promise.all(found)).flat();
}

/** Opens another socket to the server of a connection, with the same encryption. */
export function openBeside(client: pg.Client, timeoutMs: number): Promise<Socket> {
  const { endpoint, way, tls } = OPENED.get(client)!;
  return openSocket(endpoint, way, tls, timeoutMs);
}

function inOrder<T>(list: readonly T[], isShuffled: boolean): readonly T[] {
  if (!isShuffled) return list;
  return list
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

async function isIn(
  client: pg.Client,
  session: Exclude<TargetSession, 'any' | 'prefer-standby'>,
): Promise<boolean> {
  const text = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as "readOnly"`;
  const { rows } = await client.query(text).catch((error: unknown) => {
    client.end().catch(() => {});
    throw error;
  });
  const { standby, readOnly } = rows[0];
  if (session === 'primary' || session === 'standby') return standby === (session === 'standby');
  return (standby || readOnly) === (session === 'read-only');
}

function isAboutCredentials(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code?.startsWith('28') ?? false);
}

async function dialOne(server: Server, tls: Tls, dialing: Dialing): Promise<pg.Client> {
  const [first, second] = isUnixSocket(server) ? WAYS.disable : WAYS[tls.mode];
  let isPlain = first === 'plain';
  const open = async (way: Way) => {
    const until = performance.now() + dialing.timeoutMs;
    const socket = await openSocket(server, way, tls, dialing.timeoutMs);
    isPlain = !isEncrypted(socket);
    return logIn(socket, { server, tls, until, authentication: dialing.authentication });
  };
  try {
    return await open(first);
  } catch (error) {
    // A server without TLS has refused the second way of `prefer` already.
    if (second === undefined || (second === 'plain' && isPlain)) throw error;
    if (!isAboutTls(error) && !isAboutCredentials(error)) throw error;
    return await open(second).catch((next: unknown) => {
      // 28000: the server's rules have no entry for the first way, so the second one says more.
      throw (error as { readonly code?: unknown }).code === '28000' ? next : error;
    });
  }
}

type Login = {
  readonly server: Server;
  readonly tls: Tls;
  readonly until: number;
  readonly authentication: Authentication | undefined;
};

async function logIn(socket: Socket, { server, tls, until, authentication }: Login): Promise<pg.Client> {
  const { host, port, login } = server;
  const isSafe = isEncrypted(socket);
  const { remoteAddress } = socket;
  // The driver connects the socket it is given; this one is connected.
  socket.connect = () => {
    process.nextTick(() => socket.emit('connect'));
    return socket;
  };
  const client = new pg.Client({
    ...login,
    ...{ host, port, ssl: false, stream: () => socket },
    sslnegotiation: 'postgres',
    connectionTimeoutMillis: Math.max(1, until - performance.now()),
    enableChannelBinding: isSafe && authentication?.channelBinding !== 'disable',
  } as pg.ClientConfig);
  // A broken connection fails the statement that runs on it. Without a listener it would also end the process.
  client.on('error', () => {});
  if (authentication) requireAuthentication(client, authentication, isSafe);
  try {
    await client.connect();
  } catch (error) {
    socket.destroy();
    throw error;
  }
  const endpoint = isUnixSocket(server) ? server : { host, port, address: remoteAddress };
  OPENED.set(client, { endpoint, way: isSafe ? 'encrypted' : 'plain', tls });
  return client;
}

/** Opens a socket to a server of Postgres and encrypts it as configured. In: where the server listens, a Tls. Out: a connected
 *  socket, on which nothing has been sent but what the encryption needs.
 *  The chain of the server's certificate is verified whenever there are authorities, and its name only in `verify-full`.
 *  Not here: which way is tried first (dial.ts), where certificates come from (database/tls.ts). PostgreSQL manual, "SSL Support"
 *  and "SSL Session Encryption". */
import { connect, isIP, type Socket } from 'node:net';
import {
  checkServerIdentity,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type SecureVersion,
  TLSSocket,
} from 'node:tls';
import { admittedHost, isLoopbackHost, type Network } from '../outgoing/addresses.ts';
import { connectShared } from './reading.ts';

export type SslMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';

/** The encryption of a connection; certificates, keys and revocation lists are PEM texts. */
export type Tls = {
  readonly mode: SslMode;
  /** The trusted authorities; without them, certificates are not verified. */
  readonly ca?: string | readonly string[];
  readonly crl?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly minVersion?: SecureVersion;
  readonly maxVersion?: SecureVersion;
  /** True when the handshake begins without a request for it. */
  readonly isDirect?: boolean;
  /** True when the handshake does not name the host. */
  readonly hidesName?: boolean;
};

/** The address of a server: a host and a port. */
export type ServerAddress = {
  /** A name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  /** The IP address to connect to in place of the host. */
  readonly address?: string | undefined;
};

/** `offered`: encrypted if the server supports it. */
export type Way = 'plain' | 'offered' | 'encrypted';

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const PROTOCOL = 'postgresql';

export function isUnixSocket({ host, address }: ServerAddress): boolean {
  return address === undefined && host.startsWith('/');
}

/** True for an error of the TLS handshake, or of a server that refuses to begin one. */
export function isAboutTls(error: unknown): boolean {
  return (error as { readonly isAboutTls?: boolean } | null)?.isAboutTls === true;
}

/** Raises the error of the network, of the handshake, AddressRefused, or that there was no answer in time. */
export async function openSocket(
  endpoint: ServerAddress,
  way: Way,
  tls: Tls,
  timeoutMs: number,
  network?: Network,
): Promise<Socket> {
  const { host, port, address } = endpoint;
  const open = way === 'plain' ? connectShared : connect;
  const socket = open(
    isUnixSocket(endpoint)
      ? { path: `${host}/.s.PGSQL.${port}` }
      : { port, ...admittedHost(address ?? host, isLoopbackHost(host), network) },
  );
  let isLate = false;
  let isConnected = false;
  const timer = setTimeout(() => {
    isLate = true;
    socket.destroy();
  }, timeoutMs);
  try {
    await once(socket, 'connect');
    isConnected = true;
    socket.setNoDelay(true);
    return way === 'plain' ? socket : await encrypted(socket, endpoint, way, tls);
  } catch (error) {
    socket.destroy();
    if (isLate) throw new Error('timeout expired');
    throw isConnected ? Object.assign(error as Error, { isAboutTls: true }) : error;
  } finally {
    clearTimeout(timer);
  }
}

async function encrypted(socket: Socket, endpoint: ServerAddress, way: Way, tls: Tls): Promise<Socket> {
  if (!tls.isDirect && !(await isAccepted(socket))) {
    if (way === 'offered') return socket;
    throw new Error('The server does not support SSL connections');
  }
  const secure = connectTls({ socket, ...optionsOf(endpoint, tls) });
  await once(secure, 'secureConnect');
  if (tls.isDirect && secure.alpnProtocol !== PROTOCOL)
    throw new Error('The server does not support direct SSL connections');
  return secure;
}

/** Requests encryption. The answer is one byte; more is text that an attacker has put in front of the encrypted stream. */
async function isAccepted(socket: Socket): Promise<boolean> {
  socket.write(SSL_REQUEST);
  const answer = (await once(socket, 'data')) as Buffer;
  const letter = answer.toString('latin1');
  if (letter === 'S' || letter === 'N') return letter === 'S';
  throw new Error('There was an error establishing an SSL connection');
}

function optionsOf({ host }: ServerAddress, tls: Tls) {
  const { mode, ca, isDirect, hidesName } = tls;
  const isNamed = isIP(host) === 0 && !host.startsWith('/');
  return {
    rejectUnauthorized: ca !== undefined,
    // Without a name the handshake would verify `localhost`.
    checkServerIdentity: (_: string, certificate: Parameters<typeof checkServerIdentity>[1]) =>
      mode === 'verify-full' ? checkServerIdentity(host, certificate) : undefined,
    ...(isNamed && !hidesName && { servername: host }),
    ...(isDirect && { ALPNProtocols: [PROTOCOL] }),
    secureContext: contextOf(tls),
  };
}

/** The contexts of lists of authorities. To parse those of a system takes 40 ms. */
const CONTEXTS = new WeakMap<readonly string[], SecureContext>();

function contextOf({ ca, crl, cert, key, minVersion, maxVersion }: Tls): SecureContext {
  const own = { crl, cert, key, minVersion, maxVersion };
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  if (ca === undefined || typeof ca === 'string') return createSecureContext({ ...given, ...(ca && { ca }) });
  const list = [...ca];
  if (Object.keys(given).length > 0) return createSecureContext({ ...given, ca: list });
  const context = CONTEXTS.get(ca) ?? createSecureContext({ ca: list });
  CONTEXTS.set(ca, context);
  return context;
}

/** Waits for an event of a socket. Raises its error, or that it was closed. */
function once(socket: Socket, event: 'connect' | 'secureConnect' | 'data'): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new Error('Connection terminated unexpectedly'));
    const done = (value: unknown) => {
      socket.off('close', closed);
      socket.off('end', closed);
      resolve(value);
    };
    // This listener stays: without one, a later error would end the process.
    socket.on('error', reject);
    socket.once('close', closed);
    socket.once('end', closed);
    socket.once(event, done);
  });
}

export function isEncrypted(socket: unknown): socket is TLSSocket {
  return socket instanceof TLSSocket;
}

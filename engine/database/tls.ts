/** A source's `ssl_configuration`, or the TLS parameters of a connection string → what its connections are encrypted with, and the
 *  files and variables of that for programs of Postgres. The texts of certificates and keys are never in a message.
 *  Raises `tlsUnusable`, with the path within `connection_info`; a variable that is not set is `connectionSecretMissing`; for parameters,
 *  ConnectionStringError. Not here: what the modes mean (wire/dial.ts, wire/socket.ts), connection strings (connection-string.ts).
 *  Reference: docs/reference/behaviour/metadata.md; PostgreSQL manual, "SSL Support". */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, type SecureVersion } from 'node:tls';
import { fail, withPath } from '../errors/engine-error.ts';
import { partReferences } from '../metadata/references.ts';
import type { SslConfiguration } from '../metadata/schema/source.ts';
import type { SslMode, Tls } from '../wire/socket.ts';
import { ConnectionStringError, type Keywords } from './connection-string.ts';
import { type ConnectionSecrets, connectionText } from './database-url.ts';

/** A larger file contains no certificates. */
const MOST_BYTES = 4 * 1024 * 1024;

type Part = Exclude<keyof SslConfiguration, 'sslmode'>;

/** The texts that a Tls consists of; `system` are the authorities that this computer and Node.js trust. */
type Texts = { readonly [name in Part | 'sslcrl']?: string | undefined };

type Refuse = (part: Part | 'sslcrl' | 'sslmode', text: string) => never;

/** The encryption that a source's `ssl_configuration` describes. */
export function tlsOf(configuration: SslConfiguration, secrets: ConnectionSecrets): Tls {
  const { sslmode: mode } = configuration;
  if (mode === 'disable') return { mode };
  const texts = (['sslrootcert', 'sslcert', 'sslkey', 'sslpassword'] as const).map((part) => {
    return [part, textOf(part, configuration, secrets)] as const;
  });
  return composed(mode, Object.fromEntries(texts), (part, text) =>
    fail('tlsUnusable', { text }, { path: ['ssl_configuration', part as keyof SslConfiguration] }),
  );
}

/** The encryption that the parameters of a connection string describe. As in libpq, no `sslmode` is `prefer`, and with the
 *  authorities of the system `verify-full`. A file that is named has to be readable, which libpq does not demand in every mode. */
export function tlsOfParameters(parameters: Keywords): Tls {
  const { sslmode, sslrootcert, sslcrl, sslcert, sslkey, sslpassword } = parameters;
  const mode = (sslmode as SslMode | undefined) ?? (sslrootcert === 'system' ? 'verify-full' : 'prefer');
  if (mode === 'disable') return { mode };
  const hasCertificate = parameters['sslcertmode'] !== 'disable';
  const texts = {
    sslrootcert: sslrootcert === 'system' ? sslrootcert : fileText('sslrootcert', sslrootcert),
    sslcrl: fileText('sslcrl', sslcrl),
    ...(hasCertificate && {
      sslcert: fileText('sslcert', sslcert),
      sslkey: fileText('sslkey', sslkey),
      sslpassword,
    }),
  };
  const versions = {
    minVersion: parameters['ssl_min_protocol_version'] as SecureVersion | undefined,
    maxVersion: parameters['ssl_max_protocol_version'] as SecureVersion | undefined,
  };
  return {
    ...composed(mode, texts, (_, text) => {
      throw new ConnectionStringError(text);
    }),
    ...(versions.minVersion && { minVersion: versions.minVersion }),
    ...(versions.maxVersion && { maxVersion: versions.maxVersion }),
    ...(parameters['sslnegotiation'] === 'direct' && { isDirect: true }),
    ...(parameters['sslsni'] === '0' && { hidesName: true }),
  };
}

/** `verify-ca` needs an authority of one's own: of those everybody trusts, anybody has a certificate. */
function composed(mode: SslMode, texts: Texts, refuse: Refuse): Tls {
  const { sslrootcert, sslcrl, sslcert: cert, sslkey: key, sslpassword: passphrase } = texts;
  if (mode === 'verify-ca' && sslrootcert === undefined)
    refuse('sslmode', 'sslmode verify-ca needs an sslrootcert');
  if (cert === undefined && key !== undefined) refuse('sslkey', 'sslcert and sslkey need each other');
  if (key === undefined && cert !== undefined) refuse('sslcert', 'sslcert and sslkey need each other');
  const isSystem = sslrootcert === 'system' || (mode === 'verify-full' && sslrootcert === undefined);
  if (!isSystem && sslrootcert !== undefined) certificate('sslrootcert', sslrootcert, refuse);
  const ca = isSystem ? systemAuthorities() : sslrootcert;
  const server = {
    mode,
    ...(ca !== undefined && { ca }),
    ...(ca !== undefined && sslcrl !== undefined && { crl: sslcrl }),
  };
  if (cert === undefined || key === undefined) return server;
  const opened = privateKey(key, passphrase, refuse);
  if (!certificate('sslcert', cert, refuse).checkPrivateKey(opened))
    refuse('sslkey', 'sslkey is not the key of sslcert');
  const pem = opened.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { ...server, cert, key: pem };
}

let known: readonly string[] | undefined;

/** Returns the authorities of Node.js (`NODE_EXTRA_CA_CERTS` included) and those of the operating system. They are read once. */
function systemAuthorities(): readonly string[] {
  known ??= [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  return known;
}

/** Calls `body` with variables for libpq. Their files exist until it ends and are readable only by this user. */
export async function withTlsFiles<T>(
  tls: Tls,
  body: (env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pergola-tls-'));
  try {
    const env: Record<string, string> = {
      PGSSLMODE: tls.mode,
      ...(tls.isDirect && { PGSSLNEGOTIATION: 'direct' }),
      ...(tls.hidesName && { PGSSLSNI: '0' }),
      ...(tls.minVersion && { PGSSLMINPROTOCOLVERSION: tls.minVersion }),
      ...(tls.maxVersion && { PGSSLMAXPROTOCOLVERSION: tls.maxVersion }),
    };
    for (const [variable, part] of FILES) {
      const text = tls[part];
      if (text === undefined) continue;
      env[variable] = join(folder, part);
      await writeFile(env[variable], [text].flat().join('\n'), { mode: 0o600 });
    }
    return await body(env);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const FILES = [
  ['PGSSLROOTCERT', 'ca'],
  ['PGSSLCRL', 'crl'],
  ['PGSSLCERT', 'cert'],
  ['PGSSLKEY', 'key'],
] as const;

function textOf(part: Part, configuration: SslConfiguration, secrets: ConnectionSecrets): string | undefined {
  const source = configuration[part];
  if (!source || typeof source === 'string') return source || undefined;
  return withPath('ssl_configuration', () =>
    withPath(part, () => {
      const [reference, another] = partReferences(source);
      if (reference === undefined || another !== undefined) {
        fail('tlsUnusable', { text: `${part} needs exactly one of from_env, from_value and from_file` });
      }
      return connectionText(reference, secrets);
    }),
  );
}

function fileText(part: Part | 'sslcrl', path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    // Metadata may name any path, also one of a device.
    const status = statSync(path);
    if (status.isFile() && status.size <= MOST_BYTES) return readFileSync(path, 'utf8');
  } catch {
    // Refused below.
  }
  throw new ConnectionStringError(`${part} of the connection cannot be read`);
}

function certificate(part: Part, pem: string, refuse: Refuse): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    return refuse(part, `${part} is not a certificate in PEM`);
  }
}

function privateKey(key: string, passphrase: string | undefined, refuse: Refuse): KeyObject {
  try {
    return createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
  } catch {
    return refuse('sslkey', 'sslkey is not a private key in PEM, or sslpassword does not open it');
  }
}

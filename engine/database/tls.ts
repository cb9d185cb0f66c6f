/** A source's `ssl_configuration` → what its connections are encrypted with, and the files and variables of that for
 *  programs of Postgres. The environment's variables hold PEM texts; none of them is ever in a message.
 *  Raises `tlsUnusable`, with the path within `connection_info`; a variable that is not set is `connectionSecretMissing`. Not here: what the modes mean (wire/dial.ts), connection strings (connection-string.ts).
 *  Reference: docs/reference/behaviour/metadata.md; PostgreSQL manual, "SSL Support". */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, withPath } from '../errors/engine-error.ts';
import type { SslConfiguration } from '../metadata/schema/source.ts';
import type { Environment } from '../resolve/environment-variables.ts';
import type { Tls } from '../wire/dial.ts';
import { connectionVariable } from './database-url.ts';

type Part = Exclude<keyof SslConfiguration, 'sslmode'>;

/** Texts that can be used. `verify-ca` needs an authority of one's own: of those everybody trusts, anybody has a certificate. */
export function tlsOf(configuration: SslConfiguration, env: Environment): Tls {
  const { sslmode: mode } = configuration;
  if (mode === 'disable') return { mode };
  const [ca, cert, key, passphrase] = (['sslrootcert', 'sslcert', 'sslkey', 'sslpassword'] as const).map(
    (part) => textOf(part, configuration, env),
  );
  if (mode === 'verify-ca' && ca === undefined) refuse('sslmode', 'sslmode verify-ca needs an sslrootcert');
  if (cert === undefined && key !== undefined) refuse('sslkey', 'sslcert and sslkey need each other');
  if (key === undefined && cert !== undefined) refuse('sslcert', 'sslcert and sslkey need each other');
  if (ca !== undefined) certificate('sslrootcert', ca);
  if (cert === undefined || key === undefined) return { mode, ...(ca !== undefined && { ca }) };
  const opened = privateKey(key, passphrase);
  if (!certificate('sslcert', cert).checkPrivateKey(opened))
    refuse('sslkey', 'sslkey is not the key of sslcert');
  const pem = opened.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { mode, ...(ca !== undefined && { ca }), cert, key: pem };
}

/** Calls `body` with variables for libpq. Their files exist until it ends and are readable only by this user. */
export async function withTlsFiles<T>(
  { mode, ...texts }: Tls,
  body: (env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pergola-tls-'));
  try {
    const env: Record<string, string> = { PGSSLMODE: mode };
    for (const [variable, part] of FILES) {
      const text = texts[part];
      if (text === undefined) continue;
      env[variable] = join(folder, part);
      await writeFile(env[variable], text, { mode: 0o600 });
    }
    if (mode === 'verify-full') env['PGSSLROOTCERT'] ??= 'system';
    return await body(env);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const FILES = [
  ['PGSSLROOTCERT', 'ca'],
  ['PGSSLCERT', 'cert'],
  ['PGSSLKEY', 'key'],
] as const;

function textOf(part: Part, configuration: SslConfiguration, env: Environment): string | undefined {
  const variable = configuration[part]?.from_env;
  if (variable === undefined) return undefined;
  return withPath('ssl_configuration', () => withPath(part, () => connectionVariable(variable, env)));
}

function certificate(part: Part, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    return refuse(part, `${part} is not a certificate in PEM`);
  }
}

function privateKey(key: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) });
  } catch {
    return refuse('sslkey', 'sslkey is not a private key in PEM, or sslpassword does not open it');
  }
}

function refuse(part: keyof SslConfiguration, text: string): never {
  return fail('tlsUnusable', { text }, { path: ['ssl_configuration', part] });
}

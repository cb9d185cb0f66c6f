/** A source's `database_url` in any of its four forms → the address to connect to.
 *  Raises `connectionSecretMissing`; `invalidConfiguration` for a variable or file that may not be used or holds no connection string. No message has
 *  any part of a variable's or a file's content. Not here: the grammar (connection-string.ts). Reference: docs/reference/behaviour/metadata.md. */
import { isForConnections } from '../config/options.ts';
import { fail, withSteps } from '../errors/engine-error.ts';
import { own } from '../metadata/own.ts';
import { parseReference, printReference, referenceOf } from '../metadata/references.ts';
import type { DatabaseUrl } from '../metadata/schema/source.ts';
import type { Environment, ReferenceReader } from '../resolve/environment-variables.ts';
import { isBelow, secretFile } from '../values/secret-file.ts';
import { completedBy, type DatabaseAddress, type Origin } from './connection-defaults.ts';
import { ConnectionStringError, type ConnectionTarget, parseConnectionString } from './connection-string.ts';

/** The places that connection strings may be read from. */
export type ConnectionSecrets = {
  readonly env: Environment;
  /** Files are read below these folders only (--dynamic-secrets-path). */
  readonly folders: readonly string[];
  /** Reads named values and files. Without it there are none. */
  readonly references?: ReferenceReader | undefined;
};

export function databaseAddress(url: DatabaseUrl, secrets: ConnectionSecrets): DatabaseAddress {
  const { env, folders } = secrets;
  const address = (text: string, where: string, origin: Origin): DatabaseAddress => {
    return { target: parsed(text, where, env, origin), origin };
  };
  if (typeof url === 'string') return address(url, 'the database URL', 'literal');
  if ('from_env' in url || 'from_value' in url) {
    const reference = referenceOf(url);
    const origin = 'from_value' in url ? 'value' : 'secret';
    return address(connectionText(reference, secrets), printReference(reference), origin);
  }
  if ('dynamic_from_file' in url) {
    const path = url.dynamic_from_file;
    return address(readSecret(path, folders), `file ${JSON.stringify(path)}`, 'secret');
  }
  const { username, password: given, host, port, database } = url.connection_parameters;
  const password =
    typeof given === 'object' && given !== null
      ? withSteps(['connection_parameters', 'password'], () => connectionText(referenceOf(given), secrets))
      : given;
  const { parameters } = parsed('postgres://', 'the connection', env, 'literal');
  const target = { user: username, password: password || null, database, parameters };
  return { target: { hosts: [{ host, port }], ...target }, origin: 'literal' };
}

/** Returns the text of a variable, named value or file that a connection uses. Raises as `databaseAddress`. */
export function connectionText(reference: string, { env, references }: ConnectionSecrets): string {
  const variable = printReference(reference);
  if (parseReference(reference).from !== 'env') {
    const text = references?.read(reference);
    return text || miss(references?.problemOf(reference) ?? `${variable} is not set`, reference);
  }
  const name = reference;
  if (!isForConnections(name)) refuse(`${variable} is an option of the engine, and no connection may use it`);
  return own(env, name) || miss(`${variable} is not set`);
}

function parsed(text: string, where: string, env: Environment, origin: Origin): ConnectionTarget {
  try {
    return parseConnectionString(text.trim(), completedBy(env, origin));
  } catch (error) {
    if (!(error instanceof ConnectionStringError)) throw error;
    return refuse(`${where} is not a connection string of Postgres: ${error.message}`);
  }
}

/** The file's path may lead through links, as those of Kubernetes do; its end must be below a folder, too. */
function readSecret(path: string, folders: readonly string[]): string {
  const file = `file ${JSON.stringify(path)}`;
  if (!isBelow(folders, path)) refuse(`${file} is not below a folder of --dynamic-secrets-path`);
  return secretFile(path, folders) ?? miss(`cannot read the database URL from ${file}`);
}

function miss(text: string, lacks?: string): never {
  return fail('connectionSecretMissing', { text }, { lacks });
}

function refuse(text: string): never {
  return fail('invalidConfiguration', { text });
}

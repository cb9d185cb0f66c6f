/** A source's `database_url` in any of its four forms → the address to connect to.
 *  Raises `connectionSecretMissing`; `invalidConfiguration` for a variable or file that may not be used or holds no connection string. No message has
 *  any part of a variable's or a file's content. Not here: the grammar (connection-string.ts). Reference: docs/reference/behaviour/metadata.md. */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { isForConnections } from '../config/options.ts';
import { fail } from '../errors/engine-error.ts';
import { own } from '../metadata/own.ts';
import type { DatabaseUrl } from '../metadata/schema/source.ts';
import type { Environment } from '../resolve/environment-variables.ts';
import { completedBy, type DatabaseAddress, type Origin } from './connection-defaults.ts';
import { ConnectionStringError, type ConnectionTarget, parseConnectionString } from './connection-string.ts';

/** The places that connection strings may be read from. */
export type ConnectionSecrets = {
  readonly env: Environment;
  /** Files are read below these folders only (--dynamic-secrets-path). */
  readonly folders: readonly string[];
};

/** A file with more than that is no connection string. */
const MOST_BYTES = 65_536;

export function databaseAddress(url: DatabaseUrl, { env, folders }: ConnectionSecrets): DatabaseAddress {
  const address = (text: string, where: string, origin: Origin): DatabaseAddress => {
    return { target: parsed(text, where, env, origin), origin };
  };
  if (typeof url === 'string') return address(url, 'the database URL', 'literal');
  if ('from_env' in url) {
    const variable = `environment variable ${JSON.stringify(url.from_env)}`;
    return address(connectionVariable(url.from_env, env), variable, 'secret');
  }
  if ('dynamic_from_file' in url) {
    const path = url.dynamic_from_file;
    return address(readSecret(path, folders), `file ${JSON.stringify(path)}`, 'secret');
  }
  const { username, password, host, port, database } = url.connection_parameters;
  const { parameters } = parsed('postgres://', 'the connection', env, 'literal');
  const target = { user: username, password: password || null, database, parameters };
  return { target: { hosts: [{ host, port }], ...target }, origin: 'literal' };
}

/** Returns the value of a variable that a connection uses. Raises as `databaseAddress`. */
export function connectionVariable(name: string, env: Environment): string {
  const variable = `environment variable ${JSON.stringify(name)}`;
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
  const isBelow = folders.some((folder) => isWithin(resolve(folder), resolve(path)));
  if (!isAbsolute(path) || !isBelow) refuse(`${file} is not below a folder of --dynamic-secrets-path`);
  return contentOf(path, folders) ?? miss(`cannot read the database URL from ${file}`);
}

/** Null when there is no file that may be read. */
function contentOf(path: string, folders: readonly string[]): string | null {
  let descriptor: number | undefined;
  try {
    const real = realpathSync(path);
    if (!folders.some((folder) => isWithin(realOf(folder), real))) return null;
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = fstatSync(descriptor);
    return status.isFile() && status.size <= MOST_BYTES ? readFileSync(descriptor, 'utf8') : null;
  } catch {
    return null;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The folder itself where it does not exist: nothing is below it then. */
function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function miss(text: string): never {
  return fail('connectionSecretMissing', { text });
}

function refuse(text: string): never {
  return fail('invalidConfiguration', { text });
}

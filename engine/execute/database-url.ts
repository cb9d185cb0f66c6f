/** A source's `database_url` in any of its four forms → the URL to connect to.
 *  Raises `invalidConfiguration` when an environment variable or file is missing; a URL never appears in a message. */
import { readFileSync } from 'node:fs';
import { fail } from '../errors/engine-error.ts';
import { own } from '../metadata/own.ts';
import type { DatabaseUrl } from '../metadata/schema/source.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export function connectionUrl(url: DatabaseUrl, env: Environment): string {
  if (typeof url === 'string') return url;
  if ('from_env' in url) {
    const value = own(env, url.from_env);
    if (value) return value;
    return fail('invalidConfiguration', { text: `environment variable "${url.from_env}" is not set` });
  }
  if ('dynamic_from_file' in url) return fromFile(url.dynamic_from_file);
  const { username, password, host, port, database } = url.connection_parameters;
  const built = new URL('postgres://localhost');
  built.username = encodeURIComponent(username);
  if (password) built.password = encodeURIComponent(password);
  built.hostname = host;
  built.port = String(port);
  built.pathname = `/${encodeURIComponent(database)}`;
  return built.href;
}

function fromFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return fail('invalidConfiguration', { text: `cannot read the database URL from file "${path}"` });
  }
}

/** Starts an engine for tests in this process, on a random port. In: the URL of a real database and any options by name. Out: its URL
 *  and functions that send GraphQL requests and admin operations. Not here: the database (database.ts). */
import { randomBytes } from 'node:crypto';
import { loadOptions } from '../engine/config/load-options.ts';
import type { Options } from '../engine/config/options.ts';
import { startEngine } from '../engine/main.ts';
import type { Log } from '../engine/observe/sinks.ts';

export type TestEngineOptions = {
  readonly databaseUrl: string;
  /** The environment variables that `{from_env}` can name, besides the database URL. */
  readonly env?: Readonly<Record<string, string>>;
  readonly log?: Log;
} & { readonly [K in keyof Options]?: Options[K] | undefined };

export type GraphqlAnswer<T> = {
  readonly data?: T;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions: { code: string; path: string };
  }[];
};

export type TestEngine = {
  readonly url: string;
  readonly adminSecret: string;
  /** Sends a request as `role` with the admin secret, as the administrator by default, or with exactly `headers` when `role` is null. */
  readonly graphql: <T = Record<string, unknown>>(
    query: string,
    options?: {
      readonly role?: string | null;
      readonly variables?: Readonly<Record<string, unknown>>;
      readonly operationName?: string;
      readonly headers?: Readonly<Record<string, string>>;
    },
  ) => Promise<GraphqlAnswer<T>>;
  /** Sends one admin operation to /v1/metadata, run_sql to /v2/query, or to `endpoint`. */
  readonly admin: <T = unknown>(
    type: string,
    args: unknown,
    options?: {
      readonly endpoint?: '/v1/query' | '/v1/metadata' | '/v2/query';
      readonly version?: number;
      readonly resourceVersion?: number;
      readonly headers?: Readonly<Record<string, string>>;
    },
  ) => Promise<{ readonly status: number; readonly body: T }>;
  /** Sends one admin operation that has to succeed, and returns the body of its answer. */
  readonly must: <T = Record<string, unknown>>(...request: Parameters<TestEngine['admin']>) => Promise<T>;
  /** Requests any path with the admin secret. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
  readonly close: () => Promise<void>;
};

/** Prints unexpected errors, which clients do not see, for the developer who runs the test. */
const LOG: Log = {
  observe: (observation) => {
    if (observation.kind === 'unexpected') console.error(observation.error);
  },
  flush: () => {},
};

const VALUES_KEY = 'the-key-of-named-values-in-tests-0123456789';

/** Starts an engine with a random admin secret. */
export async function startTestEngine({
  env = {},
  log = LOG,
  ...given
}: TestEngineOptions): Promise<TestEngine> {
  const adminSecret = given.adminSecret ?? randomBytes(8).toString('hex');
  const defaults = loadOptions(['--database-url', given.databaseUrl, '--server-port', '0'], {});
  const options = {
    ...defaults,
    serverHost: '127.0.0.1',
    gracefulShutdownTimeout: 5,
    valuesKey: VALUES_KEY,
    ...given,
    adminSecret,
  };
  const engine = await startEngine(options as Options, env, log);
  const secret = { [`${options.headerPrefix}admin-secret`]: adminSecret };
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>>) =>
    fetch(engine.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const admin: TestEngine['admin'] = async (
    type,
    args,
    { endpoint, version, resourceVersion, headers = {} } = {},
  ) => {
    const path = endpoint ?? (type.endsWith('run_sql') ? '/v2/query' : '/v1/metadata');
    const body = { type, args, version, resource_version: resourceVersion };
    const response = await post(path, body, { ...secret, ...headers });
    return { status: response.status, body: (await response.json()) as never };
  };
  return {
    url: engine.url,
    adminSecret,
    graphql: async (query, { role, variables, operationName, headers = {} } = {}) => {
      const asRole = role === undefined ? {} : { [`${options.headerPrefix}role`]: role ?? '' };
      const body = { query, variables, operationName };
      const response = await post(
        '/v1/graphql',
        body,
        role === null ? headers : { ...secret, ...asRole, ...headers },
      );
      return response.json() as never;
    },
    admin,
    must: async (type, args, options) => {
      const { status, body } = await admin(type, args, options);
      if (status !== 200) throw new Error(`${type}: ${status} ${JSON.stringify(body)}`);
      return body as never;
    },
    fetch: (path, init = {}) =>
      fetch(engine.url + path, { ...init, headers: { ...secret, ...init.headers } }),
    close: async () => {
      await engine.close();
    },
  };
}

/** Replaces the metadata of an engine with a default source, whose connection is kept, and the other `parts` of a document. */
export async function replaceMetadata<T>(
  engine: TestEngine,
  source: object,
  parts: object = {},
): Promise<{ readonly status: number; readonly body: T }> {
  const { body } = await engine.admin<{ sources: { configuration: object }[] }>('export_metadata', {});
  const { configuration } = body.sources[0]!;
  const sources = [{ name: 'default', kind: 'postgres', configuration, ...source }];
  return engine.admin('replace_metadata', { metadata: { version: 3, sources, ...parts } }, { version: 2 });
}

/** Tests options: flags, variables, defaults, and error messages. */
import { expect, test } from 'vitest';
import { isReserved } from '../metadata/variables.ts';
import { foreignSettings, loadOptions, OptionsError } from './load-options.ts';
import {
  nameOf,
  OPTIONS,
  type OptionFlag,
  type OptionRow,
  settingsOf,
  variableOf,
  variablesOf,
  variablesWithoutEffect,
  WITHOUT_EFFECT,
} from './options.ts';
import { optionsHelp } from './options-help.ts';

const DATABASE = ['--database-url', 'postgres://x'];
const load = (argv: string[] = [], env: Record<string, string> = {}) =>
  loadOptions([...DATABASE, ...argv], env);

function problemsOf(argv: string[], env: Record<string, string> = {}): readonly string[] {
  try {
    loadOptions([...DATABASE, ...argv], env);
  } catch (error) {
    if (error instanceof OptionsError) return error.problems;
    throw error;
  }
  return [];
}

test('without flags and variables the defaults apply', () => {
  const options = load();
  expect(options.serverPort).toBe(8080);
  expect(options.serverHost).toBe('*');
  expect(options.adminSecret).toBeUndefined();
  expect(options.enableConsole).toBe(false);
  expect(options.headerPrefix).toBe('x-engine-');
});

test('a variable is read, and a flag overrides it', () => {
  const env = { ENGINE_GRAPHQL_SERVER_PORT: '1111' };
  expect(load([], env).serverPort).toBe(1111);
  expect(load(['--server-port', '2222'], env).serverPort).toBe(2222);
  expect(load(['--server-port=3333'], env).serverPort).toBe(3333);
});

test('an empty variable counts as unset', () => {
  expect(load([], { ENGINE_GRAPHQL_ADMIN_SECRET: '' }).adminSecret).toBeUndefined();
  expect(load([], { ENGINE_GRAPHQL_SERVER_PORT: '' }).serverPort).toBe(8080);
});

test('an empty flag is an error, so that an empty shell variable loses no secret', () => {
  expect(problemsOf(['--admin-secret', ''])).toEqual(['--admin-secret needs a value']);
  expect(problemsOf(['--admin-secret='])).toEqual(['--admin-secret needs a value']);
  expect(problemsOf(['--server-port'])).toEqual(['--server-port needs a value']);
});

test.each(['true', 'T', 'yes', 'y', 'on', '1'])('%s means true', (text) => {
  expect(load([], { ENGINE_GRAPHQL_DEV_MODE: text }).devMode).toBe(true);
});

test.each(['false', 'F', 'no', 'n', 'off', '0'])('%s means false', (text) => {
  expect(load([], { ENGINE_GRAPHQL_ADMIN_INTERNAL_ERRORS: text }).adminInternalErrors).toBe(false);
});

test('a bare boolean flag means true, and a value may follow it', () => {
  expect(load(['--enable-console', '--dev-mode']).enableConsole).toBe(true);
  expect(load(['--admin-internal-errors', 'false', '--dev-mode'])).toMatchObject({
    adminInternalErrors: false,
    devMode: true,
  });
});

test('enabled APIs are a comma-separated list of known names', () => {
  expect(load(['--enabled-apis', 'graphql, CONFIG']).enabledApis).toEqual(['graphql', 'config']);
  expect(problemsOf(['--enabled-apis', 'graphql,grapql'])[0]).toMatch(
    /--enabled-apis expects one of metadata, /,
  );
});

test('a feature that is always on is accepted, an unknown one is not', () => {
  expect(load(['--experimental-features', 'inherited_roles,group_by']).experimentalFeatures).toEqual([
    'inherited_roles',
    'group_by',
  ]);
  expect(problemsOf(['--experimental-features', 'teleport'])[0]).toMatch(
    /expects one of naming_convention, /,
  );
});

test('an unknown flag is refused, with the nearest known one', () => {
  expect(problemsOf(['--admin-secrt', 'hush'])).toEqual([
    'there is no flag --admin-secrt; did you mean --admin-secret?',
  ]);
});

test('unknown variables are ignored', () => {
  expect(problemsOf([], { ENGINE_GRAPHQL_NO_SUCH_THING: '1' })).toEqual([]);
});

test('all problems are reported at once, by the name the option was given with', () => {
  expect(problemsOf(['--server-port', 'http', 'stray'], { ENGINE_GRAPHQL_LOG_LEVEL: 'loud' })).toEqual([
    'there is a value that belongs to no flag',
    '--server-port expects a whole number from 0 to 65535, not "http"',
    'ENGINE_GRAPHQL_LOG_LEVEL expects one of debug, info, warn, error, not "loud"',
  ]);
});

test('a problem with a secret does not repeat the secret', () => {
  expect(problemsOf(['--admin-secrets', 'hush']).join()).not.toContain('hush');
  expect(problemsOf(['hush']).join()).not.toContain('hush');
});

test('several secrets are a JSON array of texts', () => {
  expect(load(['--admin-secrets', '["a","b"]']).adminSecrets).toEqual(['a', 'b']);
  for (const wrong of ['[]', '[""]', '{}', '[1]'])
    expect(problemsOf(['--admin-secrets', wrong])).toHaveLength(1);
});

test('a folder of admin secrets counts as a secret, and sources may not read it', () => {
  const tokens = ['--jwt-secret', '{"type": "HS256", "key": "0123456789abcdef0123456789abcdef"}'];
  expect(load(['--admin-secret-path', '/secrets/admin', ...tokens]).adminSecretPath).toBe('/secrets/admin');
  const problemsWith = (folder: string) =>
    problemsOf(['--admin-secret-path', '/secrets/admin', '--dynamic-secrets-path', folder]);
  for (const folder of ['/secrets', '/secrets/', '/secrets/admin', '/', '/other/../secrets']) {
    expect(problemsWith(folder), folder).toEqual([expect.stringContaining('--admin-secret-path is below')]);
  }
  expect(
    load(['--admin-secret-path', '/secrets/admin', '--dynamic-secrets-path', '/secrets/adm']),
  ).toBeDefined();
});

test('a console secret needs an admin secret, and sources may not read a folder of them', () => {
  expect(problemsOf(['--console-secret', 'hush'])).toEqual([
    'a console secret needs an admin secret beside it: --admin-secret',
  ]);
  expect(load(['--console-secret', 'hush', '--admin-secret', 'other']).consoleSecret).toBe('hush');
  const folders = ['--console-secret-path', '/secrets/console', '--dynamic-secrets-path', '/secrets'];
  expect(problemsOf([...folders, '--admin-secret', 'other'])).toEqual([
    expect.stringContaining('--console-secret-path is below'),
  ]);
});

test('the header prefix is lower-cased and must end in a dash', () => {
  expect(load(['--header-prefix', 'X-Other-']).headerPrefix).toBe('x-other-');
  expect(problemsOf(['--header-prefix', 'x-other'])).toHaveLength(1);
});

test('a database is required', () => {
  expect(() => loadOptions([], {})).toThrow('a database is needed');
  expect(
    loadOptions([], { ENGINE_GRAPHQL_METADATA_DATABASE_URL: 'postgres://m' }).databaseUrl,
  ).toBeUndefined();
});

test('logged settings contain no secret', () => {
  const options = load(['--admin-secret', 'hush', '--metadata-database-url', 'postgres://hush']);
  expect(JSON.stringify(settingsOf(options))).not.toMatch(/hush|postgres/);
});

test('the help has every flag, its variable and its meaning', () => {
  const help = optionsHelp();
  for (const flag of Object.keys(OPTIONS) as OptionFlag[]) {
    expect(help).toContain(`--${flag} `);
    expect(help).toContain(variableOf(flag));
    expect(help).toContain(OPTIONS[flag].doc);
  }
});

test('variables of the reference engine are aliases, and the own variable wins', () => {
  const foreign = { HASURA_GRAPHQL_SERVER_PORT: '1111', HASURA_GRAPHQL_POOL_TIMEOUT: '7' };
  expect(load([], foreign)).toMatchObject({ serverPort: 1111, pgPoolTimeout: 7 });
  expect(load([], { ...foreign, ENGINE_GRAPHQL_SERVER_PORT: '2222' }).serverPort).toBe(2222);
  expect(load([], { ...foreign, ENGINE_GRAPHQL_SERVER_PORT: '' }).serverPort).toBe(1111);
  expect(load(['--server-port', '3333'], foreign).serverPort).toBe(3333);
  expect(load(['--connections', '3', '-i', 'serializable', '--access-key=k'])).toMatchObject({
    pgConnections: 3,
    txIsolation: 'serializable',
    adminSecret: 'k',
  });
});

test('a problem is reported under the name that was given', () => {
  expect(problemsOf([], { HASURA_GRAPHQL_SERVER_PORT: 'http' })).toEqual([
    'HASURA_GRAPHQL_SERVER_PORT expects a whole number from 0 to 65535, not "http"',
  ]);
});

test('every alias and every option without effect is accepted, and named without its value', () => {
  const names = Object.keys(WITHOUT_EFFECT);
  const variables = Object.fromEntries(names.flatMap(variablesWithoutEffect).map((name) => [name, 'hush']));
  const flags = names.flatMap((name) => [`--${name}`, 'hush']);
  expect(problemsOf(flags, variables)).toEqual([]);
  const { aliases, withoutEffect } = foreignSettings(flags, {
    ...variables,
    HASURA_GRAPHQL_ADMIN_SECRET: 'hush',
    HASURA_GRAPHQL_DEV_MODE: 'true',
    ENGINE_GRAPHQL_DEV_MODE: 'false',
    HASURA_GRAPHQL_ENABLED_LOG_TYPES: 'startup,data-connector-log',
  });
  expect(aliases).toEqual(['HASURA_GRAPHQL_ADMIN_SECRET', 'HASURA_GRAPHQL_ENABLED_LOG_TYPES']);
  expect(withoutEffect).toEqual([
    ...names.map((name) => `--${name}`),
    ...Object.keys(variables),
    'HASURA_GRAPHQL_ENABLED_LOG_TYPES: data-connector-log',
  ]);
  expect(JSON.stringify([aliases, withoutEffect])).not.toContain('hush');
});

test('names without effect are left out of lists, and unknown ones are refused', () => {
  expect(load(['--enabled-log-types', 'startup,data-connector-log']).enabledLogTypes).toEqual(['startup']);
  expect(problemsOf(['--enabled-log-types', 'startup,novel-log'])).toHaveLength(1);
  expect(problemsOf(['--enable-telemetri'])).toHaveLength(1);
});

test('an empty list of origins allows none, where an absent one allows all', () => {
  expect(load([], { HASURA_GRAPHQL_CORS_DOMAIN: '' }).corsDomain).toBe('');
  expect(load(['--cors-domain', '']).corsDomain).toBe('');
  expect(load().corsDomain).toBe('*');
});

test.each([
  ...['app.example.com', 'localhost:3000', 'https://app.example.com/path', 'https://a b', 'https://', '//a'],
  ...['https://*.*.example.com', 'https://u:p@a.example', 'null', '**'],
])('%s is no origin', (text) => {
  expect(problemsOf(['--cors-domain', `https://a.example, ${text}`])).toEqual([
    `--cors-domain expects * or origins such as https://*.example.com, comma-separated, not "${text}"`,
  ]);
});

test('origins have any scheme, a name with at most one star, and perhaps a port and a slash', () => {
  const text =
    '*, https://*.example.com, http://localhost:*, http://[::1]:3000, HTTPS://a.example/, tauri://app,';
  expect(load([], { HASURA_GRAPHQL_CORS_DOMAIN: text }).corsDomain).toBe(text);
});

test.each(['auth-hook', 'otlp-traces-endpoint', 'otlp-metrics-endpoint', 'otlp-logs-endpoint'] as const)(
  '--%s is a URL of HTTP, and a problem does not repeat its text',
  (flag) => {
    const secret = ['--admin-secret', 'hush'];
    for (const wrong of ['auth:8080/check', 'example.com/token-hush', 'ftp://u:hush@a.example', '/check']) {
      expect(problemsOf([...secret, `--${flag}`, wrong])).toEqual([
        `--${flag} expects http://… or https://…`,
      ]);
    }
    for (const url of ['http://a.example', 'HTTPS://u:p@a.example:1/x?y=z']) {
      expect(load([...secret, `--${flag}`, url])[nameOf(flag)]).toBe(url);
    }
  },
);

test.each(['*4', '!4', '*6', '!6', '*', '127.0.0.1'])('%s is an address to listen on', (host) => {
  const expected = { '*4': '0.0.0.0', '!4': '0.0.0.0', '*6': '::', '!6': '::' }[host] ?? host;
  expect(load([], { HASURA_GRAPHQL_SERVER_HOST: host }).serverHost).toBe(expected);
});

test('read replicas are several URLs, each of which may name several hosts', () => {
  const urls = 'postgres://a,b/x, postgres://c/x';
  expect(load([], { HASURA_GRAPHQL_READ_REPLICA_URLS: urls }).readReplicaUrls).toEqual([
    'postgres://a,b/x',
    'postgres://c/x',
  ]);
});

test('no alias of a secret option can be sent to an external service', () => {
  const secrets = Object.entries<OptionRow<unknown>>(OPTIONS).filter(([, row]) => row.isSecret);
  const names = secrets.flatMap(([flag]) => variablesOf(flag as OptionFlag));
  expect(names.length).toBeGreaterThan(18);
  expect(names.filter((name) => !isReserved(name))).toEqual([]);
});

test('a flag that ends like the unknown one is meant, when there is one', () => {
  expect(() => loadOptions(['--port', '8081'], {})).toThrow('did you mean --server-port?');
});

/** Tests the keywords that complete a connection string: the order of their sources, and those that a string in the metadata does not
 *  get. Real connections: tls-matrix.test.ts. PostgreSQL manual, "Environment Variables", "The Connection Service File", "The Password
 *  File". */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completedBy, type Origin, passwordFrom } from './connection-defaults.ts';
import { type Keywords, parseConnectionString } from './connection-string.ts';

let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'pergola-defaults-'));
  mkdirSync(join(home, '.postgresql'));
  for (const name of ['root.crt', 'postgresql.crt', 'postgresql.key'])
    writeFileSync(join(home, '.postgresql', name), '');
  const section = (name: string, text: string) => `[${name}]\n${text}\n`;
  const services =
    '# services\n' +
    section('full', 'host=of-service\nport = 7\nuser=of-service\npassword=of service') +
    section('nested', 'service=full') +
    section('unknown', 'sslmod=verify-full') +
    section('bad', 'sslmode=verify');
  writeFileSync(join(home, '.pg_service.conf'), services);
});
afterAll(() => rmSync(home, { recursive: true }));

const completed = (given: Keywords, env: Readonly<Record<string, string>>, origin: Origin = 'option') =>
  completedBy(env, origin)(given);

/** Every keyword with a variable: the string is first, then the service, then the variable. */
const VARIABLES: readonly (readonly [keyword: string, variable: string, isCredential: boolean])[] = [
  ['host', 'PGHOST', false],
  ['hostaddr', 'PGHOSTADDR', false],
  ['port', 'PGPORT', false],
  ['dbname', 'PGDATABASE', false],
  ['user', 'PGUSER', false],
  ['password', 'PGPASSWORD', true],
  ['passfile', 'PGPASSFILE', true],
  ['application_name', 'PGAPPNAME', false],
  ['options', 'PGOPTIONS', false],
  ['connect_timeout', 'PGCONNECT_TIMEOUT', false],
  ['target_session_attrs', 'PGTARGETSESSIONATTRS', false],
  ['load_balance_hosts', 'PGLOADBALANCEHOSTS', false],
  ['sslmode', 'PGSSLMODE', false],
  ['sslnegotiation', 'PGSSLNEGOTIATION', false],
  ['sslrootcert', 'PGSSLROOTCERT', false],
  ['sslcrl', 'PGSSLCRL', false],
  ['sslcert', 'PGSSLCERT', true],
  ['sslkey', 'PGSSLKEY', true],
  ['sslcertmode', 'PGSSLCERTMODE', false],
  ['sslsni', 'PGSSLSNI', false],
  ['ssl_min_protocol_version', 'PGSSLMINPROTOCOLVERSION', false],
  ['channel_binding', 'PGCHANNELBINDING', false],
  ['require_auth', 'PGREQUIREAUTH', false],
  ['requirepeer', 'PGREQUIREPEER', false],
];

describe.each(VARIABLES)('%s', (keyword, variable, isCredential) => {
  const env = { [variable]: 'of-variable' };

  test('comes from its variable, unless the string has it or the variable is empty', () => {
    expect(completed({}, env)[keyword]).toBe('of-variable');
    expect(completed({}, env, 'secret')[keyword]).toBe('of-variable');
    expect(completed({ [keyword]: 'of-string' }, env)[keyword]).toBe('of-string');
    expect(completed({}, { [variable]: '' })[keyword]).toBeUndefined();
  });

  test(`${isCredential ? 'does not complete' : 'completes'} a string in the metadata`, () => {
    for (const origin of ['literal', 'value'] as const) {
      expect(completed({}, env, origin)[keyword]).toBe(isCredential ? undefined : 'of-variable');
    }
  });
});

test('a service comes after the string and before the variables', () => {
  const env = { HOME: home, PGSERVICE: 'full', PGHOST: 'of-variable', PGDATABASE: 'of-variable' };
  expect(completed({ user: 'of-string' }, env)).toMatchObject({
    user: 'of-string',
    host: 'of-service',
    port: '7',
    password: 'of service',
    dbname: 'of-variable',
  });
  expect(completed({}, env, 'literal')).not.toHaveProperty('password');
});

test.each<[Keywords, Origin, string]>([
  [{ service: 'none' }, 'option', 'the definition of its service is not found'],
  [{ service: 'full', servicefile: '/none' }, 'option', 'its service file cannot be read'],
  [{ service: 'nested' }, 'option', 'its service names another service'],
  [{ service: 'unknown' }, 'option', 'its service has a keyword that libpq does not know'],
  [{ service: 'full' }, 'literal', 'the parameter service is not supported in metadata'],
  [{ passfile: '/x' }, 'literal', 'the parameter passfile is not supported in metadata'],
  [{ service: 'full' }, 'value', 'the parameter service is not supported in metadata'],
  [{ passfile: '/x' }, 'value', 'the parameter passfile is not supported in metadata'],
])('%j of origin %s is refused', (given, origin, message) => {
  expect(() => completed(given, { HOME: home }, origin)).toThrow(message);
});

test('an invalid value of a service or a variable is refused like one of the string', () => {
  const parse = (text: string, env: Readonly<Record<string, string>>) => () =>
    parseConnectionString(text, completedBy(env, 'option'));
  expect(parse('service=bad', { HOME: home })).toThrow('its sslmode is none of');
  expect(parse('postgres://h', { PGSSLMODE: 'verify' })).toThrow('its sslmode is none of');
  expect(parse('postgres://h', { PGREQUIREPEER: 'postgres' })).toThrow('requirepeer is not supported');
  expect(parse('host=a,b', { PGPORT: '1,2,3' })).toThrow('not as many ports as hosts');
});

test('files of the home folder are defaults; a string in the metadata has the authorities only', () => {
  const at = (file: string) => join(home, '.postgresql', file);
  const authority = { sslrootcert: at('root.crt') };
  const client = { sslcert: at('postgresql.crt'), sslkey: at('postgresql.key') };
  expect(completed({}, { HOME: home })).toEqual({ ...authority, ...client });
  expect(completed({}, { HOME: home }, 'literal')).toEqual(authority);
  expect(completed({ sslrootcert: '/x' }, { HOME: home }, 'literal')).toEqual({ sslrootcert: '/x' });
  expect(completed({}, {})).toEqual({});
});

describe('a password file', () => {
  const line = [
    'db\\:1:5432:d:u:first',
    '10.0.0.1:*:*:*:p\\:a\\\\s:s',
    'localhost:*:*:*:local',
    '*:1:d:u:last',
  ];
  const passwordOf = (host: string | null, port: number | null, mode = 0o600, database = 'd') => {
    const passfile = join(home, 'passfile');
    writeFileSync(passfile, `# comment\n\n${line.join('\r\n')}\n`);
    chmodSync(passfile, mode);
    return passwordFrom({ parameters: { passfile }, database, user: 'u' }, { host, port }, {});
  };

  test.each<[string | null, number | null, string | undefined]>([
    ['db:1', null, 'first'],
    ['db:1', 5432, 'first'],
    ['db:1', 5433, undefined],
    ['10.0.0.1', 9, 'p:a\\s:s'],
    ['/var/run', 9, 'local'],
    [null, null, 'local'],
    ['elsewhere', 1, 'last'],
    ['elsewhere', 2, undefined],
  ])('for host %s and port %s has %s', (host, port, password) => {
    expect(passwordOf(host, port)).toBe(password);
  });

  test('that others may read is not used, nor one that is missing', () => {
    expect(passwordOf('elsewhere', 1, 0o640)).toBeUndefined();
    expect(passwordOf('elsewhere', 1, 0o604)).toBeUndefined();
    const parameters = { passfile: join(home, 'missing') };
    expect(
      passwordFrom({ parameters, database: 'd', user: 'u' }, { host: 'h', port: 1 }, {}),
    ).toBeUndefined();
  });
});

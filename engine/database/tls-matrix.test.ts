/** The encryption of connections by `sslmode`, authority, name of the host and rules of the server, for URLs, `keyword=value` strings and
 *  variables: what happens follows from the two tables at the top, which restate the manual. If psql is installed, it is asked, too.
 *  PostgreSQL manual, "SSL Support", "SSL Mode Descriptions". Behaviour: docs/reference/behaviour/configuration.md. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startTlsPostgres, type TlsPostgres } from '../../testing/tls-postgres.ts';
import { connectTo } from './connect.ts';
import { completedBy, type Origin } from './connection-defaults.ts';
import { parseConnectionString } from './connection-string.ts';

/** The connections that each mode tries, in order, and the parts of a certificate that it verifies. Without a mode, `prefer` applies. */
const MODES = {
  disable: { ways: ['plain'], verifies: 'given' },
  allow: { ways: ['plain', 'encrypted'], verifies: 'given' },
  prefer: { ways: ['encrypted', 'plain'], verifies: 'given' },
  none: { ways: ['encrypted', 'plain'], verifies: 'given' },
  require: { ways: ['encrypted'], verifies: 'given' },
  'verify-ca': { ways: ['encrypted'], verifies: 'chain' },
  'verify-full': { ways: ['encrypted'], verifies: 'name' },
} as const;

/** The server, as the client sees it. */
const SERVERS = {
  trusted: { authority: 'ca', host: 'localhost', hasTls: true, isTrusted: true, isNamed: true },
  'of an unknown authority': {
    authority: null,
    host: 'localhost',
    hasTls: true,
    isTrusted: false,
    isNamed: true,
  },
  'of another authority': {
    authority: 'other',
    host: 'localhost',
    hasTls: true,
    isTrusted: false,
    isNamed: true,
  },
  'with another name': { authority: 'ca', host: '127.0.0.1', hasTls: true, isTrusted: true, isNamed: false },
  'without TLS': { authority: 'ca', host: '127.0.0.1', hasTls: false, isTrusted: true, isNamed: true },
} as const;

/** The users of the server: what its rules accept from each. */
const USERS = {
  postgres: ['plain', 'encrypted'],
  secret: ['encrypted'],
  bare: ['plain'],
} as const;

type Mode = keyof typeof MODES;
type Way = 'plain' | 'encrypted';
type Case = { readonly mode: Mode; readonly server: keyof typeof SERVERS; readonly user: keyof typeof USERS };

/** The encryption of the connection, or that there is none. An authority that is given is always used, as by libpq. */
function expected({ mode, server, user }: Case): Way | 'refused' {
  const { ways, verifies } = MODES[mode];
  const { authority, hasTls, isTrusted, isNamed } = SERVERS[server];
  const isVerified =
    (verifies === 'given' && authority === null) || (isTrusted && (verifies !== 'name' || isNamed));
  const passes = (way: Way) =>
    (USERS[user] as readonly Way[]).includes(way) && (way === 'plain' || (hasTls && isVerified));
  return ways.find(passes) ?? 'refused';
}

let safe: TlsPostgres;
let folder: string;

beforeAll(async () => {
  safe = await startTlsPostgres();
  folder = mkdtempSync(join(tmpdir(), 'pergola-matrix-'));
  for (const [name, text] of Object.entries(safe.pem))
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  writeFileSync(join(folder, 'other'), safe.pem.otherCa);
});
afterAll(async () => {
  await safe?.close();
  rmSync(folder, { recursive: true, force: true });
});

const CASES: readonly Case[] = (Object.keys(MODES) as Mode[]).flatMap((mode) =>
  (Object.keys(SERVERS) as (keyof typeof SERVERS)[]).flatMap((server) =>
    (Object.keys(USERS) as (keyof typeof USERS)[])
      // The server without TLS has one user.
      .filter((user) => SERVERS[server].hasTls || user === 'postgres')
      .map((user) => ({ mode, server, user })),
  ),
);

function keywordsOf({ mode, server, user }: Case): Readonly<Record<string, string>> {
  const { authority, host, hasTls } = SERVERS[server];
  return {
    ...{ host, port: new URL(hasTls ? safe.url : inject('postgresUrl')).port, user, dbname: 'postgres' },
    ...(mode !== 'none' && { sslmode: mode }),
    ...(authority !== null && { sslrootcert: join(folder, authority) }),
  };
}

const VARIABLES: Readonly<Record<string, string>> = {
  ...{ host: 'PGHOST', port: 'PGPORT', user: 'PGUSER', dbname: 'PGDATABASE' },
  ...{ sslmode: 'PGSSLMODE', sslrootcert: 'PGSSLROOTCERT' },
};

const variablesOf = (given: Case) =>
  Object.fromEntries(Object.entries(keywordsOf(given)).map(([name, value]) => [VARIABLES[name]!, value]));

const FORMS: Readonly<Record<string, (given: Case) => readonly [string, Record<string, string>]>> = {
  'a URL': (given) => {
    const { host, port, user, dbname, ...rest } = keywordsOf(given);
    return [`postgres://${user}@${host}:${port}/${dbname}?${new URLSearchParams(rest)}`, {}];
  },
  pairs: (given) => [
    Object.entries(keywordsOf(given))
      .map(([name, value]) => `${name} = '${value}'`)
      .join(' '),
    {},
  ],
  variables: (given) => ['postgres://', variablesOf(given)],
};

async function outcome(text: string, env: Record<string, string>, origin: Origin = 'option') {
  const target = parseConnectionString(text, completedBy(env, origin));
  try {
    const client = await connectTo({ target, origin }, { applicationName: 'matrix', timeoutMs: 10_000 });
    const { rows } = await client.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    await client.end();
    return rows[0].ssl ? 'encrypted' : 'plain';
  } catch {
    return 'refused';
  }
}

const named = (given: Case) => `${given.mode}, a server ${given.server}, ${given.user}`;

describe.each(Object.entries(FORMS))('by %s', (_, form) => {
  test.each(Object.keys(MODES) as Mode[])('sslmode %s', async (mode) => {
    const cases = CASES.filter((each) => each.mode === mode);
    const outcomes = await Promise.all(
      cases.map(async (each) => [named(each), await outcome(...form(each))]),
    );
    expect(outcomes).toEqual(cases.map((each) => [named(each), expected(each)]));
  });
});

test('a string that stands in the metadata has the same encryption', async () => {
  const cases = CASES.filter(({ user }) => user === 'postgres');
  const outcomes = cases.map(async (each) => [
    named(each),
    await outcome(...FORMS['a URL']!(each), 'literal'),
  ]);
  expect(await Promise.all(outcomes)).toEqual(cases.map((each) => [named(each), expected(each)]));
});

test('psql does the same', async ({ skip }) => {
  const run = promisify(execFile);
  const ask = async (given: Case) => {
    const env = { PATH: process.env['PATH'], HOME: folder, ...variablesOf(given) };
    const sql = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
    try {
      const { stdout } = await run('psql', ['-XAtwc', sql], { env });
      return stdout.trim() === 't' ? 'encrypted' : 'plain';
    } catch (error) {
      skip((error as { readonly code?: unknown }).code === 'ENOENT', 'psql is not installed');
      return 'refused';
    }
  };
  const outcomes: unknown[] = [];
  for (let at = 0; at < CASES.length; at += 6) {
    const some = CASES.slice(at, at + 6);
    outcomes.push(...(await Promise.all(some.map(async (each) => [named(each), await ask(each)]))));
  }
  expect(outcomes).toEqual(CASES.map((each) => [named(each), expected(each)]));
}, 120_000);

/** Parameters besides the mode, each with what happens at the server with TLS. */
test.each<[string, Way | 'refused']>([
  ['user=certified sslcert=CERT sslkey=KEY sslmode=require', 'encrypted'],
  ['user=certified sslcert=CERT sslkey=LOCKED sslpassword=open-sesame sslmode=require', 'encrypted'],
  ['user=certified sslcert=CERT sslkey=LOCKED sslpassword=wrong sslmode=require', 'refused'],
  ['user=certified sslcert=CERT sslkey=KEY sslmode=require sslcertmode=disable', 'refused'],
  ['user=certified sslmode=require', 'refused'],
  ['user=postgres sslcert=CERT sslmode=require', 'refused'],
  ['user=postgres sslmode=require sslrootcert=NONE', 'refused'],
  ['user=postgres sslmode=disable sslrootcert=NONE', 'plain'],
  ['user=postgres sslmode=require sslrootcert=/dev/zero', 'refused'],
  ['user=postgres sslmode=require sslrootcert=/tmp', 'refused'],
  ['user=postgres sslrootcert=system', 'refused'],
  ['user=postgres sslmode=verify-full sslrootcert=system', 'refused'],
  ['user=postgres sslmode=require sslnegotiation=direct', 'encrypted'],
  ['user=postgres sslmode=verify-full sslrootcert=CA sslnegotiation=direct', 'encrypted'],
  ['user=postgres sslmode=verify-full sslrootcert=CA sslsni=0', 'encrypted'],
  ['user=postgres sslmode=verify-full sslrootcert=OTHER sslsni=0', 'refused'],
  ['user=postgres sslmode=verify-full sslrootcert=CA hostaddr=127.0.0.1', 'encrypted'],
  ['user=postgres sslmode=verify-full sslrootcert=CA host=elsewhere hostaddr=127.0.0.1', 'refused'],
  ['user=postgres sslmode=verify-ca sslrootcert=CA host=elsewhere hostaddr=127.0.0.1', 'encrypted'],
  ['user=postgres sslmode=require ssl_min_protocol_version=TLSv1.3', 'encrypted'],
  ['user=postgres sslmode=require ssl_max_protocol_version=TLSv1.1', 'refused'],
  ['user=postgres channel_binding=require', 'refused'],
  ['user=postgres require_auth=none', 'encrypted'],
  ['user=postgres require_auth=scram-sha-256', 'refused'],
  ['user=scram password=word sslmode=require channel_binding=require', 'encrypted'],
  ['user=scram password=word sslmode=disable channel_binding=require', 'refused'],
  ['user=scram password=word sslmode=disable channel_binding=prefer', 'plain'],
  ['user=scram password=word sslmode=require channel_binding=disable', 'encrypted'],
  ['user=scram password=word require_auth=scram-sha-256', 'encrypted'],
  ['user=scram password=word require_auth=!scram-sha-256', 'refused'],
  ['user=scram password=word require_auth=md5,password', 'refused'],
  ['user=scram password=wrong', 'refused'],
  ['user=scram passfile=PASSFILE', 'encrypted'],
  ['user=scram passfile=OPEN_PASSFILE', 'refused'],
  ['user=scram service=word servicefile=SERVICES', 'encrypted'],
  ['user=scram service=plain servicefile=SERVICES', 'plain'],
  ['user=scram service=wrong servicefile=SERVICES', 'refused'],
])('%s: %s', async (text, wanted) => {
  const files: Readonly<Record<string, string>> = {
    ...{ CERT: 'cert', KEY: 'key', LOCKED: 'lockedKey', CA: 'ca', OTHER: 'other', NONE: 'missing' },
    ...{ PASSFILE: 'passfile', OPEN_PASSFILE: 'open', SERVICES: 'services' },
  };
  const { port } = new URL(safe.url);
  const line = `# all\nlocalhost:1:*:*:no\nlocalhost:${port}:*:scram:word\n`;
  writeFileSync(join(folder, 'passfile'), line, { mode: 0o600 });
  writeFileSync(join(folder, 'open'), line, { mode: 0o644 });
  const services =
    '[word]\npassword=word\n\n[plain]\n# not encrypted\npassword = word\nsslmode=disable\n[wrong]\npassword=x\n';
  writeFileSync(join(folder, 'services'), services);
  const given = text.replaceAll(/=([A-Z_]+)(?= |$)/g, (all, name: string) =>
    files[name] ? `=${join(folder, files[name])}` : all,
  );
  const host = text.includes('host=') ? '' : 'host=localhost ';
  const result = await outcome(`${host}port=${port} dbname=postgres ${given}`, {}).catch(() => 'refused');
  expect(result).toBe(wanted);
});

test('files of the home folder are used as by libpq, and a string in the metadata has no certificate of the engine', async () => {
  const home = join(folder, 'home');
  const { mkdirSync } = await import('node:fs');
  mkdirSync(join(home, '.postgresql'), { recursive: true });
  for (const [name, text] of [
    ['root.crt', safe.pem.ca],
    ['postgresql.crt', safe.pem.cert],
    ['postgresql.key', safe.pem.key],
  ] as const)
    writeFileSync(join(home, '.postgresql', name), text, { mode: 0o600 });
  const { port } = new URL(safe.url);
  const at = (user: string, host: string) => `host=${host} port=${port} user=${user} dbname=postgres`;
  const env = { HOME: home };
  expect(await outcome(`${at('postgres', 'localhost')} sslmode=verify-full`, env)).toBe('encrypted');
  expect(await outcome(`${at('postgres', '127.0.0.1')} sslmode=verify-full`, env)).toBe('refused');
  expect(await outcome(`${at('certified', 'localhost')} sslmode=require`, env)).toBe('encrypted');
  expect(await outcome(`${at('certified', 'localhost')} sslmode=require`, env, 'literal')).toBe('refused');
  expect(await outcome(`${at('certified', 'localhost')} sslmode=require`, env, 'secret')).toBe('encrypted');
});

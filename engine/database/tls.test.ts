/** ssl_configuration of a source, against a Postgres with TLS. PostgreSQL manual, "SSL Support". */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { startTestEngine } from '../../testing/engine.ts';
import { KEY_PASSWORD, startTlsPostgres, type TlsPostgres } from '../../testing/tls-postgres.ts';
import type { Source, SslConfiguration } from '../metadata/schema/source.ts';
import { withoutTls } from './connect.ts';
import { parseConnectionString } from './connection-string.ts';
import { Sources } from './sources.ts';
import { tlsOf, withTlsFiles } from './tls.ts';

let server: TlsPostgres;
let sources: Sources;
const env: Record<string, string> = {};
const secrets = { env, folders: [] };

beforeAll(async () => {
  server = await startTlsPostgres();
  const { ca, otherCa, cert, key, lockedKey } = server.pem;
  Object.assign(env, { CA: ca, OTHER: otherCa, CERT: cert, KEY: key, LOCKED: lockedKey, WORD: KEY_PASSWORD });
  Object.assign(env, { JUNK: 'hush-hush' });
  sources = new Sources({ env: env, folders: [] }, { retries: 0 });
});
afterAll(async () => {
  await sources?.close();
  await server?.close();
});

const of = (name: string) => ({ from_env: name });

function sourceAt(
  ssl_configuration: SslConfiguration | null,
  { user = 'postgres', host = '127.0.0.1', query = '' } = {},
): Source {
  const url = new URL(server.url);
  url.username = user;
  url.hostname = host;
  url.search = query;
  const connection_info = { database_url: url.href, ssl_configuration };
  return { name: 'safe', kind: 'postgres', tables: [], configuration: { connection_info } };
}

/** Whether the connection was encrypted. */
async function isEncrypted(...args: Parameters<typeof sourceAt>): Promise<boolean> {
  const text = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
  const { rows } = await sources.database(sourceAt(...args)).query(text);
  return rows[0].ssl;
}

const named = { host: 'localhost' };

test('a certificate may be a text in the metadata', async () => {
  const { ca, otherCa } = server.pem;
  expect(await isEncrypted({ sslmode: 'verify-full', sslrootcert: ca }, named)).toBe(true);
  await expect(isEncrypted({ sslmode: 'verify-full', sslrootcert: otherCa }, named)).rejects.toThrow();
  expect(() => tlsOf({ sslmode: 'verify-full', sslrootcert: 'hush-hush' }, secrets)).toThrow(
    'sslrootcert is not a certificate in PEM',
  );
});

describe('a server that takes both ways is asked', () => {
  test.each<[string, SslConfiguration | null, Parameters<typeof sourceAt>[1], boolean]>([
    ['encrypted where nothing is said', null, {}, true],
    ['plainly with disable', { sslmode: 'disable' }, {}, false],
    [
      'plainly with disable, whatever the URL says',
      { sslmode: 'disable' },
      { query: '?sslmode=require' },
      false,
    ],
    ['plainly with allow', { sslmode: 'allow' }, {}, false],
    ['encrypted with prefer', { sslmode: 'prefer' }, {}, true],
    ['encrypted with require, without an authority', { sslmode: 'require' }, {}, true],
    [
      'encrypted with require, whatever the URL says',
      { sslmode: 'require' },
      { query: '?sslmode=disable' },
      true,
    ],
    ['with its authority', { sslmode: 'verify-ca', sslrootcert: of('CA') }, {}, true],
    ['with its authority and name', { sslmode: 'verify-full', sslrootcert: of('CA') }, named, true],
    [
      'encrypted by allow where it takes nothing else from the user',
      { sslmode: 'allow' },
      { user: 'secret' },
      true,
    ],
    ['plainly by prefer where it takes nothing else', { sslmode: 'prefer' }, { user: 'bare' }, false],
    [
      'with a certificate of the client',
      { sslmode: 'verify-ca', sslrootcert: of('CA'), sslcert: of('CERT'), sslkey: of('KEY') },
      { user: 'certified' },
      true,
    ],
    [
      'with a certificate whose key has a password',
      { sslmode: 'require', sslcert: of('CERT'), sslkey: of('LOCKED'), sslpassword: of('WORD') },
      { user: 'certified' },
      true,
    ],
  ])('%s', async (_, ssl, where, expected) => {
    expect(await isEncrypted(ssl, where)).toBe(expected);
  });
});

describe('a connection is not made', () => {
  test.each<[string, SslConfiguration, Parameters<typeof sourceAt>[1], RegExp]>([
    [
      'by require with another authority',
      { sslmode: 'require', sslrootcert: of('OTHER') },
      {},
      /certificate/,
    ],
    ['by verify-ca with another', { sslmode: 'verify-ca', sslrootcert: of('OTHER') }, {}, /certificate/],
    [
      'by verify-full with another',
      { sslmode: 'verify-full', sslrootcert: of('OTHER') },
      named,
      /certificate/,
    ],
    ['by verify-full with none', { sslmode: 'verify-full' }, named, /certificate/],
    ['by verify-full under another name', { sslmode: 'verify-full', sslrootcert: of('CA') }, {}, /altnames/],
    ['by disable where it must be encrypted', { sslmode: 'disable' }, { user: 'secret' }, /pg_hba/],
    [
      'without the certificate that is asked for',
      { sslmode: 'require' },
      { user: 'certified' },
      /certificate/,
    ],
  ])('%s', async (_, ssl, where, reason) => {
    await expect(isEncrypted(ssl, where)).rejects.toThrow(reason);
  });
});

describe('a server without TLS', () => {
  test.each<[SslConfiguration['sslmode'], RegExp | null]>([
    ['prefer', null],
    ['allow', null],
    ['require', /does not support SSL/],
    ['verify-full', /does not support SSL/],
  ])('is asked with %s: %s', async (sslmode, refusal) => {
    const database = await createDatabase();
    const connection_info = { database_url: database.url, ssl_configuration: { sslmode } };
    const source: Source = { name: 'bare', kind: 'postgres', tables: [], configuration: { connection_info } };
    const asked = sources.database(source).query('select 1');
    if (refusal) await expect(asked).rejects.toThrow(refusal);
    else await asked;
    await sources.database(source).close();
    await database.drop();
  });
});

describe('what cannot be used is told, without what it is', () => {
  test.each<[SslConfiguration, string]>([
    [{ sslmode: 'verify-ca' }, 'sslmode verify-ca needs an sslrootcert'],
    [{ sslmode: 'require', sslrootcert: of('NONE') }, 'environment variable "NONE" is not set'],
    [{ sslmode: 'require', sslrootcert: of('JUNK') }, 'sslrootcert is not a certificate in PEM'],
    [{ sslmode: 'require', sslcert: of('CERT') }, 'sslcert and sslkey need each other'],
    [{ sslmode: 'require', sslcert: of('CA'), sslkey: of('KEY') }, 'sslkey is not the key of sslcert'],
    [
      { sslmode: 'require', sslcert: of('CERT'), sslkey: of('LOCKED'), sslpassword: of('JUNK') },
      'sslkey is not a private key in PEM, or sslpassword does not open it',
    ],
  ])('%j', (configuration, text) => {
    let said = '';
    try {
      tlsOf(configuration, secrets);
    } catch (error) {
      said = (error as Error).message;
    }
    expect(said).toBe(text);
  });
});

test('an engine asks a source as it says, tells why it cannot, and shows nobody the certificates', async () => {
  const database = await createDatabase();
  const engine = await startTestEngine({ databaseUrl: database.url, env });
  const configured = (sslrootcert: string) => {
    const info = { ...sourceAt(null, { user: 'secret', ...named }).configuration.connection_info };
    const ssl_configuration = { sslmode: 'verify-full', sslrootcert: of(sslrootcert) };
    return { name: 'safe', configuration: { connection_info: { ...info, ssl_configuration } } };
  };
  expect(await engine.admin('pg_add_source', configured('OTHER'))).toMatchObject({
    status: 400,
    body: { internal: [{ reason: expect.stringContaining('certificate') }] },
  });
  expect(await engine.admin('pg_add_source', configured('JUNK'))).toMatchObject({
    status: 400,
    body: {
      error: 'Inconsistent object: sslrootcert is not a certificate in PEM',
      code: 'invalid-configuration',
    },
  });
  await engine.must('pg_add_source', configured('CA'));
  const sql = 'create table vault (id int primary key); insert into vault values (7)';
  await engine.must('run_sql', { source: 'safe', sql });
  expect(await engine.admin('pg_track_table', { source: 'safe', table: 'vault' })).toMatchObject({
    status: 200,
  });
  expect(await engine.graphql('{ vault { id } }')).toEqual({ data: { vault: [{ id: 7 }] } });
  const health = await (await engine.fetch('/healthz/sources')).json();
  expect(health).toMatchObject({ safe: { status: 'OK' } });
  const exported = JSON.stringify((await engine.admin('export_metadata', {})).body);
  expect(exported).toContain('"sslrootcert":{"from_env":"CA"}');
  expect(exported).not.toMatch(/BEGIN|hush/);
  await engine.close();
  await database.drop();
});

test('files for programs of Postgres are there for as long as they are needed', async () => {
  const tls = tlsOf(
    { sslmode: 'verify-ca', sslrootcert: of('CA'), sslcert: of('CERT'), sslkey: of('KEY') },
    secrets,
  );
  const files = await withTlsFiles(tls, async ({ PGSSLMODE, ...files }) => {
    expect(PGSSLMODE).toBe('verify-ca');
    expect(Object.keys(files)).toEqual(['PGSSLROOTCERT', 'PGSSLCERT', 'PGSSLKEY']);
    expect(readFileSync(files['PGSSLROOTCERT']!, 'utf8')).toBe(server.pem.ca);
    expect(statSync(files['PGSSLKEY']!).mode & 0o777).toBe(0o600);
    return Object.values(files);
  });
  expect(files.filter(existsSync)).toEqual([]);
});

test('a target keeps what is not of encryption', () => {
  const parametersOf = (url: string) => withoutTls(parseConnectionString(url)).parameters;
  expect(parametersOf('postgres://a/b?sslmode=require')).toEqual({});
  expect(parametersOf('postgres://a/b?ssl=1&options=-c%20x%3D1%2B1&sslrootcert=/x')).toEqual({
    options: '-c x=1+1',
  });
});

test.each<SslConfiguration['sslmode']>(['disable', 'require'])(
  'what is under way over a connection with %s is cancelled when it is cut',
  async (sslmode) => {
    const own = new Sources({ env: env, folders: [] }, { retries: 0 });
    const lost = expect(own.database(sourceAt({ sslmode })).query('select pg_sleep(600)')).rejects.toThrow();
    const sleeping = async () => {
      const count = `select count(*)::int as n from pg_stat_activity where wait_event = 'PgSleep'`;
      return (await sources.database(sourceAt({ sslmode: 'disable' })).query(count)).rows[0].n;
    };
    await expect.poll(sleeping, { timeout: 20_000 }).toBe(1);
    await own.close(AbortSignal.abort());
    await lost;
    await expect.poll(sleeping, { timeout: 20_000 }).toBe(0);
  },
);

/** Tests which hosts and files the connections of a source name, compared with what the engine connects to for the same text. */
import { describe, expect, test } from 'vitest';
import { parseConnectionString } from '../../engine/database/connection-string.ts';
import { reachedBySource } from './database-hosts.ts';

const reached = (database_url: unknown) =>
  reachedBySource({ configuration: { connection_info: { database_url } } });

const URLS: readonly (readonly [text: string, hosts: readonly string[], files?: readonly string[]])[] = [
  ['postgres://db.example/shop', ['db.example']],
  ['postgresql://app:p%40ss@db.example:6432/shop', ['db.example']],
  ['postgres://app:p@ss@db.example/shop', ['db.example']],
  ['postgres://DB.Example.:5432', ['db.example']],
  ['postgres://a.example,b.example:5433/shop', ['a.example', 'b.example']],
  ['postgres://[fd00::7]:5432/shop', ['fd00::7']],
  ['postgres://%64b.example/shop', ['db.example']],
  ['postgres:///shop', ['localhost']],
  ['postgres://%2Fvar%2Frun/shop', ['/var/run']],
  ['postgres://db.example/shop?host=evil.example', ['*']],
  ['postgres://db.example/shop?hostaddr=10.0.0.1', ['*']],
  ['postgres://db.example/shop?%68ost=evil.example', ['*']],
  [
    'postgres://db.example?sslkey=/etc/b/key&sslcert=/etc/b/cert',
    ['db.example'],
    ['/etc/b/key', '/etc/b/cert'],
  ],
  ['postgres://db.example/a?ssl%6Bey=%2Fetc%2Fb%2Fkey', ['db.example'], ['/etc/b/key']],
  ['postgres://db.example/a?sslrootcert=system&sslmode=verify-full', ['db.example']],
  [' postgres://db.example/a?sslrootcert=/ca.pem ', ['db.example'], ['/ca.pem']],
  ['host=db.example dbname=a', ['*']],
  ["host=db.example sslkey='/etc/b/the key' sslcrl = /crl", ['*'], ['/etc/b/the key', '/crl']],
  ['anything', ['*']],
];

describe('a connection URL', () => {
  test.each(URLS)('%j names its hosts and files', (text, hosts, files = []) => {
    expect(reached(text)).toEqual({ hosts, files });
  });

  const valid = URLS.filter(([text]) => text !== 'anything').map(([text, hosts]) => ({ text, hosts }));
  test.each(valid)('$text reaches no other host than it names', ({ text, hosts }) => {
    const target = parseConnectionString(text.trim());
    const connected = target.hosts.map(({ host, address }) => (address ?? host ?? 'localhost').toLowerCase());
    for (const host of connected)
      expect(hosts.some((named) => named === '*' || named === host.replace(/\.$/, ''))).toBe(true);
    const read = ['sslrootcert', 'sslcert', 'sslkey', 'sslcrl'].flatMap(
      (name) => target.parameters[name] ?? [],
    );
    expect(reached(text).files).toEqual(expect.arrayContaining(read.filter((path) => path !== 'system')));
  });
});

test('parts of a connection name their host, and what holds a whole connection string decides itself', () => {
  const connection_parameters = { host: 'DB.example', port: 5432, database: 'a', username: 'a' };
  expect(reached({ connection_parameters }).hosts).toEqual(['db.example']);
  expect(reached({ from_env: 'PG_URL' }).hosts).toEqual([]);
  expect(reached({ dynamic_from_file: '/secrets/url' })).toEqual({ hosts: [], files: ['/secrets/url'] });
  expect(reached({ from_value: 'team/a/b/c' }).hosts).toEqual(['*']);
});

test('replicas and members of a connection set are connections, too', () => {
  const to = (host: string) => ({ database_url: `postgres://${host}/a` });
  const configuration = {
    connection_info: to('primary'),
    read_replicas: [to('replica')],
    connection_set: [{ name: 'a', connection_info: to('member') }],
  };
  expect(reachedBySource({ configuration }).hosts).toEqual(['primary', 'replica', 'member']);
  expect(reachedBySource({}).hosts).toEqual([]);
});

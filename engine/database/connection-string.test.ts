import { expect, test } from 'vitest';
import { completedBy } from './connection-defaults.ts';
import { parseConnectionString, printKeywords } from './connection-string.ts';

const host = (name: string | null, port: number | null = null) => ({ host: name, port });
const target = (more: object) => ({
  hosts: [host(null)],
  user: null,
  password: null,
  database: null,
  parameters: {},
  ...more,
});

test.each<[string, object]>([
  ['postgres://h/d', { hosts: [host('h')], database: 'd' }],
  ['postgresql://h/d', { hosts: [host('h')], database: 'd' }],
  ['POSTGRES://h', { hosts: [host('h')] }],
  ['postgres://', {}],
  ['postgres:///d', { database: 'd' }],
  [
    'postgres://u%40x:p%2F%3A%3F%23@h:5433/d%20b',
    { hosts: [host('h', 5433)], user: 'u@x', password: 'p/:?#', database: 'd b' },
  ],
  ['postgres://u:p@ss#w%r:d@h/d', { hosts: [host('h')], user: 'u', password: 'p@ss#w%r:d', database: 'd' }],
  ['postgres://u@/d', { user: 'u', database: 'd' }],
  ['postgres://h/d@e', { hosts: [host('h')], database: 'd@e' }],
  ['postgres://h?user=a@b', { hosts: [host('h')], user: 'a@b' }],
  ['postgres://[::1]:5/d', { hosts: [host('::1', 5)], database: 'd' }],
  ['postgres://[fe80::1%eth0]/d', { hosts: [host('fe80::1%eth0')], database: 'd' }],
  ['postgres://a:1,b,[::1]:3/d', { hosts: [host('a', 1), host('b'), host('::1', 3)], database: 'd' }],
  ['postgres://%2Fvar%2Frun/d', { hosts: [host('/var/run')], database: 'd' }],
  ['postgres:///d?host=/var/run&port=6', { hosts: [host('/var/run', 6)], database: 'd' }],
  ['postgres:///d?host=a,b&port=6', { hosts: [host('a', 6), host('b', 6)], database: 'd' }],
  ['postgres://a,b/d?port=6,7', { hosts: [host('a', 6), host('b', 7)], database: 'd' }],
  [
    'postgres://h/d?sslmode=require&options=-c%20a%3D1%2B1&schema=public&stream=x',
    { hosts: [host('h')], database: 'd', parameters: { sslmode: 'require', options: '-c a=1+1' } },
  ],
  ['postgres://h/d?ssl', { hosts: [host('h')], database: 'd', parameters: { sslmode: 'require' } }],
  ['postgres://h/d?ssl=0', { hosts: [host('h')], database: 'd', parameters: { sslmode: 'disable' } }],
  ['postgres://h?requiressl=1', { hosts: [host('h')], parameters: { sslmode: 'require' } }],
  ['postgres://h?constructor=1&__proto__=2', { hosts: [host('h')] }],
  ['host=h dbname=d', { hosts: [host('h')], database: 'd' }],
  [
    `  host = a,b  port=1,2 user='u v' password = 'it\\'s \\\\' dbname=d\\ e  `,
    { hosts: [host('a', 1), host('b', 2)], user: 'u v', password: `it's \\`, database: 'd e' },
  ],
  [`host=h password=''`, { hosts: [host('h')] }],
  ['host=h hostaddr=10.0.0.1', { hosts: [{ ...host('h'), address: '10.0.0.1' }] }],
  [
    'host=a,b hostaddr=10.0.0.1,::1 port=5',
    {
      hosts: [
        { ...host('a', 5), address: '10.0.0.1' },
        { ...host('b', 5), address: '::1' },
      ],
    },
  ],
  ['host=h\nsslmode=verify-full', { hosts: [host('h')], parameters: { sslmode: 'verify-full' } }],
])('%s', (text, expected) => {
  expect(parseConnectionString(text)).toEqual(target(expected));
});

/** `s3cret` is in each of them, and may be in no message. */
test.each([
  's3cret',
  '',
  ' ',
  '/s3cret',
  '/var/run s3cret',
  's3cret://h/d',
  'http://s3cret/d',
  'socket:/s3cret',
  '//s3cret/d',
  'postgres:s3cret',
  'postgres:/s3cret',
  'base/s3cret',
  'mysql://s3cret@h/d',
  's3cret=1',
  'S3CRET=value host=h',
  'host=h s3cret=1',
  'host=h s3cret',
  `host='s3cret`,
  'host=h port=s3cret',
  'port=1,2 host=s3cret',
  'PATH=/bin\u0000SECRET=s3cret',
  'host=h\u0000password=s3cret',
  'postgres://h:s3cret/d',
  'postgres://h:0/s3cret',
  'postgres://h:65536/s3cret',
  'postgres://u:p/s3cret@h/d',
  'postgres://[s3cret]/d',
  'postgres://[::1/s3cret',
  'postgres://h/d?service=s3cret',
  'postgres://h/d?passfile=/s3cret',
  'service=s3cret',
  'host=h passfile=/s3cret',
  'postgres://h/d?replication=s3cret',
  'host=h replication=s3cret',
  'postgres://h,i/d?port=1,2,3&user=s3cret',
  'postgres://h/d?sslmode=s3cret',
  'host=h target_session_attrs=s3cret',
  'postgres://h/d?sslnegotiation=s3cret',
  'postgres://h/d?sslmod=s3cret',
  'postgres://h/d?ssl=s3cret',
  'host=h require_auth=s3cret',
  'host=h require_auth=md5,!password user=s3cret',
  'host=h connect_timeout=s3cret',
  'host=h,i hostaddr=10.0.0.1 user=s3cret',
  'host=h requirepeer=s3cret',
  'host=h client_encoding=s3cret',
  'host=h sslrootcert=system sslmode=require user=s3cret',
  'host=h sslnegotiation=direct user=s3cret',
  'host=h ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2 user=s3cret',
])('%j is refused, in words of our own', (text) => {
  let message = '';
  try {
    parseConnectionString(text, completedBy({}, 'literal'));
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).not.toBe('');
  expect(message.toLowerCase()).not.toContain('s3cret');
});

test('keywords for programs of Postgres have no password, and only what those know', () => {
  const print = (text: string) => printKeywords(parseConnectionString(text));
  expect(print(`postgres://u:p@a:1,b/it's%20%5C?sslmode=require&statement_timeout=5`)).toBe(
    `sslmode='require' host='a,b' port='1,' user='u' dbname='it\\'s \\\\'`,
  );
  expect(print('postgres://h/d?ssl=true&uselibpqcompat=true')).toBe(`sslmode='require' host='h' dbname='d'`);
  expect(print('postgres://h/d?sslmode=no-verify')).toBe(`sslmode='require' host='h' dbname='d'`);
  expect(parseConnectionString(print('postgres://u@a:1,b:2/d'))).toEqual(
    parseConnectionString('postgres://u@a:1,b:2/d'),
  );
});

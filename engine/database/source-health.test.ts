/** Whether sources can be asked something, against a real database and none. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import type { Source } from '../metadata/schema/source.ts';
import { SourceHealth } from './source-health.ts';
import { Sources } from './sources.ts';

const database = testDatabase();
const sources = new Sources({ env: {}, folders: [] });

beforeAll(async () => {
  await database.sql('create sequence asked');
});
afterAll(() => sources.close());

function sourceAt(url: Source['configuration']['connection_info']['database_url'], check?: object): Source {
  return {
    name: 'one',
    kind: 'postgres',
    tables: [],
    configuration: { connection_info: { database_url: url } },
    ...(check ? { health_check: { interval: 60, ...check } } : {}),
  };
}

const health = () => new SourceHealth((source) => sources.database(source));
const statusOf = async (source: Source, known = health()) => (await known.statuses([source]))['one']!;

test('one that answers is well', async () => {
  const { status, error, timestamp } = await statusOf(sourceAt(database.url));
  expect([status, error]).toEqual(['OK', null]);
  expect(Date.now() - new Date(timestamp).getTime()).toBeLessThan(5000);
});

test.for([
  ['cannot be reached', 'postgres://u:hush@127.0.0.1:1/x', undefined, 'FAILED', 'ECONNREFUSED'],
  ['fails its test', null, { test: { sql: 'select 1 / 0' } }, 'FAILED', '22012'],
  [
    'does not answer in time',
    null,
    { test: { sql: 'select pg_sleep(3)' }, timeout: 1 },
    'TIMEOUT',
    'no answer in 1 s',
  ],
  ['nobody knows the place of', { from_env: 'NOT_SET' }, undefined, 'ERROR', 'invalid-configuration'],
] as const)('one that %s is not', async ([, url, check, status, error]) => {
  expect(await statusOf(sourceAt(url ?? database.url, check))).toMatchObject({ status, error });
});

test('it is asked no more often than its interval, and told meanwhile is what is known', async () => {
  const often = sourceAt(database.url, { test: { sql: `select nextval('asked')` }, interval: 1 });
  const asked = async () => Number((await database.sql('select last_value from asked'))[0]!['last_value']);
  const known = health();
  await statusOf(often, known);
  const first = await asked();
  await Promise.all([statusOf(often, known), statusOf(often, known)]);
  expect(await asked()).toBe(first);
  await sleep(1100);
  await Promise.all([statusOf(often, known), statusOf(often, known)]);
  await expect.poll(asked).toBe(first + 1);
});

test('a member of a connection set is asked as its source is, and told of by its own name', async () => {
  const one = sourceAt(database.url, { test: { sql: 'select 1' } });
  const urls = { here: database.url, gone: 'postgres://u:hush@127.0.0.1:1/x' };
  const connection_set = Object.entries(urls).map(([name, database_url]) => {
    return { name, connection_info: { database_url } };
  });
  const source = { ...one, configuration: { ...one.configuration, connection_set } };
  expect(await health().statuses([source])).toMatchObject({
    one: { status: 'OK' },
    'one connection here': { status: 'OK' },
    'one connection gone': { status: 'FAILED', error: 'ECONNREFUSED' },
  });
});

test('one failure among retries is none', async () => {
  const flaky = sourceAt(database.url, {
    interval: 0,
    retries: 2,
    retry_interval: 0,
    test: { sql: `select 1 / (nextval('asked') % 2)` },
  });
  const known = health();
  await database.sql(`select setval('asked', 2)`);
  expect((await statusOf(flaky, known)).status).toBe('OK');
  await statusOf(flaky, known);
  await sleep(200);
  expect((await statusOf(flaky, known)).status).toBe('OK');
});

/** Tests the health checks of an engine whose metadata database does not answer, or has lost its tables.
 *  Reference: docs/reference/behaviour/endpoints.md, "Health". */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { openProxy } from '../wire/testing/proxy.ts';

const served = testDatabase();
const metadata = testDatabase();
let proxy: Awaited<ReturnType<typeof openProxy>>;
let engine: TestEngine;

beforeAll(async () => {
  await served.sql('create table note (id int primary key); insert into note values (1)');
  proxy = await openProxy(metadata.url);
  engine = await startTestEngine({ databaseUrl: served.url, metadataDatabaseUrl: proxy.url });
  await engine.admin('pg_track_table', { table: 'note' });
}, 180_000);
afterAll(async () => {
  await engine?.close();
  await proxy?.close();
});

const health = async (path: string) => {
  const response = await fetch(engine.url + path);
  return `${response.status} ${await response.text()}`;
};

test('a lost metadata database fails the strict check only, and requests are answered', async () => {
  expect(await health('/healthz?strict=true')).toBe('200 OK');
  proxy.mostBytes = 0;
  const lost = '500 ERROR: the metadata database does not answer';
  for (const path of ['/healthz?strict=true', '/hasura/healthz?strict']) {
    await expect.poll(() => health(path), { timeout: 10_000 }).toBe(lost);
  }
  expect(await health('/healthz')).toBe('200 OK');
  expect(await health('/livez')).toBe('200 OK');
  expect(await engine.graphql('{ note { id } }')).toEqual({ data: { note: [{ id: 1 }] } });
  proxy.mostBytes = Number.POSITIVE_INFINITY;
  await expect.poll(() => health('/healthz?strict=true'), { timeout: 15_000 }).toBe('200 OK');
}, 180_000);

test('lost tables of the metadata fail the strict check only, and requests are answered', async () => {
  await metadata.sql('alter schema pergola rename to pergola_away');
  const lost =
    /^500 ERROR: the tables of the schema pergola are gone from the metadata database: restore them/;
  await expect.poll(() => health('/healthz?strict=true'), { timeout: 10_000 }).toMatch(lost);
  expect(await health('/healthz')).toBe('200 OK');
  expect(await engine.graphql('{ note { id } }')).toEqual({ data: { note: [{ id: 1 }] } });
  await metadata.sql('alter schema pergola_away rename to pergola');
  await expect.poll(() => health('/healthz?strict=true'), { timeout: 15_000 }).toBe('200 OK');
}, 180_000);

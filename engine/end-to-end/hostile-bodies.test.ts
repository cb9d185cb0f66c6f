/** Tests bodies of every shape against whole engines: findings of the fuzzer stay fixed, and numbers keep their
 *  digits. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { testWorld } from '../../testing/world.ts';
import type { Observation } from '../observe/observation.ts';

const BIG = '9007199254740993';
const observed: Observation[] = [];

const { database, engine } = testWorld('create table account (id bigint primary key, details jsonb)', () => ({
  log: { observe: (observation) => void observed.push(observation), flush: () => {} },
}));

beforeAll(async () => {
  const tracked = await engine.admin('pg_track_table', { table: 'account' });
  expect(tracked.status).toBe(200);
});

async function post(path: string, body: string): Promise<{ status: number; text: string }> {
  const response = await engine.fetch(path, { method: 'POST', body });
  return { status: response.status, text: await response.text() };
}

const unforeseen = () => observed.filter(({ kind }) => kind === 'unexpected');

test('operations in batches nested five thousand deep are refused', async () => {
  const deep = `{"type":"bulk","args":${'[{"type":"bulk","args":'.repeat(5000)}[]${'}]'.repeat(5000)}}`;
  const { status, text } = await post('/v1/query', deep);
  expect({ status, body: JSON.parse(text) }).toMatchObject({ status: 400, body: { code: 'invalid-json' } });
});

test.each(['/v1/graphql', '/v1/query'])(
  'a client that disconnects while it sends its body causes no error of the engine: %s',
  async (path) => {
    const { hostname, port } = new URL(engine.url);
    const socket = connect(Number(port), hostname);
    const secret = `X-Engine-Admin-Secret: ${engine.adminSecret}`;
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${secret}\r\nContent-Length: 100\r\n\r\n{"query"`);
    await sleep(50);
    socket.destroy();
    await sleep(50);
    expect(unforeseen()).toEqual([]);
  },
);

test('insert keeps every digit, in columns, in JSON and in the rows it returns', async () => {
  const args = `{"table":"account","objects":[{"id":${BIG},"details":{"n":${BIG}}}],"returning":["id","details"]}`;
  const { status, text } = await post('/v1/query', `{"type":"insert","args":${args}}`);
  expect(status).toBe(200);
  expect(text).toContain(`"n":${BIG}`);
  expect(await database.sql('select id::text, details::text from account')).toEqual([
    { id: BIG, details: `{"n": ${BIG}}` },
  ]);
});

test('resource versions from clients are returned with every digit', async () => {
  const set = `{"type":"set_catalog_state","args":{"type":"console","state":{"n":${BIG}}}}`;
  expect(await post('/v1/metadata', set)).toMatchObject({ status: 200 });
  expect((await post('/v1/metadata', '{"type":"get_catalog_state","args":{}}')).text).toContain(
    `{"n":${BIG}}`,
  );
});

test('explain keeps every digit of a variable, and accepts session variables that are not text', async () => {
  const query = `{"query":"query($id: bigint!) { account_by_pk(id: $id) { id } }","variables":{"id":${BIG}}}`;
  const { status } = await post('/v1/graphql/explain', `{"query":${query}}`);
  expect(status).toBe(200);
  const user = `{"x-engine-role":"admin","x-engine-a":{"toString":1},"x-engine-b":${BIG}}`;
  expect(await post('/v1/graphql/explain', `{"query":${query},"user":${user}}`)).toMatchObject({
    status: 200,
  });
  expect(unforeseen()).toEqual([]);
});

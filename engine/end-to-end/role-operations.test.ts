/** Tests that a role's token performs no admin operation except those on rows, which have the role's permissions, and learns nothing about the others.
 *  Every operation of OPERATIONS is sent with it, and with the admin secret. Not here: the console secret (console-secret.test.ts), the
 *  operations on rows (admin/rows.test.ts). */
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { jwtSecret } from '../config/jwt-secret.ts';
import type { Endpoint, OperationDeclaration } from '../metadata/operations/row.ts';
import { namesAt, OPERATION_NAMES, OPERATIONS } from '../metadata/operations.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const ENDPOINTS: readonly Endpoint[] = ['/v1/query', '/v1/metadata', '/v2/query'];
const REFUSED = { code: 'access-denied', error: 'restricted access : admin only' };
const HIDDEN = 'hidden_ledger';

const database = testDatabase();
let engine: TestEngine;
let token: string;

beforeAll(async () => {
  await database.sql(`create table ${HIDDEN} (id int primary key)`);
  engine = await startTestEngine({
    databaseUrl: database.url,
    jwtSecret: jwtSecret.parse(JSON.stringify({ type: 'HS256', key: KEY })),
    enabledApis: ['metadata', 'graphql', 'pgdump', 'config', 'metrics', 'developer'],
  });
  await engine.admin('pg_track_table', { source: 'default', table: { schema: 'public', name: HIDDEN } });
  const claims = { 'x-hasura-default-role': 'reader', 'x-hasura-allowed-roles': ['reader'] };
  token = await new SignJWT({ 'https://hasura.io/jwt/claims': claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(KEY));
});

afterAll(() => engine?.close());

async function post(path: string, body: unknown, headers: Record<string, string>) {
  const response = await fetch(engine.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

const asRole = () => ({ authorization: `Bearer ${token}` });
const exported = () => engine.admin('export_metadata', {}, { version: 2 }).then(({ body }) => body);

test.each(OPERATION_NAMES)(
  '%s is refused to a role unless it is about rows, by every name and in a batch',
  async (name) => {
    const { effect, versions }: OperationDeclaration = OPERATIONS[name];
    const before = await exported();
    for (const endpoint of ENDPOINTS) {
      for (const type of namesAt(name, endpoint)) {
        for (const args of [
          {},
          { source: 'default', table: HIDDEN, resource: 'Table shop/book', role: 'reader', key: 'k' },
        ]) {
          const sent = { type, args, version: versions.at(-1) };
          for (const body of [sent, { type: 'bulk', args: [sent] }]) {
            const { status, text } = await post(endpoint, body, asRole());
            expect([type, status]).toEqual([type, expect.toSatisfy((code: number) => code >= 400)]);
            if (effect === 'rows') expect(text).not.toContain(REFUSED.error);
            else expect(JSON.parse(text)).toMatchObject(REFUSED);
          }
        }
      }
    }
    expect(await exported()).toEqual(before);
  },
);

test('an operation that does not exist is refused to a role as those that do', async () => {
  const { text } = await post('/v1/metadata', { type: 'no_such_thing', args: {} }, asRole());
  expect(JSON.parse(text)).toMatchObject(REFUSED);
});

test.each([
  '/v1alpha1/config',
  '/api/swagger/json',
  '/v1/metrics',
  '/dev/subscriptions',
  '/dev/subscriptions/extended',
  '/dev/plan_cache',
])('%s is refused to a role', async (path) => {
  const response = await fetch(engine.url + path, { headers: asRole() });
  expect([path, response.status < 400]).toEqual([path, false]);
  expect(await response.text()).not.toContain(HIDDEN);
});

test('the admin secret may perform every operation', async () => {
  for (const name of OPERATION_NAMES) {
    const { versions }: OperationDeclaration = OPERATIONS[name];
    for (const endpoint of ENDPOINTS) {
      for (const type of namesAt(name, endpoint)) {
        const sent = { type, args: {}, version: versions.at(-1) };
        const { text } = await post(endpoint, sent, { 'x-engine-admin-secret': engine.adminSecret });
        expect([type, text]).toEqual([type, expect.not.stringContaining('access-denied')]);
      }
    }
  }
});

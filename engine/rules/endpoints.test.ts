/** Which paths exist with which methods, by the APIs that are enabled, and what the public ones answer.
 *  Rules: docs/reference/behaviour/endpoints.md. */
import { afterAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import type { ApiName } from '../config/options.ts';

const database = testDatabase();
let running: TestEngine | undefined;

afterAll(() => running?.close());

async function engineWith(enabledApis: readonly ApiName[]): Promise<TestEngine> {
  await running?.close();
  running = undefined;
  running = await startTestEngine({ enabledApis, databaseUrl: database.url });
  return running;
}

/** The endpoints: the API that enables them, null for always, and their methods. */
const ENDPOINTS: Readonly<Record<string, readonly [api: ApiName | null, ...methods: string[]]>> = {
  '/v1/graphql': ['graphql', 'GET', 'POST'],
  '/v1alpha1/graphql': ['graphql', 'GET', 'POST'],
  '/v1beta1/relay': ['graphql', 'GET', 'POST'],
  '/v1/query': ['metadata', 'POST'],
  '/v1/metadata': ['metadata', 'POST'],
  '/v2/query': ['metadata', 'POST'],
  '/v1/graphql/explain': ['metadata', 'POST'],
  '/v1alpha1/graphql/explain': ['metadata', 'POST'],
  '/api/swagger/json': ['metadata', 'GET'],
  '/v1alpha1/pg_dump': ['pgdump', 'POST'],
  '/v1alpha1/config': ['config', 'GET'],
  '/v1/metrics': ['metrics', 'GET'],
  '/dev/subscriptions': ['developer', 'GET'],
  '/dev/plan_cache': ['developer', 'GET'],
  '/v1/version': [null, 'GET'],
  '/healthz': [null, 'GET'],
  '/hasura/healthz': [null, 'GET'],
  '/healthz/sources': [null, 'GET'],
  '/livez': [null, 'GET'],
  '/v1': ['graphql'],
  '/v1/graphql/': ['graphql'],
  '/nothing': [null],
};
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const APIS: readonly ApiName[] = ['metadata', 'graphql', 'config', 'pgdump', 'metrics', 'developer'];

test.for([[], ...APIS.map((api) => [api]), APIS])('with %j', async (apis) => {
  const { fetch: request } = await engineWith(apis);
  for (const [path, [api, ...methods]] of Object.entries(ENDPOINTS)) {
    const isServed = api === null || apis.includes(api);
    for (const method of METHODS) {
      const hasBody = method !== 'GET';
      const response = await request(path, {
        method,
        ...(hasBody && { body: '{}', headers: { 'content-type': 'application/json' } }),
      });
      const body = await response.text();
      const about = `${method} ${path}`;
      if (isServed && methods.includes(method)) {
        expect(response.status, about).not.toBe(404);
        continue;
      }
      const error = path === '/v1/query' ? 'No such resource exists' : 'resource does not exist';
      expect([response.status, JSON.parse(body)], about).toEqual([
        404,
        { path: '$', error, code: 'not-found' },
      ]);
    }
  }
});

test('public endpoints answer without credentials, and with wrong ones', async () => {
  const { url } = await engineWith(['graphql']);
  const credentials: readonly Record<string, string>[] = [
    {},
    { 'x-engine-admin-secret': 'wrong' },
    { authorization: 'Bearer x' },
  ];
  for (const headers of credentials) {
    for (const path of ['/v1/version', '/healthz', '/healthz?strict=true', '/hasura/healthz', '/livez']) {
      expect((await fetch(url + path, { headers })).status, path).toBe(200);
    }
  }
});

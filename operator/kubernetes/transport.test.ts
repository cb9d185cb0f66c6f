/** Tests the transport: shared connections, credentials on each request, and a time limit for silent streams. */
import { afterEach, expect, test } from 'vitest';
import { event, type FakeApi, fakeApi, listed, refused, streaming, thing } from './testing/fake-api.ts';
import { ApiProblem } from './transport.ts';

let api: FakeApi;
afterEach(() => api.close());

const GET = { method: 'GET', path: '/apis/pergola.dev/v1alpha1/things' } as const;

test('successive requests share connections, and each has the token', async () => {
  api = await fakeApi({ list: [listed(1, [])], watch: [] });
  for (let i = 0; i < 50; i++) await api.transport.send(GET);
  // Two, because a response arrives a moment before its connection is free.
  expect(api.connections()).toBeLessThanOrEqual(2);
  expect(api.requests.every(({ headers }) => headers.authorization === 'Bearer fake-token')).toBe(true);
});

test('a request succeeds if the server has closed the kept connection', async () => {
  api = await fakeApi({
    list: [listed(1, []), (response) => void response.socket?.destroy(), listed(2, [])],
    watch: [],
  });
  await api.transport.send(GET);
  expect(await api.transport.send(GET)).toMatchObject({ metadata: { resourceVersion: '2' } });
});

test('the error for a rejected request has the status, the message, Retry-After and the causes', async () => {
  const details = { causes: [{ reason: 'NamespaceTerminating', message: 'it is being terminated' }, {}] };
  api = await fakeApi({ list: [refused(429, 'slow down', { 'retry-after': '7' }, details)], watch: [] });
  const problem = await api.transport.send(GET).catch((error: unknown) => error);
  expect(problem).toBeInstanceOf(ApiProblem);
  expect(problem).toMatchObject({
    status: 429,
    message: 'slow down',
    retryAfterMs: 7000,
    causes: ['NamespaceTerminating'],
  });
});

test('a request with an expired token is retried once', async () => {
  api = await fakeApi({ list: [refused(401, 'Unauthorized')], watch: [] });
  await expect(api.transport.send(GET)).rejects.toThrow('Unauthorized');
  expect(api.asked).toEqual(['list', 'list']);
});

test('a response that does not arrive in time is an error', async () => {
  api = await fakeApi({ list: [() => {}], watch: [] });
  await expect(api.transport.send({ ...GET, timeoutMs: 50 })).rejects.toThrow();
});

test('a stream that stays silent for too long ends with an error', async () => {
  api = await fakeApi({ list: [], watch: [streaming(event('ADDED', thing('a', 1)))] });
  const seen: unknown[] = [];
  const watching = async () => {
    const { signal } = new AbortController();
    for await (const found of api.transport.watch({ path: GET.path, signal, silenceMs: 1000 }))
      seen.push(found);
  };
  await expect(watching()).rejects.toThrow(/timeout/i);
  expect(seen).toHaveLength(1);
}, 10_000);

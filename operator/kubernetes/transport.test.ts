/** The transport: one connection for many requests, who we are on each, and silence taken for an end. */
import { afterEach, expect, test } from 'vitest';
import { event, type FakeApi, fakeApi, listed, refused, streaming, thing } from './testing/fake-api.ts';
import { ApiProblem } from './transport.ts';

let api: FakeApi;
afterEach(() => api.close());

const GET = { method: 'GET', path: '/apis/pergola.dev/v1alpha1/things' } as const;

test('requests one after another share connections, and say who we are', async () => {
  api = await fakeApi({ list: [listed(1, [])], watch: [] });
  for (let i = 0; i < 50; i++) await api.transport.send(GET);
  // Two, because an answer is here a moment before its connection is free.
  expect(api.connections()).toBeLessThanOrEqual(2);
  expect(api.requests.every(({ headers }) => headers.authorization === 'Bearer fake-token')).toBe(true);
});

test('a kept connection that was closed meanwhile is no failure', async () => {
  api = await fakeApi({
    list: [listed(1, []), (response) => void response.socket?.destroy(), listed(2, [])],
    watch: [],
  });
  await api.transport.send(GET);
  expect(await api.transport.send(GET)).toMatchObject({ metadata: { resourceVersion: '2' } });
});

test('a refusal carries status, message and when to come back', async () => {
  api = await fakeApi({ list: [refused(429, 'slow down', { 'retry-after': '7' })], watch: [] });
  const problem = await api.transport.send(GET).catch((error: unknown) => error);
  expect(problem).toBeInstanceOf(ApiProblem);
  expect(problem).toMatchObject({ status: 429, message: 'slow down', retryAfterMs: 7000 });
});

test('a token that was renewed meanwhile is tried once more, and only once', async () => {
  api = await fakeApi({ list: [refused(401, 'Unauthorized')], watch: [] });
  await expect(api.transport.send(GET)).rejects.toThrow('Unauthorized');
  expect(api.asked).toEqual(['list', 'list']);
});

test('an answer that does not come in time is a failure', async () => {
  api = await fakeApi({ list: [() => {}], watch: [] });
  await expect(api.transport.send({ ...GET, timeoutMs: 50 })).rejects.toThrow();
});

test('a stream on which nothing comes any more is taken for dead', async () => {
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

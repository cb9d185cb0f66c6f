/** What is kept, for whom, and for how long. */
import { expect, test } from 'vitest';
import { lifetimeMsOf, RemoteCache } from './cache.ts';

const OWNER = {};
const FRESH = { 'cache-control': 'max-age=60' };
const answerOf = (body: string, headers = FRESH, status = 200) => ({
  status,
  headers,
  body: Buffer.from(body),
});

/** How often is asked for the same thing twice. */
async function asksFor(body: string, headers = FRESH, status = 200): Promise<number> {
  const cache = new RemoteCache(1_000_000);
  let asked = 0;
  for (let i = 0; i < 2; i++) {
    await cache.answer(OWNER, ['same'], async () => {
      asked++;
      return answerOf(body, headers, status);
    });
  }
  return asked;
}

test.each([
  [{}, 0],
  [{ 'cache-control': 'max-age=60' }, 60_000],
  [{ 'cache-control': 'public, Max-Age="60"' }, 60_000],
  [{ 'cache-control': 'max-age=60, s-maxage=10' }, 10_000],
  [{ 'cache-control': 'max-age=60', age: '50' }, 10_000],
  [{ 'cache-control': 'max-age=60', age: '70' }, 0],
  [{ 'cache-control': 'max-age=60', vary: 'Accept, Authorization' }, 60_000],
  [{ 'cache-control': 'max-age=60', vary: '*' }, 0],
  [{ 'cache-control': 'max-age=60', 'set-cookie': ['a=b'] }, 0],
  [{ 'cache-control': 'no-store, max-age=60' }, 0],
  [{ 'cache-control': 'private, max-age=60' }, 0],
  [{ 'cache-control': 'private="x", max-age=60' }, 0],
  [{ 'cache-control': 'no-cache, max-age=60' }, 0],
  [{ 'cache-control': 'max-age=soon' }, 0],
])('an answer with %j may be kept for %i ms', (headers, expected) => {
  expect(lifetimeMsOf(headers)).toBe(expected);
});

test('a kept answer is given until its time is over', async () => {
  let now = 0;
  const cache = new RemoteCache(1_000_000, () => now);
  const ask = (sent: string, body: string) => cache.answer(OWNER, [sent], async () => answerOf(body));
  await ask('a', '{"data":1}');
  now = 59_999;
  expect(String((await ask('a', '{"data":2}')).body)).toBe('{"data":1}');
  expect(String((await ask('b', '{"data":3}')).body)).toBe('{"data":3}');
  now = 60_000;
  expect(String((await ask('a', '{"data":2}')).body)).toBe('{"data":2}');
  expect(cache.counts).toEqual({ hits: 1, misses: 3 });
});

test('what has errors, is no JSON or was refused is asked for again', async () => {
  expect(await asksFor('{"data":1}')).toBe(1);
  expect(await asksFor('{"errors":[{}],"data":1}')).toBe(2);
  expect(await asksFor('{"data":')).toBe(2);
  expect(await asksFor('{"data":1}', FRESH, 500)).toBe(2);
});

test('no more is kept than there is room for', async () => {
  const cache = new RemoteCache(10_000);
  const body = `{"data":"${'x'.repeat(3000)}"}`;
  const isKept = async (name: string) => {
    const before = cache.counts.hits;
    await cache.answer(OWNER, [name], async () => answerOf(body));
    return cache.counts.hits > before;
  };
  for (const name of ['a', 'b', 'c']) await isKept(name);
  expect([await isKept('c'), await isKept('a')]).toEqual([true, false]);
});

test("a failure is nobody else's", async () => {
  const cache = new RemoteCache(10_000);
  const refused = cache.answer(OWNER, ['a'], () => Promise.reject(new Error('down')));
  await expect(refused).rejects.toThrow('down');
  expect((await cache.answer(OWNER, ['a'], async () => answerOf('{"data":1}'))).status).toBe(200);
});

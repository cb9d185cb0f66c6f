/** What becomes of an event after a try, case by case. */
import { expect, test } from 'vitest';
import { decideInterrupted, decideRetry, retryAfterOf } from './retry.ts';

const retries = { most: 2, intervalSeconds: 10 };
const failed = { status: 500, retryAfterSeconds: null };

test('any 2xx delivers, nothing else does', () => {
  for (const status of [200, 204, 299]) {
    expect(decideRetry({ status, retryAfterSeconds: null }, 0, retries)).toEqual({ kind: 'delivered' });
  }
  for (const status of [null, 199, 300, 404, 500]) {
    expect(decideRetry({ ...failed, status }, 0, retries)).toEqual({ kind: 'again', afterSeconds: 10 });
  }
});

test('N retries are N more attempts, after which the event has failed', () => {
  expect(decideRetry(failed, 1, retries)).toEqual({ kind: 'again', afterSeconds: 10 });
  expect(decideRetry(failed, 2, retries)).toEqual({ kind: 'failed' });
});

test('Retry-After overrides the interval, and allows one more attempt after the last', () => {
  const asks = { status: 503, retryAfterSeconds: 7 };
  expect(decideRetry(asks, 0, retries)).toEqual({ kind: 'again', afterSeconds: 7 });
  expect(decideRetry(asks, 2, retries)).toEqual({ kind: 'again', afterSeconds: 7 });
  expect(decideRetry(asks, 3, retries)).toEqual({ kind: 'failed' });
});

test('Retry-After is a number of seconds or nothing', () => {
  expect(retryAfterOf('12')).toBe(12);
  for (const text of [null, '', '-1', '1.5', 'Fri, 31 Dec 1999 23:59:59 GMT', '9'.repeat(20)]) {
    expect(retryAfterOf(text)).toBeNull();
  }
});

test('an attempt that ended with the engine is repeated at once, five times or as often as configured', () => {
  for (const most of [0, 2, 4, 9]) {
    const attempts = [...Array(20).keys()].filter(
      (tries) => decideInterrupted(tries, { most, intervalSeconds: 10 }).kind === 'now',
    );
    expect(attempts).toHaveLength(Math.max(4, most));
  }
});

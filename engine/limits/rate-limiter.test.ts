/** Who counts together, and for how long. */
import { expect, test } from 'vitest';
import type { ResolvedRateLimit } from '../resolve/request-policy.ts';
import { RateLimiter } from './rate-limiter.ts';

const session = (role: string, variables: Readonly<Record<string, string>> = {}) => ({
  role,
  variables,
  mayUseBackendOnly: false,
});

function world(by: ResolvedRateLimit['by'] = [], mostPerMinute = 2) {
  const clock = { ms: 0 };
  const limiter = new RateLimiter(() => clock.ms);
  const isAdmitted = (who = session('user'), address = '::1'): boolean => {
    try {
      limiter.admit({ mostPerMinute, by }, who, address);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ kind: 'rateLimitExceeded', status: 429 });
      return false;
    }
  };
  return { clock, isAdmitted };
}

test('a role may ask so often and no oftener, and another role counts on its own', () => {
  const { isAdmitted } = world();
  expect([isAdmitted(), isAdmitted(), isAdmitted()]).toEqual([true, true, false]);
  expect(isAdmitted(session('guest'))).toBe(true);
});

test('none a minute is none', () => {
  expect(world([], 0).isAdmitted()).toBe(false);
});

test('the window slides: the minute before counts as far as the window still covers it', () => {
  const { clock, isAdmitted } = world([], 10);
  for (let i = 0; i < 10; i++) expect(isAdmitted()).toBe(true);
  clock.ms = 60_000;
  expect(isAdmitted()).toBe(false);
  clock.ms = 90_000;
  expect(Array.from({ length: 6 }, () => isAdmitted())).toEqual([true, true, true, true, true, false]);
});

test('after a minute of silence all is forgotten, and what was refused never counted', () => {
  const { clock, isAdmitted } = world();
  for (let i = 0; i < 5; i++) isAdmitted();
  clock.ms = 120_000;
  expect([isAdmitted(), isAdmitted(), isAdmitted()]).toEqual([true, true, false]);
});

test('callers of one role are told apart by their address', () => {
  const { isAdmitted } = world('address', 1);
  const user = session('user');
  expect([isAdmitted(user, 'a'), isAdmitted(user, 'a'), isAdmitted(user, 'b')]).toEqual([true, false, true]);
  expect(isAdmitted(session('guest'), 'a')).toBe(true);
});

test('callers of one role are told apart by session variables; who brings none is one caller', () => {
  const { isAdmitted } = world(['x-engine-user-id', 'x-engine-team'], 1);
  const user = (id: string, team: string) =>
    session('user', { 'x-engine-user-id': id, 'x-engine-team': team });
  expect([isAdmitted(user('1', 'a')), isAdmitted(user('1', 'a'))]).toEqual([true, false]);
  expect([isAdmitted(user('2', 'a')), isAdmitted(user('1', 'b'))]).toEqual([true, true]);
  expect([isAdmitted(), isAdmitted()]).toEqual([true, false]);
});

test('no value of a variable passes for two values', () => {
  const { isAdmitted } = world(['x-engine-a', 'x-engine-b'], 1);
  const user = (a: string, b: string) => session('user', { 'x-engine-a': a, 'x-engine-b': b });
  expect([isAdmitted(user('1","2', '3')), isAdmitted(user('1', '2","3'))]).toEqual([true, true]);
});

test('callers are forgotten in the order of their last requests, and only when there are many', () => {
  const { isAdmitted } = world('address', 1);
  const ask = (caller: number) => isAdmitted(session('user'), String(caller));
  for (let caller = 0; caller < 100_000; caller++) ask(caller);
  // The first caller becomes the last one, so that another one leaves.
  expect([ask(0), ask(100_000), ask(0), ask(1)]).toEqual([false, true, false, true]);
});

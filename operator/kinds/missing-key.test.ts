/** Tests the sentence about a missing key: a missing object, a missing key, and what is not known are told apart. */
import { expect, test } from 'vitest';
import { type KeysOf, missingKeyText } from './missing-key.ts';

const said = (secretKeys: KeysOf | undefined, isFiles = false) =>
  missingKeyText(
    { kind: 'Secret', namespace: 'api', name: 'hooks', key: 'tokn' },
    { ...(secretKeys ? { secretKeys } : {}), isFiles },
  );

test('a key that an existing Secret lacks is named with those that it has', () => {
  expect(said(() => ['url', 'token'])).toBe('the Secret api/hooks has no key tokn; its keys are token, url');
  expect(said(() => [])).toBe('the Secret api/hooks has no key tokn; its keys are none');
});

test('at most ten keys are listed', () => {
  const keys = Array.from({ length: 13 }, (_, i) => `k${String.fromCharCode(97 + i)}`);
  expect(said(() => keys)).toBe(
    'the Secret api/hooks has no key tokn; its keys are ka, kb, kc, kd, ke, kf, kg, kh, ki, kj and 3 more',
  );
});

test('a Secret that cannot be read is said to be missing or unreadable', () => {
  expect(said(() => undefined)).toBe('there is no Secret api/hooks, or the operator may not read it');
  expect(said(() => undefined, true)).toBe('there is no Secret api/hooks in the files');
});

test('without knowledge of keys, the sentence does not say which of both is missing', () => {
  expect(said(undefined)).toBe('there is no key tokn in a Secret api/hooks');
});

/** Tests which hosts an allow list contains. */
import { expect, test } from 'vitest';
import { isTrusted } from './tls-allowlist.ts';

const ENTRIES = [
  { host: 'any.test' },
  { host: 'One.test', suffix: '8443' },
  { host: 'standard.test', suffix: '443' },
  { host: 'permitted.test', permissions: ['self-signed' as const] },
  { host: 'useless.test', permissions: [] },
];

test.each([
  ['https://any.test/', true],
  ['https://any.test:9999/path', true],
  ['https://sub.any.test/', false],
  ['https://one.test:8443/', true],
  ['https://one.test/', false],
  ['https://standard.test/', true],
  ['https://standard.test:8443/', false],
  ['https://permitted.test/', true],
  ['https://useless.test/', false],
  ['https://other.test/', false],
])('%s is trusted: %s', (url, expected) => {
  expect(isTrusted(ENTRIES, new URL(url))).toBe(expected);
});

/** Tests which origins browsers may call from. */
import { expect, test } from 'vitest';
import { type CorsOptions, corsPolicy } from './cors.ts';

const headersFor = (corsDomain: string, origin: string | undefined, more: Partial<CorsOptions> = {}) =>
  corsPolicy({ corsDomain, disableCors: false, corsAnyOriginCredentials: false, ...more })(origin);
const allows = (corsDomain: string, origin: string) =>
  headersFor(corsDomain, origin)['access-control-allow-origin'] === origin;

test('a star allows every origin, which is echoed', () => {
  expect(allows('*', 'https://anywhere.example')).toBe(true);
});

test('only listed origins are allowed', () => {
  const list = 'https://a.example, http://localhost:3000';
  expect(allows(list, 'https://a.example')).toBe(true);
  expect(allows(list, 'http://localhost:3000')).toBe(true);
  expect(allows(list, 'http://a.example')).toBe(false);
  expect(allows(list, 'https://a.example.evil.example')).toBe(false);
  expect(allows(list, 'https://axexample')).toBe(false);
});

test('a star in a name matches one label', () => {
  expect(allows('https://*.a.example', 'https://shop.a.example')).toBe(true);
  expect(allows('https://*.a.example', 'https://a.example')).toBe(false);
  expect(allows('https://*.a.example', 'https://x.y.a.example')).toBe(false);
});

test('there are no headers without an origin, or with CORS disabled', () => {
  expect(headersFor('*', undefined)).toEqual({});
  expect(headersFor('*', 'https://a.example', { disableCors: true })).toEqual({});
});

test.each([
  ['*', 'https://a.example', false],
  ['*', 'null', false],
  ['*, https://a.example', 'https://a.example', true],
  ['*, https://a.example', 'https://b.example', false],
  ['https://*.a.example', 'https://x.a.example', true],
])('%s: whether %s may send cookies: %s', (corsDomain, origin, may) => {
  expect(headersFor(corsDomain, origin)).toEqual({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET,POST,PUT,PATCH,DELETE,OPTIONS',
    'access-control-expose-headers': 'X-Engine-Query-Cache-Key,X-Engine-Query-Family-Cache-Key,Warning',
    ...(may ? { 'access-control-allow-credentials': 'true' } : {}),
  });
  const any = headersFor(corsDomain, origin, { corsAnyOriginCredentials: true });
  expect(any['access-control-allow-credentials']).toBe('true');
});

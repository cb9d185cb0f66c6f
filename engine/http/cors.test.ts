/** Which origins browsers may call from. */
import { expect, test } from 'vitest';
import { corsPolicy } from './cors.ts';

const allows = (corsDomain: string, origin: string) =>
  corsPolicy({ corsDomain, disableCors: false })(origin)['access-control-allow-origin'] === origin;

test('a star allows every origin, echoed', () => {
  expect(allows('*', 'https://anywhere.example')).toBe(true);
});

test('listed origins are allowed and no others', () => {
  const list = 'https://a.example, http://localhost:3000';
  expect(allows(list, 'https://a.example')).toBe(true);
  expect(allows(list, 'http://localhost:3000')).toBe(true);
  expect(allows(list, 'http://a.example')).toBe(false);
  expect(allows(list, 'https://a.example.evil.example')).toBe(false);
  expect(allows(list, 'https://axexample')).toBe(false);
});

test('a star in a name stands for one label', () => {
  expect(allows('https://*.a.example', 'https://shop.a.example')).toBe(true);
  expect(allows('https://*.a.example', 'https://a.example')).toBe(false);
  expect(allows('https://*.a.example', 'https://x.y.a.example')).toBe(false);
});

test('nothing is sent without an origin, or with CORS disabled', () => {
  expect(corsPolicy({ corsDomain: '*', disableCors: false })(undefined)).toEqual({});
  expect(corsPolicy({ corsDomain: '*', disableCors: true })('https://a.example')).toEqual({});
});

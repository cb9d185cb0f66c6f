/** `limit` and `offset`. */
import { expect, test } from 'vitest';
import { refusal, selectOf } from './testing/ask.ts';

test('the smaller of the role’s limit and the argument counts', () => {
  const limit = (argument: string) => selectOf(`{ article${argument} { id } }`, null, 'reader').limit;
  expect([limit(''), limit('(limit: 3)'), limit('(limit: 30)'), limit('(limit: 0)')]).toEqual([10, 3, 10, 0]);
});

test('an offset may be text, to go beyond 32 bits', () => {
  expect(selectOf('{ author(offset: "9223372036854775807") { id } }').offset).toBe('9223372036854775807');
  expect(selectOf('{ author(offset: 5) { id } }').offset).toBe('5');
});

test('anything else is refused', () => {
  const refused = (name: string, value: string) => refusal(`{ author(${name}: ${value}) { id } }`);
  const found = (what: string) => `expected a non-negative 32-bit integer for type 'Int', but found ${what}`;
  expect(refused('limit', '-1')).toBe(`$.selectionSet.author.args.limit: ${found('an integer')}`);
  expect(refused('limit', '2147483648')).toMatch('The value 2.147483648e9 lies outside the bounds');
  expect(refused('limit', '"1"')).toMatch(found('a string'));
  expect(refused('limit', '1.5')).toMatch(found('a float'));
  expect(refused('offset', '"-1"')).toMatch(found('a string'));
  expect(refused('offset', '"9223372036854775808"')).toMatch(found('a string'));
  expect(refused('offset', '"1; drop table author"')).toMatch(found('a string'));
});

test('a variable is held to the same', () => {
  const text = 'query ($n: Int) { author(limit: $n) { id } }';
  expect(refusal(text, { n: -1 })).toMatch(/args\.limit: expected a non-negative 32-bit integer/);
  expect(refusal(text, { n: 1.5 })).toMatch(/args\.limit: The value 1.5 lies outside the bounds/);
});

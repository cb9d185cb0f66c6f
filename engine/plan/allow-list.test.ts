/** Which documents count as the same, and which do not. */
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { isAllowed } from './allow-list.ts';

const holding = (...queries: readonly string[]) => [
  { name: 'c', definition: { queries: queries.map((query, i) => ({ name: `q${i}`, query })) } },
];
const isSame = (asked: string, held: string) => isAllowed(parse(asked), holding(held));

test('how a document is written does not matter', () => {
  expect(isSame('query{a(x:1,y:2){b,c}}', '# held\nquery {\n  a(x: 1 y: 2) { b c }\n}')).toBe(true);
  expect(isSame('{ a(x: """b""") { c } }', '{ a(x: "b") { c } }')).toBe(true);
});

test('__typename does not matter on either side, wherever it stands', () => {
  expect(isSame('{ __typename a { b __typename } }', '{ a { b } }')).toBe(true);
  expect(isSame('{ a { b } }', '{ a { t: __typename b } }')).toBe(true);
});

test.each([
  ['the order of fields', '{ a { c b } }', '{ a { b c } }'],
  ['a field more', '{ a { b c } }', '{ a { b } }'],
  ['a field less', '{ a { b } }', '{ a { b c } }'],
  ['an alias', '{ a { x: b } }', '{ a { b } }'],
  ['the value of an argument', '{ a(x: 2) { b } }', '{ a(x: 1) { b } }'],
  ['the name of the operation', 'query A { a { b } }', 'query B { a { b } }'],
  ['the kind of operation', 'subscription { a { b } }', '{ a { b } }'],
  ['a fragment', '{ a { ...F } } fragment F on a { b }', '{ a { b } }'],
  ['what is in a fragment', '{ a { ...F } } fragment F on a { c }', '{ a { ...F } } fragment F on a { b }'],
  ['another operation beside it', 'query A { a { b } } query B { c }', 'query A { a { b } }'],
])('%s matters', (_, asked, held) => {
  expect(isSame(asked, held)).toBe(false);
});

test('any document of any collection is allowed, and without collections none', () => {
  const collections = [...holding('{ a }'), ...holding('{ b }', '{ c }')];
  expect(isAllowed(parse('{ c }'), collections)).toBe(true);
  expect(isAllowed(parse('{ d }'), collections)).toBe(false);
  expect(isAllowed(parse('{ a }'), [])).toBe(false);
});

test('a text that is no GraphQL allows nothing and spoils nothing', () => {
  expect(isAllowed(parse('{ a }'), holding('not graphql {', '{ a }'))).toBe(true);
});

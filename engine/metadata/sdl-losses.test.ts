/** Tests what an SDL text says in vain. */
import { expect, test } from 'vitest';
import { lossesInSdl } from './sdl-losses.ts';

test.each([
  ['type Query { quote(id: Int!, tags: [String!]): Quote } type Quote { "a" text: String }', []],
  ['enum Size { S @deprecated L @deprecated(reason: "gone") }', []],
  ['scalar Money input Price { value: Money! }', []],
  ['type Query { quote(id: Int = 5): Int }', ['the default value 5 of Query.quote.id']],
  ['input Price { currency: String = "EUR" }', ['the default value "EUR" of Price.currency']],
  ['type Query { quote: Int @cached(ttl: 5) }', ['@cached at Query.quote']],
  ['type Query { quote(id: Int @deprecated): Int }', ['@deprecated at Query.quote.id']],
  ['type Quote @key(fields: "id") { id: ID @deprecated }', ['@key at Quote', '@deprecated at Quote.id']],
  ['enum Size @a { S @b }', ['@a at Size', '@b at Size.S']],
  ['scalar Money @specifiedBy(url: "https://example.org")', ['@specifiedBy at Money']],
  [
    'type Quote implements Node & Text { id: ID! }',
    ['the interface Node of Quote', 'the interface Text of Quote'],
  ],
  ['type {', []],
])('%s', (sdl, losses) => {
  expect(lossesInSdl(sdl)).toEqual(losses);
});

import { describe, expect, test } from 'vitest';
import { compareDocuments } from './compare-documents.ts';

describe('the documents of an endpoint', () => {
  test.each([
    ['{ a { id } }', '{ a { id } }', 'same'],
    ['query A { a { id title } }', 'query B { a { title\n id __typename } } # again', 'same'],
    ['{ a { id } }', '{ a { id title } }', 'wider'],
    ['{ a { id title } }', '{ a { id } }', 'narrower'],
    ['{ a { id } }', '{ b: a { id } }', 'other'],
    ['{ a { id } }', '{ a(limit: 5) { id } }', 'other'],
    ['{ a(limit: 5, offset: 1) { id } }', '{ a(offset: 1, limit: 5) { id } }', 'same'],
    ['{ a { id } }', '{ a { ... on a { id } } }', 'other'],
    ['{ a { ...f } } fragment f on a { id }', '{ a { ... on a { id title } } }', 'wider'],
    ['{ a { id } }', '{ a { id @include(if: true) } }', 'other'],
    ['{ a { id } }', 'mutation { a { id } }', 'other'],
    ['query ($x: Int) { a(x: $x) { id } }', 'query ($x: Int!) { a(x: $x) { id } }', 'narrower'],
    ['query ($x: Int!) { a(x: $x) { id } }', 'query ($x: Int) { a(x: $x) { id } }', 'wider'],
    ['query ($x: Int) { a(x: $x) { id } }', 'query ($x: String) { a(x: $x) { id } }', 'other'],
    ['query ($x: Int = 1) { a(x: $x) { id } }', 'query ($x: Int = 2) { a(x: $x) { id } }', 'other'],
    // Another variable: needed breaks clients, optional does not.
    ['{ a { id } }', 'query ($x: Int!) { a { id title @skip(if: $x) } }', 'other'],
    ['{ a { id } }', 'query ($x: Boolean = true) { a { id t: title @skip(if: $x) } }', 'wider'],
    ['{ a { ...f } } fragment f on a { ...f }', '{ a { id } }', 'other'],
    ['{ a {', '{ a { id } }', 'other'],
    ['query A { a { id } } query B { b { id } }', '{ a { id } }', 'other'],
  ] as const)('%s → %s is %s', (before, after, verdict) => {
    expect(compareDocuments(before, after)).toBe(verdict);
  });

  test('too many fields are not decided', () => {
    const levels = Array.from(
      { length: 16 },
      (_, i) => `fragment f${i} on a { x: b { ...f${i + 1} } y: b { ...f${i + 1} } }`,
    );
    const text = `{ a { ...f0 } } ${levels.join(' ')} fragment f16 on a { id }`;
    expect(compareDocuments(text, `${text} `)).toBe('other');
  });
});

/** Twin of same-answer.ts: lists are compared in the order that a request defines, and as sets otherwise. */
import { expect, test } from 'vitest';
import { graphqlText, otherText } from './same-answer.ts';

const rows = (...ids: readonly number[]) => ids.map((id) => ({ id }));
const same = (query: string, one: unknown, other: unknown) =>
  graphqlText(query, undefined, { data: one }) === graphqlText(query, undefined, { data: other });

test('a list has an order when its field has one, at each level', () => {
  const [one, other] = [{ a: rows(1, 2) }, { a: rows(2, 1) }];
  expect(same('{ a { id } }', one, other)).toBe(true);
  expect(same('{ a(order_by: {id: asc}) { id } }', one, other)).toBe(false);
  const inner = (...ids: readonly number[]) => ({ a: [{ b: rows(...ids) }] });
  expect(same('{ a(order_by: {id: asc}) { b { id } } }', inner(1, 2), inner(2, 1))).toBe(true);
  expect(
    same('{ a { ...f } } fragment f on a { b(order_by: {id: asc}) { id } }', inner(1, 2), inner(2, 1)),
  ).toBe(false);
  expect(same('{ a { id } }', { a: rows(1) }, { a: rows(2) })).toBe(false);
});

test('nodes have the order of their aggregate, and of a list that is cut without an order the length counts', () => {
  const nodes = (...ids: readonly number[]) => ({ a: { nodes: rows(...ids) } });
  expect(same('{ a(order_by: {id: asc}) { nodes { id } } }', nodes(1, 2), nodes(2, 1))).toBe(false);
  expect(same('{ a { nodes { id } } }', nodes(1, 2), nodes(2, 1))).toBe(true);
  expect(same('{ a(limit: 1) { id } }', { a: rows(1) }, { a: rows(2) })).toBe(true);
  expect(same('{ a(limit: 1) { id } }', { a: rows(1) }, { a: [] })).toBe(false);
});

test('errors have their code and path, without the cause', () => {
  const failed = (path: string, internal: string) => ({
    errors: [{ message: internal, extensions: { code: 'unexpected', path, internal } }],
  });
  const textOf = (path: string, internal: string) => graphqlText('{ a }', undefined, failed(path, internal));
  expect(textOf('$', 'a')).toBe(textOf('$', 'b'));
  expect(textOf('$', 'a')).not.toBe(textOf('$.a', 'a'));
  expect(otherText({ code: 'c', path: '$', error: 'a' })).toBe(
    otherText({ code: 'c', path: '$', error: 'b' }),
  );
});

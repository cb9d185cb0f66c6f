/** Tests when two answers to an operation are the same: which lists have an order, and what is reported of those that differ. */
import { type FragmentDefinitionNode, getOperationAST, Kind, parse } from 'graphql';
import { expect, test } from 'vitest';
import { parseJson } from '../../engine/metadata/index.ts';
import { compareData } from './compare-answers.ts';

function differencesOf(query: string, a: string, b: string, variables = {}): readonly string[] {
  const document = parse(query);
  const fragments = document.definitions.filter(
    (node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION,
  );
  const comparing = { variables, fragments: new Map(fragments.map((one) => [one.name.value, one])) };
  const { selectionSet } = getOperationAST(document)!;
  return compareData(selectionSet, comparing, parseJson(a), parseJson(b)).map(({ text }) => text);
}

const ROWS = '{"n": [{"id": 1, "t": "a"}, {"id": 2, "t": "a"}]}';
const TURNED = '{"n": [{"t": "a", "id": 2}, {"t": "a", "id": 1}]}';
const ORDER = ['data.n: the order of the rows differs'];

test.each([
  ['a list without order_by', '{ n { id t } }', ROWS, TURNED, []],
  ['a list with order_by', '{ n(order_by: {id: asc}) { id t } }', ROWS, TURNED, ORDER],
  ['rows that are equal in what order_by names', '{ n(order_by: [{t: asc}]) { id t } }', ROWS, TURNED, []],
  ['rows whose order the answer does not show', '{ n(order_by: [{u: asc}]) { id t } }', ROWS, TURNED, ORDER],
  ['an empty order_by', '{ n(order_by: []) { id t } }', ROWS, TURNED, []],
  ['a list in a fragment', '{ ...f } fragment f on q { n { ... on n { id } t } }', ROWS, TURNED, []],
  [
    'nodes of an ordered aggregate',
    '{ x: a(order_by: {id: asc}) { nodes { id } } }',
    '{"x": {"nodes": [{"id": 1}, {"id": 2}]}}',
    '{"x": {"nodes": [{"id": 2}, {"id": 1}]}}',
    ['data.x.nodes: the order of the rows differs'],
  ],
  [
    'nested lists without order_by',
    '{ a { id n { id } } }',
    '{"a": [{"id": 1, "n": [{"id": 5}, {"id": 6}]}, {"id": 2, "n": []}]}',
    '{"a": [{"id": 2, "n": []}, {"id": 1, "n": [{"id": 6}, {"id": 5}]}]}',
    [],
  ],
  [
    'an array of a column',
    '{ n { tags } }',
    '{"n": [{"tags": [1, 2]}]}',
    '{"n": [{"tags": [2, 1]}]}',
    ['data.n: 1 of 1 rows differ'],
  ],
  [
    'numbers beyond those of JavaScript',
    '{ n }',
    '{"n": 9007199254740993}',
    '{"n": 9007199254740992}',
    ['data.n differs'],
  ],
  ['other numbers of rows', '{ n { id } }', '{"n": [{"id": 1}]}', '{"n": []}', ['data.n: 1 and 0 rows']],
  [
    'a row beside none',
    '{ n_by_pk { id } }',
    '{"n_by_pk": null}',
    '{"n_by_pk": {"id": 1}}',
    ['data.n_by_pk differs'],
  ],
  [
    'values of ordered rows',
    '{ n(order_by: {id: asc}) { id o { t } } }',
    '{"n": [{"id": 1, "o": {"t": "a"}}]}',
    '{"n": [{"id": 1, "o": {"t": "b"}}]}',
    ['data.n[0].o.t differs'],
  ],
  ['data beside none', '{ n { id } }', 'null', '{"n": []}', ['data differs']],
])('%s', (_, query, a, b, expected) => {
  expect(differencesOf(query, a, b)).toEqual(expected);
});

test('order_by in a variable orders', () => {
  const query = 'query ($o: [n_order_by!]) { n(order_by: $o) { id t } }';
  expect(differencesOf(query, ROWS, TURNED, { o: [{ id: 'asc' }] })).toEqual(ORDER);
  expect(differencesOf(query, ROWS, TURNED)).toEqual([]);
});

/** Tests the layout of the diagram: who is beside whom, and that nothing overlaps. */
import '../testing/seed.ts';
import { array, assert, constantFrom, nat, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { layoutOf, MOST_NEIGHBOURS, NODE } from './page/model-layout.js';

type Edge = { readonly key: string; readonly from: string; readonly to: string; readonly type: string };

const edgesIn = (edges: readonly Edge[]) => (key: string) =>
  edges.filter(({ from, to }) => from === key || to === key).map((edge) => ({ ...edge, name: edge.key }));

test('what a row leads to is on the right, what leads to it on the left', () => {
  const edges = [
    { key: 'author', from: 'book', to: 'author', type: 'object' },
    { key: 'loans', from: 'book', to: 'loan', type: 'array' },
    { key: 'book', from: 'review', to: 'book', type: 'object' },
    { key: 'publisher', from: 'author', to: 'publisher', type: 'object' },
  ];
  const { nodes, hidden } = layoutOf('book', new Set(), edgesIn(edges));
  const side = (key: string) => Math.sign(nodes.get(key)!.x);
  expect([...nodes.keys()].map((key) => [key, side(key)])).toEqual(
    expect.arrayContaining([
      ['book', 0],
      ['author', 1],
      ['loan', -1],
      ['review', -1],
    ]),
  );
  expect(nodes.has('publisher')).toBe(false);
  expect(hidden.get('author')).toBe(1);
  const expanded = layoutOf('book', new Set(['author']), edgesIn(edges));
  expect(expanded.nodes.get('publisher')!.x).toBeGreaterThan(expanded.nodes.get('author')!.x);
});

test('both directions of a relationship are one edge, with the sides that have many rows', () => {
  const edges = [
    { key: 'author', from: 'book', to: 'author', type: 'object' },
    { key: 'books', from: 'author', to: 'book', type: 'array' },
    { key: 'parent', from: 'book', to: 'book', type: 'object' },
    { key: 'publisher', from: 'book', to: 'publisher', type: 'object' },
    { key: 'agent', from: 'author', to: 'publisher', type: 'object' },
  ];
  const { edges: drawn } = layoutOf('book', new Set(), edgesIn(edges));
  expect(drawn.map(({ left, right, names }) => [left.key, right.key, names])).toEqual([
    ['book', 'author', ['author', 'books']],
    ['book', 'book', ['parent']],
    ['book', 'publisher', ['publisher']],
  ]);
  expect(drawn[0]).toMatchObject({ isLeftMany: true, isRightMany: false });
});

test('no two nodes overlap, and at most some are beside one', () => {
  const tables = Array.from({ length: 40 }, (_, i) => `t${i}`);
  const edge = record({
    from: constantFrom(...tables),
    to: constantFrom(...tables),
    type: constantFrom('object', 'array'),
  });
  assert(
    property(array(edge, { maxLength: 120 }), array(nat(39), { maxLength: 4 }), (given, opened) => {
      const edges = given.map((each, i) => ({ ...each, key: `e${i}` }));
      const { nodes } = layoutOf('t0', new Set(opened.map((i) => `t${i}`)), edgesIn(edges));
      const all = [...nodes.values()];
      const overlap = all.some((a, i) =>
        all.some((b, j) => i < j && Math.abs(a.x - b.x) < NODE.width && Math.abs(a.y - b.y) < NODE.height),
      );
      expect(overlap).toBe(false);
      expect(all.length).toBeLessThanOrEqual(1 + MOST_NEIGHBOURS * (opened.length + 1));
    }),
    { numRuns: 100 },
  );
});

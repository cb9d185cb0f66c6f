/** Tests that the parts are the JSON of the value, and that each is short. */
import { parseJson } from '@pergola/engine/metadata';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonParts } from './request.ts';

test('the parts together are what JSON.stringify returns', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      expect([...jsonParts(value)].join('')).toBe(JSON.stringify(value));
    }),
  );
});

test.each([
  [{ a: undefined, b: { c: undefined } }],
  [[undefined, null, []]],
  [{}],
  [''],
  [parseJson('{"exact":[9007199254740993,1.0]}')],
])('%j is printed as JSON.stringify prints it', (value) => {
  expect([...jsonParts(value)].join('')).toBe(JSON.stringify(value));
});

test('a large value has many parts of limited length, and a small one has one', () => {
  const edits = Array.from({ length: 10_000 }, (_, i) => ({
    key: `k${i}`,
    definition: { a: 'b'.repeat(100) },
  }));
  const body = { type: 'bulk', args: [{ type: 'patch', args: { put: edits } }] };
  const parts = [...jsonParts(body)];
  expect(parts.join('')).toBe(JSON.stringify(body));
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(70_000);
  expect([...jsonParts({ ...body, args: [] })]).toHaveLength(1);
});

/** Tests edits of YAML: the new values are there, and everything else is as it was. */

import { YAML_SCHEMA } from '@pergola/engine/metadata';
import fc from 'fast-check';
import { dump, loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { editYaml } from './edit.ts';
import { lineAt, offsetOf, parseTree } from './tree.ts';

const edit = (text: string, change: (value: never) => unknown) =>
  editYaml(text, loadAll(text, { schema: YAML_SCHEMA }).map(change as (value: unknown) => unknown));

test.each<readonly [string, string, (value: never) => unknown, string]>([
  [
    'a renamed key keeps its comments',
    'a: # one\n  b: 1 # two\n',
    () => ({ c: { b: 1 } }),
    'c: # one\n  b: 1 # two\n',
  ],
  ['a changed value', 'a: x # why\nb: y\n', () => ({ a: 'z', b: 'y' }), 'a: z # why\nb: y\n'],
  ['a removed key goes with its line', 'a: 1\nb: 2 # two\nc: 3\n', () => ({ a: 1, c: 3 }), 'a: 1\nc: 3\n'],
  [
    'an added key',
    'a:\n  - b: 1 # b\n    d: 2\n',
    () => ({ a: [{ b: 1, c: 3, d: 2 }] }),
    'a:\n  - b: 1 # b\n    c: 3\n    d: 2\n',
  ],
  [
    'an added first key',
    'a: { b: 1 }\nc: 2\n',
    () => ({ z: 0, a: { b: 1 }, c: 2 }),
    'z: 0\na: { b: 1 }\nc: 2\n',
  ],
  ['the first key of an item is removed', '- a: 1\n  b: 2\n', () => [{ b: 2 }], '- b: 2\n'],
  ['a mapping on one line stays on one', 'a: {b: x}\n', () => ({ a: { b: 'z' } }), 'a: { b: z }\n'],
  [
    'a text of several lines stays',
    'a: |\n  one\n\n  two\n\nb: 1\n',
    ({ a }) => ({ c: a, b: 1 }),
    'c: |\n  one\n\n  two\n\nb: 1\n',
  ],
  [
    'text that would be a number is quoted',
    'a: { b: x }\n',
    () => ({ a: { b: '443' } }),
    'a: { b: "443" }\n',
  ],
  ['text that would end a list is quoted', 'a: [x]\n', () => ({ a: ['x, y', ']'] }), 'a: ["x, y", "]"]\n'],
  ['numbers keep their text', 'a: 1.50\nb: x\n', ({ a }) => ({ a, c: 'z' }), 'a: 1.50\nc: z\n'],
  [
    'documents without a change',
    '# one\na: 1\n---\nb: x\n',
    (value) => ('b' in value ? { b: 'z' } : value),
    '# one\na: 1\n---\nb: z\n',
  ],
])('%s', (_, text, change, expected) => {
  expect(edit(text, change)).toBe(expected);
});

test('a document with an alias is printed anew', () => {
  const text = 'a: &x { b: 1 }\nc: *x\n';
  expect(edit(text, ({ a }: never) => ({ a, c: 2 }))).toBe('a:\n  b: 1\nc: 2\n');
});

const Value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string({ maxLength: 6 }),
    fc.constantFrom('a: b', '- x', '#c', 'two\nlines\n', 'true', '1', ' ', 'x #y', '{', "'"),
    fc.integer({ min: -9, max: 9 }),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd e', 'f: g'), tie('value'), { maxKeys: 4 }),
  ),
})).value;

test('the edited text has the new values, whatever they are', () => {
  fc.assert(
    fc.property(Value, Value, fc.constantFrom(-1, 2, 3), (old, value, flowLevel) => {
      const text = `# head\n${dump({ top: old, rest: [old] }, { flowLevel })}`;
      const wanted = [{ top: value, rest: [value] }];
      expect(loadAll(editYaml(text, wanted), { schema: YAML_SCHEMA })).toEqual(wanted);
    }),
    { numRuns: 2000 },
  );
});

test('the line of a value is that of its key, or of the parent of what is missing', () => {
  const text = 'a:\n  b:\n    - c: 1\n    - { d: 2 }\ne: 3\n';
  const root = parseTree(text)[0]?.root;
  const lineOf = (...path: (string | number)[]) => lineAt(text, offsetOf(root!, path));
  expect([lineOf(), lineOf('a', 'b', 0, 'c'), lineOf('a', 'b', 1, 'x'), lineOf('e')]).toEqual([1, 3, 4, 5]);
});

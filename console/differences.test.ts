/** Tests the difference of two texts: removed and added lines lead from one text to the other, and long parts without a difference are left out. */
import { array, assert, constantFrom, property } from 'fast-check';
import { expect, test } from 'vitest';
import { differences } from './page/differences.js';

const printed = (before: string, after: string) =>
  differences(before, after).map(
    ({ kind, text }) => ({ same: ' ', removed: '-', added: '+', skipped: '' })[kind] + text,
  );

test('a changed line is removed and added', () => {
  expect(printed('{\n  "a": 1\n}', '{\n  "a": 2\n}')).toEqual([' {', '-  "a": 1', '+  "a": 2', ' }']);
});

test('an object that is new has added lines only', () => {
  expect(printed('', '{\n}')).toEqual(['+{', '+}']);
  expect(printed('{\n}', '')).toEqual(['-{', '-}']);
});

test('long parts without a difference are left out', () => {
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i}`);
  expect(printed(lines.join('\n'), lines.with(10, 'other').join('\n'))).toEqual([
    ...['…', ' line 7', ' line 8', ' line 9', '-line 10', '+other', ' line 11', ' line 12', ' line 13', '…'],
  ]);
});

test('the lines of a kind are those of the texts, in order', () => {
  const text = array(constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 6 });
  assert(
    property(text, text, (before, after) => {
      const lines = differences(before.join('\n'), after.join('\n'));
      if (lines.some(({ kind }) => kind === 'skipped')) return;
      const of = (kind: string) =>
        lines.filter((line) => ['same', kind].includes(line.kind)).map(({ text: t }) => t);
      expect([of('removed'), of('added')]).toEqual([before, after]);
    }),
  );
});

/** Tests that what init prints is read as the same values, whatever the names of a database contain. */
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { printResource } from './print.ts';

const INDICATORS = ['-', '?', ':', '...', '---'];
const NAMES = ['', 'a', '-', '?', ':', ' a'].flatMap((rest) =>
  INDICATORS.map((indicator) => indicator + rest),
);

test.each([...NAMES, 'a:', '?:?', '{', 'a]'])('the name %j is quoted at every position', (name) => {
  const value = {
    [name]: name,
    spec: { columns: [name], items: [{ [name]: name }], mapping: { [name]: name } },
  };
  const text = printResource(value);
  expect(load(text)).toEqual(value);
  const quoted = text.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'/g, 'Q');
  expect(quoted).toBe('Q: Q\nspec:\n  columns: [Q]\n  items:\n    - Q: Q\n  mapping: { Q: Q }\n');
});

test.each([
  'plain',
  'new\nline',
  'ends\n',
  '\nbegins',
  'tab\ttab',
  ' space ',
  'a, b',
  '[a]',
  '{a}',
  '- a',
  'a: b',
  'a #b',
  `it's "quoted"`,
  'e\\f',
  '日本',
  '👎',
  'true',
  '1e3',
  '',
  '~',
  'a\u2028b',
  '\u0085',
])('the text %j is read as it was, at every position', (text) => {
  const value = {
    [`${text} `]: text,
    spec: {
      columns: [text, text],
      items: [{ name: text, customName: 'a' }],
      mapping: { [`${text}-`]: text, [`${text}.`]: [text] },
    },
  };
  expect(load(printResource(value))).toEqual(value);
});

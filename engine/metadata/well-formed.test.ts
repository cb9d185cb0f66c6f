/** Tests text that JSON can express and Postgres cannot store. */
import { expect, test } from 'vitest';
import { parseArgs } from './parse.ts';

const comment = (text: string) => {
  return parseArgs('set_relationship_comment', { table: 'author', name: 'articles', comment: text });
};

test('text that Postgres cannot keep is refused with its path', () => {
  for (const text of ['a\0', '\ud800b', 'c\udc00']) {
    expect(() => comment(text)).toThrow(expect.objectContaining({ kind: 'parseFailed', path: ['comment'] }));
  }
  expect(comment('\u{1f600} and \\u0000')).toMatchObject({ comment: '\u{1f600} and \\u0000' });
});

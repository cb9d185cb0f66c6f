/** Tests the words for conditions of permissions. */
import { expect, test } from 'vitest';
import { OPERATOR_TEMPLATES } from '../engine/sql/operators.ts';
import { inWords, operatorText } from './page/words.js';

test.each([
  [{}, 'every row'],
  [{ owner: { _eq: 'X-Engine-User-Id' } }, 'owner = X-Engine-User-Id'],
  [{ owner: 'X-Engine-User-Id' }, 'owner = X-Engine-User-Id'],
  [{ price: { _gt: 1, _lte: 5 } }, 'price > 1 and price ≤ 5'],
  [{ title: { _is_null: true } }, 'title is null'],
  [{ title: { _is_null: false } }, 'title is not null'],
  [{ $or: [{ id: { $eq: 1 } }, { id: { $in: [2, 3] } }] }, 'id = 1 or id is one of [2,3]'],
  [
    { _and: [{ a: { _eq: 1 } }, { _or: [{ b: { _eq: 2 } }, { c: { _eq: 3 } }] }] },
    'a = 1 and (b = 2 or c = 3)',
  ],
  [{ _or: [{ a: { _eq: 1 } }, {}] }, 'every row'],
  [{ _or: [] }, 'never'],
  [{ _not: { a: { _eq: 'x' } } }, 'not (a = "x")'],
  [{ author: { name: { _eq: 'Ann' } } }, 'author.name = "Ann"'],
  [{ author: { _not: { team: { id: { _eq: 1 } } } } }, 'not (author.team.id = 1)'],
  [{ author: {} }, 'author exists'],
  [
    {
      _exists: { _table: { schema: 'public', name: 'member' }, _where: { id: { _eq: 'X-Engine-User-Id' } } },
    },
    'a row of member exists where id = X-Engine-User-Id',
  ],
  [{ area: { _st_within: 'X-Engine-Area' } }, 'area st within X-Engine-Area'],
  [{ title: { _eq: '<b>' } }, 'title = "<b>"'],
])('%j', (condition, words) => {
  expect(inWords(condition)).toBe(words);
});

test('an operator has its sign beside its name, and one without a sign its name alone', () => {
  expect(['_eq', '_ilike', '_st_touches', 'constructor'].map(operatorText)).toEqual([
    '= (_eq)',
    'is like (ignoring case) (_ilike)',
    '_st_touches',
    'constructor',
  ]);
});

test('every operator of text, numbers, arrays and JSON has a word', () => {
  const ofExtensions = /^_(st_|ancestor|descendant|matches)/;
  const names = Object.keys(OPERATOR_TEMPLATES).filter((name) => !ofExtensions.test(name));
  expect(names.filter((name) => operatorText(name) === name)).toEqual([]);
});

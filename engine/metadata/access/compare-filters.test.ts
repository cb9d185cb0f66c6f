/** Tests verdicts on pairs of filters, and their words. Verdicts on random filters are compared with Postgres in
 *  engine/end-to-end/access-verdicts.test.ts. */
import { describe, expect, test } from 'vitest';
import { type AccessVerdict, compareFilters } from './compare-filters.ts';
import { wordsOfFilter } from './filter-words.ts';

const OWN = { owner_id: { _eq: 'X-Engine-User-Id' } };
const PUBLIC = { is_public: { _eq: true } };

const PAIRS: readonly (readonly [before: unknown, after: unknown, verdict: AccessVerdict])[] = [
  // A session variable is the same in any case; a literal is not a variable, and other texts have their case.
  [OWN, { owner_id: { _eq: 'x-engine-user-id' } }, 'same'],
  [{ owner_id: { _in: ['x-engine-user-id', 1] } }, OWN, 'narrower'],
  [OWN, { owner_id: { _eq: { $literal: 'X-Engine-User-Id' } } }, 'other'],
  [{ name: { _eq: 'Ada' } }, { name: { _eq: 'ada' } }, 'other'],
  [{}, {}, 'same'],
  [{ id: [{}] }, {}, 'same'],
  [OWN, { owner_id: { $eq: 'X-Engine-User-Id' } }, 'same'],
  [OWN, { owner_id: 'X-Engine-User-Id' }, 'same'],
  [OWN, { _and: [OWN] }, 'same'],
  [{ ...OWN, ...PUBLIC }, { _and: [PUBLIC, OWN] }, 'same'],
  [{ id: { _eq: 1 } }, { id: { _in: [1] } }, 'same'],
  [OWN, {}, 'wider'],
  [{}, OWN, 'narrower'],
  [OWN, { _or: [OWN, PUBLIC] }, 'wider'],
  [OWN, { ...OWN, ...PUBLIC }, 'narrower'],
  [OWN, { _or: [] }, 'narrower'],
  [{ _or: [OWN, PUBLIC] }, { _or: [{ ...OWN, id: { _gt: 3 } }, PUBLIC] }, 'narrower'],
  [
    { _and: [{ _or: [OWN, PUBLIC] }, { id: { _eq: 1 } }] },
    { _or: [{ ...OWN, id: { _eq: 1 } }, PUBLIC] },
    'wider',
  ],
  [{ id: { _in: [1, 2] } }, { id: { _in: [1, 2, 3] } }, 'wider'],
  [{ id: { _nin: [1, 2] } }, { id: { _nin: [1, 2, 3] } }, 'narrower'],
  [{ id: { _gt: 1 } }, { id: { _gte: 1 } }, 'wider'],
  [{ id: { _eq: 1 } }, { id: { _is_null: false } }, 'wider'],
  [{ author: { id: { _eq: 1 } } }, { author: {} }, 'wider'],
  [{ author: { ...OWN, ...PUBLIC } }, { author: OWN }, 'wider'],
  [
    { _exists: { _table: 'member', _where: { ...OWN, ...PUBLIC } } },
    { _exists: { _table: { schema: 'public', name: 'member' }, _where: OWN } },
    'wider',
  ],
  [OWN, PUBLIC, 'other'],
  [{ id: { _eq: 1 } }, { id: { _eq: '1' } }, 'other'],
  // Two rows may satisfy what one row does not.
  [{ _and: [{ notes: OWN }, { notes: PUBLIC }] }, { notes: { ...OWN, ...PUBLIC } }, 'narrower'],
  // Null is neither equal nor unequal, so a negation is not the complement.
  [{ _not: OWN }, { _not: { ...OWN, ...PUBLIC } }, 'other'],
  [{}, { _or: [OWN, { _not: OWN }] }, 'narrower'],
  // Every value, also null, is none of an empty list, which a session variable may hold.
  [{ id: { _is_null: false } }, { id: { _nin: [] } }, 'other'],
  [{ id: { _is_null: false } }, { id: { _nin: 'X-Engine-Blocked' } }, 'other'],
  [{ id: { _nin: [1] } }, { id: { _is_null: false } }, 'wider'],
  // A column may be called like an operator: two notes may have what one has not.
  [
    { notes: { _rank: { _eq: 1 }, _mark: { _eq: 1 } } },
    { _and: [{ notes: { _rank: { _eq: 1 } } }, { notes: { _mark: { _eq: 1 } } }] },
    'other',
  ],
  [{ notes: { _rank: { _eq: 1 }, _mark: 1 } }, { notes: { _mark: 1, _rank: { _eq: 1 } } }, 'same'],
  [{ id: { _gt: 1, _lt: 9, _is_null: false } }, { id: { _gt: 1 } }, 'wider'],
  [
    { _exists: { _table: { schema: 'a.b', name: 'c' }, _where: {} } },
    { _exists: { _table: { schema: 'a', name: 'b.c' }, _where: {} } },
    'other',
  ],
  // What null in a comparison means is an option of the engine.
  [{ id: { _eq: null } }, {}, 'wider'],
  [{ id: { _eq: null } }, { id: { _is_null: false } }, 'other'],
];

test.each(PAIRS)('%j → %j is %s', (before, after, verdict) => {
  expect(compareFilters(before, after)).toBe(verdict);
  const opposite = { narrower: 'wider', wider: 'narrower', same: 'same', other: 'other' } as const;
  expect(compareFilters(after, before)).toBe(opposite[verdict]);
});

test('a comparison of large filters ends', () => {
  const choices = Array.from({ length: 40 }, (_, i) => ({
    _or: [{ [`a${i}`]: { _eq: 1 } }, { [`b${i}`]: { _eq: 1 } }],
  }));
  expect(compareFilters({ _and: choices }, { _and: choices })).toBe('same');
  expect(compareFilters({ _and: choices }, { c: { _eq: 1 } })).toBe('other');
});

describe('words', () => {
  test.each([
    [{}, 'all rows'],
    [{ _or: [] }, 'no rows'],
    [OWN, 'owner_id is X-Engine-User-Id'],
    [
      { ...OWN, _or: [PUBLIC, { id: { _gte: 3 } }] },
      'owner_id is X-Engine-User-Id and (is_public is true or id is at least 3)',
    ],
    [{ _not: PUBLIC }, 'not (is_public is true)'],
    [{ author: { name: { _like: 'A b%' } } }, 'some author has name matches "A b%"'],
    [{ author: {} }, 'some author exists'],
    [{ status: { _in: ['open', 'new'] } }, 'status is one of open, new'],
    // What follows is no part of a list, nor of a condition on related rows.
    [
      { _or: [{ status: { _in: ['open', 'new'] } }, PUBLIC] },
      '(status is one of open, new) or is_public is true',
    ],
    [
      { _or: [{ author: OWN }, PUBLIC] },
      '(some author has owner_id is X-Engine-User-Id) or is_public is true',
    ],
    [
      { _or: [{ _exists: { _table: 'member', _where: OWN } }, PUBLIC] },
      '(a row of public.member has owner_id is X-Engine-User-Id) or is_public is true',
    ],
    // A text is told from the number, the boolean or the list that looks the same.
    [{ id: { _in: [1, '1', true, 'true', 'a,b', ''] } }, 'id is one of 1, "1", true, "true", "a,b", ""'],
    [{ deleted_at: { _is_null: true } }, 'deleted_at is null'],
    [
      { _exists: { _table: 'member', _where: OWN } },
      'a row of public.member has owner_id is X-Engine-User-Id',
    ],
  ])('%j: %s', (filter, words) => {
    expect(wordsOfFilter(filter)).toBe(words);
  });
});

/** Reading of the operator's ledger, which other tools may have written. */
import { expect, test } from 'vitest';
import { entriesIn, entryOf } from './ledger.ts';

const ENTRY = { manager: 'm', cr: 'Table shop/book', hash: 'x' };

test.each([
  ['a missing ledger', undefined],
  ['a text', 'ledger'],
  ['a ledger without objects', { manager: 'm' }],
  ['objects that are a list', { objects: [ENTRY] }],
])('%s owns nothing', (_, state) => {
  expect(entriesIn(state)).toEqual(new Map());
  expect(entryOf(state, '0')).toBeUndefined();
});

test('one entry and all entries have the same owners: an entry without manager or resource owns nothing', () => {
  const state = {
    objects: { a: ENTRY, b: { cr: 'Table shop/b' }, c: { manager: 'm' }, d: null, ['__proto__x']: ENTRY },
  };
  const all = entriesIn(state);
  expect([...all.keys()]).toEqual(['a', '__proto__x']);
  for (const key of [...Object.keys(state.objects), 'toString', '__proto__']) {
    expect(entryOf(state, key)).toEqual(all.get(key));
  }
});

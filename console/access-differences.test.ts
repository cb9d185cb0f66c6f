/** Tests in which words the page Access says what differs between two roles. */
import { expect, test } from 'vitest';
import { accessDifferences } from './page/access-differences.js';

const cell = (permission: object = {}, more: object = {}, role = 'reader') => ({
  ...{ is_allowed: true, columns: ['id'], masked_columns: [], limit: null, ...more },
  grants: [{ role, is_consistent: true, permission: { filter: {}, ...permission } }],
});
const refused = { is_allowed: false, reason: 'none', grants: [] };

test.each([
  [cell(), cell({}, {}, 'other'), []],
  [cell(), cell({ filter: { id: { _eq: 1 } } }), ['rows']],
  [cell(), cell({ check: {} }, { columns: ['id', 'name'] }), ['columns', 'checks']],
  [
    cell(),
    cell({ set: { id: 'X' } }, { limit: 5, masked_columns: ['id'] }),
    ['presets', 'masked columns', 'limits'],
  ],
  [cell(), cell({}, { allow_aggregations: true }), ['options']],
  [cell(), null, ['right']],
  [refused, cell(), ['right']],
  [null, refused, []],
])('%j and %j differ in %j', (one, other, parts) => {
  expect(accessDifferences(one, other)).toEqual(parts);
});

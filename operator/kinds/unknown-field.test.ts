import { expect, test } from 'vitest';
import { kindOf } from '../kinds.ts';
import { problemsOf } from './validate.ts';

const row = kindOf('Table')!;
const problemOf = (spec: object) => problemsOf(row, { table: 'note', ...spec });

test.each([
  ['a typing error', { tabel: 1 }, 'spec.tabel is not a field; the nearest name is "table"'],
  ['another case', { IsEnum: true }, 'spec.IsEnum is not a field; the nearest name is "isEnum"'],
  [
    'a field of a part',
    { permissions: [{ role: 'reader', delete: { filter: {} }, maxRows: 3 }] },
    'spec.permissions[0].maxRows is not a field; spec.permissions[].select.maxRows is',
  ],
  [
    'a field of two parts',
    { customName: 'Note' },
    'spec.customName is not a field; spec.configuration.customName and spec.configuration.columns[].customName are',
  ],
])('%s is named', (_, spec, text) => {
  expect(problemOf(spec)).toEqual([text]);
});

test.each([
  ['that is like no other', { zzzzzz: 1 }],
  ['that many parts have', { name: 1 }],
])('a field %s has all fields listed', (_, spec) => {
  const [name] = Object.keys(spec);
  expect(problemOf(spec)).toEqual([
    expect.stringMatching(
      new RegExp(`^spec\\.${name} is not a field; there are engineRef, .*waitForDeletion$`),
    ),
  ]);
});

test('a part with few fields has them listed, beside another place with that name', () => {
  const spec = { table: 'note', webhook: { url: 'http://hooks.example.com' } };
  expect(problemsOf(kindOf('EventTrigger')!, spec)).toContainEqual(
    expect.stringMatching(
      /^spec\.webhook\.url is not a field; there are value, .*; spec\.requestTransform\.url is$/,
    ),
  );
});

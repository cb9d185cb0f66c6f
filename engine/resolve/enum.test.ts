/** What an enum table must look like, and how it is told when it does not. */
import { expect, test } from 'vitest';
import { catalogOf, resolveTables, tableIn } from './testing/small-world.ts';

const reasonsFor = (...args: Parameters<typeof tableIn>) =>
  resolveTables({ [args[0]]: { is_enum: true } }, catalogOf(tableIn(...args))).reasons;

test('a text key, with or without a text comment, makes an enum', () => {
  expect(reasonsFor('color', { value: 'text!' }, { primaryKey: ['value'] })).toEqual([]);
  expect(reasonsFor('color', { value: 'text!', comment: 'text' }, { primaryKey: ['value'] })).toEqual([]);
});

test('one reason is told in a sentence', () => {
  expect(reasonsFor('color', { value: 'text!' })).toEqual([
    'Inconsistent object: the table "color" cannot be used as an enum because ' +
      'the table must have a primary key',
  ]);
  expect(reasonsFor('color', { value: 'text!', n: 'float8' }, { primaryKey: ['value'] })[0]).toContain(
    'the table’s comment column ("n") must have type "text", not type "double precision"',
  );
});

test('several reasons are told as a list', () => {
  const columns = { id: 'int4!', name: 'text!', gets_paid_on: 'text', favorite_color: 'text' };
  expect(reasonsFor('employees', columns, { primaryKey: ['id'] })).toEqual([
    'Inconsistent object: the table "employees" cannot be used as an enum for the following reasons:\n' +
      '  • the table’s primary key ("id") must have type "text", not type "integer"\n' +
      '  • the table must have exactly one primary key and optionally one comment column, ' +
      'not 4 columns (favorite_color, gets_paid_on, id, name)\n',
  ]);
});

test('a key over several columns is refused', () => {
  expect(reasonsFor('color', { b: 'text!', a: 'text!' }, { primaryKey: ['b', 'a'] })[0]).toContain(
    'the table’s primary key must not span multiple columns ("a", "b")',
  );
});

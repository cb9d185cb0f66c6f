/** Inconsistencies as they are collected and worded. */
import { expect, test } from 'vitest';
import { fail } from '../errors/engine-error.ts';
import { printInconsistencies } from '../state/inconsistencies.ts';
import {
  eventTriggerSubject,
  Inconsistencies,
  permissionSubject,
  relationshipSubject,
  tableSubject,
} from './inconsistency.ts';

const ORDER = { schema: 'sales', name: 'order' };

test('an attempt that succeeds leaves no trace', () => {
  const found = new Inconsistencies();
  expect(found.attempt(tableSubject({ source: 'default', table: ORDER }), () => 7)).toBe(7);
  expect(found.all).toEqual([]);
});

test('an attempt that fails is one inconsistency, and no result', () => {
  const found = new Inconsistencies();
  const subject = permissionSubject(
    'select',
    { source: 'main', table: ORDER },
    { role: 'user', permission: { columns: [] } },
  );
  expect(found.attempt(subject, () => fail('unknownOperator', { name: '_x' }))).toBeUndefined();
  expect(found.all).toMatchObject([
    {
      type: 'select_permission',
      name: 'select_permission user in table sales.order in source main',
      key: 'select_permission/main/sales/order/user',
      reason:
        'Inconsistent object: in table "sales.order": in permission for role "user": Unknown operator : _x',
    },
  ]);
});

test('the cause speaks both dialects', () => {
  const found = new Inconsistencies();
  found.attempt(tableSubject({ source: 'default', table: ORDER }), () =>
    fail('tableNotInDatabase', { table: 'sales.order' }),
  );
  const { cause, reason } = found.all[0]!;
  expect([cause!.status, cause!.codeIn('specification'), cause!.messageIn('specification')]).toEqual([
    400,
    'not-exists',
    'no such table/view exists in the database: sales.order',
  ]);
  expect([cause!.codeIn('newer'), cause!.messageIn('newer')]).toEqual(['invalid-configuration', reason]);
});

test('the code of the error is kept for those who keep track of objects, where the admin API has one code', () => {
  const found = new Inconsistencies();
  const trigger = { name: 'changed', definition: {}, webhook: 'http://example.org' } as never;
  found.attempt(eventTriggerSubject({ source: 'default', table: ORDER }, trigger), () =>
    fail('columnNotExists', { name: 'total' }),
  );
  expect(found.all[0]!.cause!.codeIn('specification')).toBe('invalid-configuration');
  expect(printInconsistencies(found.all, true)).toMatchObject([
    { code: 'invalid-configuration', behind: 'not-exists' },
  ]);
});

test('a programmer’s error is not swallowed', () => {
  const found = new Inconsistencies();
  const broken = (): never => {
    throw new TypeError('a bug');
  };
  expect(() => found.attempt(tableSubject({ source: 'default', table: ORDER }), broken)).toThrow('a bug');
});

test('a relationship over one column is shown as clients write it', () => {
  const shown = (using: object) =>
    relationshipSubject('array', { source: 'default', table: ORDER }, { name: 'r', using }).definition as {
      using: object;
    };
  const one = shown({ foreign_key_constraint_on: { table: ORDER, columns: ['a'] } });
  expect(one.using).toEqual({ foreign_key_constraint_on: { column: 'a', table: ORDER } });
  const two = shown({ foreign_key_constraint_on: { table: ORDER, columns: ['a', 'b'] } });
  expect(two.using).toEqual({ foreign_key_constraint_on: { columns: ['a', 'b'], table: ORDER } });
  expect(shown({ foreign_key_constraint_on: ['a'] }).using).toEqual({ foreign_key_constraint_on: 'a' });
  const manual = { manual_configuration: { remote_table: ORDER, column_mapping: { a: 'b' } } };
  expect(shown(manual).using).toEqual(manual);
});

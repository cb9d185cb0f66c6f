/** Tests the messages about inconsistent objects. */
import { expect, test } from 'vitest';
import { hashOf } from '../objects/normal-form.ts';
import { table } from '../testing/resources.ts';
import { outcomeOfInconsistency } from './inconsistency.ts';

const KEY = 'select_permission/default/public/author/user';
const found = {
  key: KEY,
  type: 'select_permission',
  name: 'user',
  reason: 'Inconsistent object: column "titel" does not exist',
  code: 'not-exists',
  nearest: ['title', 'titles'],
};
const object = { key: KEY, kind: 'select_permission', parent: null, definition: {} } as never;
const claim = (isAtHome: boolean) => ({
  object,
  hash: hashOf(object),
  cr: table('author'),
  policies: { drift: 'Correct', adoption: 'IfEqual', deletion: 'Delete' } as const,
  values: new Map<string, string>(),
  isAtHome,
});

test('the message names the nearest names', () => {
  expect(outcomeOfInconsistency(found, [found], claim(true)).message).toBe(
    'select permission default/public/author/user: column "titel" does not exist; ' +
      'the nearest names are "title" and "titles"',
  );
});

test('the message for a resource of another namespace than the Engine, or of nobody, does not', () => {
  for (const one of [claim(false), undefined]) {
    const { message } = outcomeOfInconsistency(found, [found], one);
    expect(message).toBe('select permission default/public/author/user: column "titel" does not exist');
  }
});

test('the message names a Secret whose value ends with a line break, and not the value', () => {
  for (const [value, isNamed] of [
    ['hidden', false],
    ['hidden\n', true],
    ['hidden\r\n', true],
    ['hid\nden', false],
  ] as const) {
    const values = new Map([
      ['team/0123/api/token', value],
      ['team/0123/other/token', 'x'],
    ]);
    const { message } = outcomeOfInconsistency(found, [found], { ...claim(false), values });
    const named =
      '; key token of Secret team/api ends with a line break: echo adds one, printf and kubectl create secret --from-literal do not';
    expect(message).toBe(
      `select permission default/public/author/user: column "titel" does not exist${isNamed ? named : ''}`,
    );
  }
});

test('the message says what happened to a request to another service', () => {
  const reason = 'Inconsistent object: HTTP exception occurred while sending the request to "http://billing"';
  const silent = { ...found, key: 'remote_schema/billing', away: true, reason, nearest: [], path: [] };
  const message = { message: 'Response timeout' };
  expect(outcomeOfInconsistency({ ...silent, message }, [silent])).toEqual({
    reason: 'RemoteUnavailable',
    message:
      'remote schema billing: HTTP exception occurred while sending the request to "http://billing": Response timeout',
  });
});

test('the message has every error of the object, each with its field', () => {
  const more = [
    { reason: "field 'idd' does not exist", path: ['permission', 'filter', 'idd'], nearest: ['id'] },
  ];
  const [near, far] = [true, false].map(
    (isAtHome) => outcomeOfInconsistency({ ...found, more }, [found], claim(isAtHome)).message,
  );
  expect(near).toBe(
    'select permission default/public/author/user: column "titel" does not exist; ' +
      'the nearest names are "title" and "titles"; also at permission.filter.idd: ' +
      'field \'idd\' does not exist; the nearest name is "id"',
  );
  expect(far).toBe(
    'select permission default/public/author/user: column "titel" does not exist; ' +
      "also at permission.filter.idd: field 'idd' does not exist",
  );
});

test('what a cluster cannot serve has a reason of its own, also behind the code of an event trigger', () => {
  for (const codes of [
    { code: 'distribution-unsupported' },
    { code: 'invalid-configuration', behind: 'distribution-unsupported' },
  ]) {
    const { nearest: _, ...one } = { ...found, ...codes };
    expect(outcomeOfInconsistency(one, [one], claim(true)).reason).toBe('DistributionUnsupported');
  }
});

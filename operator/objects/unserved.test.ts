/** Tests which reasons are stored: changes only, those of one manager, and a bounded number of bounded messages. */
import { expect, test } from 'vitest';
import { patchedRecords } from './stored-records.ts';
import { readUnserved, type Unserved, unservedChanges } from './unserved.ts';

const AT = new Date('2026-01-01T00:00:00Z');
const about = {
  ...{ manager: 'm', at: AT, isWhole: true },
  isReported: (reason: Unserved['reason']) => reason === 'RemoteUnavailable',
};
const entry = (reason: Unserved['reason'], more: Partial<Unserved> = {}): Unserved => ({
  ...{ manager: 'm', reason, message: 'why', since: AT.toISOString() },
  ...more,
});
const outcomes = (given: Readonly<Record<string, Unserved['reason']>>) =>
  new Map(Object.entries(given).map(([name, reason]) => [name, { reason, message: 'why' }]));

test('a new reason is stored, the same one is not, and a served resource loses its entry', () => {
  const before = new Map([
    ['T a/same', entry('Paused', { message: 'earlier' })],
    ['T a/served', entry('Conflict')],
    ['T a/other', entry('Conflict')],
    ['T a/gone', entry('Conflict')],
    ['T b/foreign', entry('Conflict', { manager: 'n' })],
  ]);
  const now = outcomes({
    'T a/same': 'Paused',
    'T a/served': 'Applied',
    'T a/other': 'InvalidSpec',
    'T a/new': 'PruneHeld',
  });
  const changes = unservedChanges(now, before, about);
  expect(changes).toEqual({
    'T a/served': null,
    'T a/gone': null,
    'T a/other': entry('InvalidSpec'),
    'T a/new': entry('PruneHeld'),
  });
  expect([...patchedRecords(before, changes).keys()]).toEqual([
    'T a/same',
    'T a/other',
    'T b/foreign',
    'T a/new',
  ]);
  expect(unservedChanges(now, before, { ...about, isWhole: false })).not.toHaveProperty('T a/gone');
});

test('an outage changes nothing, when it begins and when it ends', () => {
  const before = new Map([['T a/held', entry('PruneHeld')]]);
  const during = outcomes({ 'T a/held': 'RemoteUnavailable', 'T a/served': 'RemoteUnavailable' });
  expect(unservedChanges(during, before, about)).toEqual({});
  const after = outcomes({ 'T a/held': 'PruneHeld', 'T a/served': 'Applied' });
  expect(unservedChanges(after, before, about)).toEqual({});
});

test('the entry of another manager stays, and two of them come to rest', () => {
  let stored = patchedRecords(new Map(), unservedChanges(outcomes({ 'T a/b': 'Paused' }), new Map(), about));
  for (let i = 0; i < 4; i++) {
    const manager = i % 2 ? 'm' : 'n';
    const reason = i % 2 ? 'Paused' : 'Conflict';
    const changes = unservedChanges(outcomes({ 'T a/b': reason }), stored, { ...about, manager });
    expect(changes).toEqual({});
    stored = patchedRecords(stored, changes);
  }
});

test('the number of entries and the length of messages are bounded', () => {
  const many = new Map(
    Array.from({ length: 5000 }, (_, i) => [
      `T a/${i}`,
      { reason: 'SourceUnavailable' as const, message: 'x'.repeat(9000) },
    ]),
  );
  const changes = unservedChanges(many, new Map(), about);
  expect(Object.keys(changes)).toHaveLength(500);
  expect(JSON.stringify(changes).length).toBeLessThan(400_000);
  const stored = patchedRecords(new Map(), changes);
  expect(unservedChanges(many, stored, about)).toEqual({});
});

test('entries that are invalid are left out', () => {
  expect(readUnserved({ unserved: { a: entry('Paused'), b: { reason: 'Paused' }, c: null } }).size).toBe(1);
  expect([readUnserved(undefined).size, readUnserved({ unserved: 1 }).size]).toEqual([0, 0]);
});

/** Cron schedules: which are read, and the times they mean. */
import { expect, test } from 'vitest';
import { parseSchedule, timesAfter, zonedSchedule } from './schedule.ts';

const FROM = new Date('2026-01-31T12:00:00Z');
const times = (schedule: string, count: number) =>
  timesAfter(schedule, FROM, count).map((time) => time.toISOString());

test.each([
  ['* * * * *', '2026-01-31T12:01:00.000Z', '2026-01-31T12:02:00.000Z'],
  ['*/15 * * * *', '2026-01-31T12:15:00.000Z', '2026-01-31T12:30:00.000Z'],
  ['0 12 * * *', '2026-02-01T12:00:00.000Z', '2026-02-02T12:00:00.000Z'],
  ['30 2 29 2 *', '2028-02-29T02:30:00.000Z', '2032-02-29T02:30:00.000Z'],
  ['0 9 * * mon-fri', '2026-02-02T09:00:00.000Z', '2026-02-03T09:00:00.000Z'],
  // A day of the month or a day of the week, as in crontab(5).
  ['0 0 13 * 5', '2026-02-06T00:00:00.000Z', '2026-02-13T00:00:00.000Z'],
  ['@hourly', '2026-01-31T13:00:00.000Z', '2026-01-31T14:00:00.000Z'],
])('%s is in UTC', (schedule, first, second) => {
  expect(times(schedule, 2)).toEqual([first, second]);
});

test.each([
  // Summer time begins on 29 March 2026 in Berlin, and on 8 March in New York.
  [
    '0 9 * * *',
    'Europe/Berlin',
    '2026-03-28T00:00:00Z',
    ['2026-03-28T08:00:00.000Z', '2026-03-29T07:00:00.000Z'],
  ],
  [
    '0 9 * * *',
    'America/New_York',
    '2026-03-07T00:00:00Z',
    ['2026-03-07T14:00:00.000Z', '2026-03-08T13:00:00.000Z'],
  ],
  [
    '30 5 1 * *',
    'Asia/Kolkata',
    '2026-01-31T12:00:00Z',
    ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  ],
])('%s is in the local time of %s', (schedule, zone, from, expected) => {
  const found = timesAfter(zonedSchedule(schedule, zone), new Date(from), 2);
  expect(found.map((time) => time.toISOString())).toEqual(expected);
});

test('an unknown time zone is refused, by its place', () => {
  expect(() => parseSchedule('* * * * *', 'Mars/Olympus')).toThrow(
    expect.objectContaining({ kind: 'timeZoneUnknown', path: ['timezone'] }),
  );
});

test('a day that never comes has no times', () => {
  expect(times('0 0 30 2 *', 3)).toEqual([]);
});

test.each([
  '',
  'soon',
  '* * * *',
  '* * * * * *',
  '60 * * * *',
  '*/0 * * * *',
  '5-1 * * * *',
  '@reboot',
  '2026-01-31T12:00:00Z',
])('%j is refused, by its place', (schedule) => {
  expect(() => parseSchedule(schedule)).toThrow(
    expect.objectContaining({ kind: 'scheduleInvalid', path: ['schedule'] }),
  );
});

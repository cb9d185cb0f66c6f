/** Cron schedules of five fields, in UTC or in the local time of a time zone. The library parses them and computes the next times
 *  after a given one.
 *  Not here: the triggers that have a schedule (cron-trigger.ts, event-trigger.ts). Reference: docs/reference/behaviour/scheduled-triggers.md. */
import { Cron } from 'croner';
import { fail } from '../errors/engine-error.ts';

/** Parses a schedule. Raises `scheduleInvalid` and `timeZoneUnknown`. */
export function parseSchedule(schedule: string, timeZone?: string): Cron {
  if (timeZone !== undefined) refuseUnknownZone(timeZone);
  const cron = attempt(schedule, timeZone);
  // The library also accepts a date.
  if (cron.getPattern() === undefined) refuse(schedule, 'expected five fields');
  return cron;
}

/** Returns the first `count` times later than `from`. There are fewer when the schedule has no more, such as on 30 February. */
export function timesAfter(zoned: string, from: Date, count: number): readonly Date[] {
  const [, timeZone, schedule] = /^CRON_TZ=(\S+) (.*)$/.exec(zoned) ?? [undefined, undefined, zoned];
  return parseSchedule(schedule!, timeZone).nextRuns(count, from);
}

/** Returns a text that stands for a schedule in a time zone, as in crontab(5). */
export function zonedSchedule(schedule: string, timeZone: string | undefined): string {
  return timeZone === undefined ? schedule : `CRON_TZ=${timeZone} ${schedule}`;
}

function refuseUnknownZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch {
    fail('timeZoneUnknown', { timeZone }, { path: ['timezone'] });
  }
}

function attempt(schedule: string, timeZone: string | undefined): Cron {
  const options = {
    mode: '5-part',
    ...(timeZone === undefined ? { utcOffset: 0 } : { timezone: timeZone }),
  } as const;
  try {
    return new Cron(schedule, options);
  } catch (error) {
    return refuse(schedule, error instanceof Error ? error.message.replace(/^CronPattern: /, '') : '');
  }
}

function refuse(schedule: string, reason: string): never {
  return fail('scheduleInvalid', { schedule, reason }, { path: ['schedule'] });
}

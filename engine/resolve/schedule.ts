/** When scheduled events are due: cron schedules of five fields, in UTC or in the local time of a time zone, and single times. The library
 *  parses schedules and computes the next times after a given one.
 *  Not here: what has a schedule or a time (cron-trigger.ts, event-trigger.ts, scheduled-event.ts). Reference: docs/reference/behaviour/scheduled-triggers.md. */
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

/** True for a schedule that can be parsed and has no time, such as 30 February. */
export function neverComes(schedule: string): boolean {
  try {
    return timesAfter(schedule, new Date(0), 1).length === 0;
  } catch {
    // What cannot be parsed is refused or inconsistent.
    return false;
  }
}

/** ISO 8601 with an offset from UTC, so that the time does not depend on the server's time zone. */
const TIME = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d)(?::(\d\d(?:\.\d+)?))? ?(Z|[+-]\d\d(?::?\d\d)?)$/i;

/** Parses the time of an event that happens once. Raises `timeInvalid`. */
export function parseTime(text: string): Date {
  const [, year, month, day, minutes, seconds = '00', offset] = TIME.exec(text) ?? [];
  if (year === undefined) return refuseTime(text);
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  const time = new Date(`${year}-${month}-${day}T${minutes}:${seconds}${isoOffset(offset!)}`);
  // A Date takes 30 February for 2 March.
  const isReal = year !== '0000' && !Number.isNaN(time.getTime()) && date.getUTCDate() === Number(day);
  return isReal ? time : refuseTime(text);
}

/** Returns an offset with colon and minutes: `+02` and `+0200` as `+02:00`. */
function isoOffset(offset: string): string {
  if (/^z$/i.test(offset)) return 'Z';
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  return `${offset[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

function refuseTime(text: string): never {
  return fail('timeInvalid', { text }, { path: ['schedule_at'] });
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

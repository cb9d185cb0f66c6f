/** Cron schedules of five fields, in UTC. The library parses them and computes the next times after a given one, without a clock.
 *  Not here: the triggers that have a schedule (cron-trigger.ts, event-trigger.ts). Reference: docs/reference/behaviour/scheduled-triggers.md. */
import { Cron } from 'croner';
import { fail } from '../errors/engine-error.ts';

/** The options of the library. With an offset in place of a time zone it does not read the clock. */
const OPTIONS = { mode: '5-part', utcOffset: 0 } as const;

/** Parses a schedule. Raises `scheduleInvalid`. */
export function parseSchedule(schedule: string): Cron {
  const cron = attempt(schedule);
  // The library also accepts a date.
  if (cron.getPattern() === undefined) refuse(schedule, 'expected five fields');
  return cron;
}

/** Returns the first `count` times later than `from`. There are fewer when the schedule has no more, such as on 30 February. */
export function timesAfter(schedule: string, from: Date, count: number): readonly Date[] {
  return parseSchedule(schedule).nextRuns(count, from);
}

function attempt(schedule: string): Cron {
  try {
    return new Cron(schedule, OPTIONS);
  } catch (error) {
    return refuse(schedule, error instanceof Error ? error.message.replace(/^CronPattern: /, '') : '');
  }
}

function refuse(schedule: string, reason: string): never {
  return fail('scheduleInvalid', { schedule, reason }, { path: ['schedule'] });
}

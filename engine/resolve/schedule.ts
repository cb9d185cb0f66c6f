/** Cron schedules: five fields, in UTC. The library reads them and finds the next times; it is never asked what time it is.
 *  Not here: who has a schedule (cron-trigger.ts, event-trigger.ts). Reference: docs/reference/behaviour/scheduled-triggers.md. */
import { Cron } from 'croner';
import { fail } from '../errors/engine-error.ts';

/** An offset of none, unlike the name of a time zone, spares it asking for the time of day there. */
const OPTIONS = { mode: '5-part', utcOffset: 0 } as const;

/** Raises `scheduleInvalid`. */
export function parseSchedule(schedule: string): Cron {
  const cron = attempt(schedule);
  // It takes a date, too.
  if (cron.getPattern() === undefined) refuse(schedule, 'expected five fields');
  return cron;
}

/** The first `count` times later than `from`; fewer where there are no more, such as of 30 February. */
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

/** Operations on cron triggers. Reference: docs/reference/behaviour/scheduled-triggers.md.
 *  Not here: their schedule (resolve/schedule.ts), events of theirs (admin/scheduled-events.ts, events/upcoming.ts). */
import { fail } from '../../errors/engine-error.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import { parseSchedule } from '../../resolve/schedule.ts';
import type { Handler } from './handler.ts';

/** Raises `scheduleInvalid`, and `cronTriggerExists` unless it is to be replaced. */
export const createCronTrigger: Handler<'create_cron_trigger'> = (draft, { replace, ...definition }) => {
  const { name, schedule } = definition;
  parseSchedule(schedule);
  const key = objectKey('cron_trigger', name);
  if (!replace && findObject(draft, key)) fail('cronTriggerExists', { name });
  return putObject(draft, { key, kind: 'cron_trigger', parent: null, definition });
};

/** Raises `cronTriggerNotExists`. */
export const deleteCronTrigger: Handler<'delete_cron_trigger'> = (draft, { name }) => {
  const key = objectKey('cron_trigger', name);
  return findObject(draft, key) ? removeObject(draft, key) : fail('cronTriggerNotExists', { name });
};

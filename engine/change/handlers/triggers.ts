/** Operations on event triggers of a tracked table, on cron triggers, and on scheduled events that the document declares.
 *  Not here: what a trigger means over columns (resolve/event-trigger.ts), schedules (resolve/schedule.ts), events (admin/events.ts).
 *  Reference: docs/reference/behaviour/event-triggers.md, docs/reference/behaviour/scheduled-triggers.md. */

import { fail } from '../../errors/engine-error.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { findFragment, findObject, objectKey } from '../../metadata/objects.ts';
import type { ArgsOf } from '../../metadata/operations.ts';
import type { EventTrigger } from '../../metadata/schema/event.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import { foreignKindOf } from '../../metadata/schema/source.ts';
import { parseSchedule, parseTime } from '../../resolve/schedule.ts';
import type { Handler } from './handler.ts';
import { editObject, keyIn, putIn, requireSource, requireTable } from './handler.ts';

/** Raises `eventTriggerExists` for a new trigger, and `eventTriggerNotExists` and `eventTriggerElsewhere` for one to be replaced, which has
 *  to be of the same table. Names are unique across sources. */
export function createEventTrigger(draft: Metadata, args: ArgsOf<'create_event_trigger'>): Metadata {
  const { source, table, replace, name, insert, update, delete: deleted, enable_manual, ...settings } = args;
  requireTable(draft, args);
  if (replace) {
    const known = keyOfTrigger(draft, name, source) ?? fail('eventTriggerNotExists', { name });
    if (known !== keyIn('event_trigger', { source, table }, name)) fail('eventTriggerElsewhere', {});
  } else if (keyOfTrigger(draft, name) !== undefined) fail('eventTriggerExists', { name });
  const watched = { insert, update, delete: deleted, enable_manual };
  const definition = Object.fromEntries(Object.entries(watched).filter(([, value]) => value !== undefined));
  return putIn(draft, 'event_trigger', args, { name, definition: { name, definition, ...settings } });
}

/** Raises `sourceNotFound`, `eventTriggerNotExists`. */
export const deleteEventTrigger: Handler<'delete_event_trigger'> = (draft, { source, name }) => {
  requireSource(draft, source);
  const key = keyOfTrigger(draft, name, source);
  return key === undefined ? fail('eventTriggerNotExists', { name }) : removeObject(draft, key);
};

/** Raises `sourceNotFound`, `eventTriggerNotExists`, `eventTriggerWithoutCleanup`. */
export const pauseCleanups: Handler<'pause_event_trigger_cleanups'> = (draft, args) =>
  withCleanups(draft, args, true);

/** Raises `sourceNotFound`, `eventTriggerNotExists`, `eventTriggerWithoutCleanup`. */
export const resumeCleanups: Handler<'resume_event_trigger_cleanups'> = (draft, args) =>
  withCleanups(draft, args, false);

type CleanupArgs = ArgsOf<'pause_event_trigger_cleanups'>;

function withCleanups(draft: Metadata, { event_triggers: wanted }: CleanupArgs, paused: boolean): Metadata {
  const keys = 'sources' in wanted ? keysWithCleanup(draft, wanted.sources) : wanted.flatMap(namedIn(draft));
  return keys.reduce((made, key) => {
    const { cleanup_config: config, name } = findFragment(made, key) as EventTrigger;
    if (!config) return fail('eventTriggerWithoutCleanup', { name });
    return editObject(made, key, { cleanup_config: { ...config, paused } });
  }, draft);
}

function keysWithCleanup(draft: Metadata, sources: '*' | readonly string[]): readonly string[] {
  const wanted =
    sources === '*'
      ? draft.sources.filter((source) => !foreignKindOf(source))
      : sources.map((name) => requireSource(draft, name));
  return wanted.flatMap((source) =>
    source.tables.flatMap(({ table, event_triggers }) =>
      (event_triggers ?? [])
        .filter(({ cleanup_config: config }) => config)
        .map(({ name }) => keyIn('event_trigger', { source: source.name, table }, name)),
    ),
  );
}

const namedIn =
  (draft: Metadata) =>
  ({ source_name: source = 'default', event_triggers: names }: Qualifier): readonly string[] => {
    requireSource(draft, source);
    return names.map((name) => keyOfTrigger(draft, name, source) ?? fail('eventTriggerNotExists', { name }));
  };

type Qualifier = { readonly source_name?: string; readonly event_triggers: readonly string[] };

/** Returns the key of an event trigger in any source, or in one. */
function keyOfTrigger({ sources }: Metadata, name: string, within?: string): string | undefined {
  for (const source of sources) {
    if (within !== undefined && source.name !== within) continue;
    for (const { table, event_triggers } of source.tables) {
      if (event_triggers?.some((trigger) => trigger.name === name)) {
        return objectKey('event_trigger', source.name, table.schema, table.name, name);
      }
    }
  }
  return undefined;
}

/** Raises `scheduleInvalid`, and `cronTriggerExists` unless it is to be replaced. */
export const createCronTrigger: Handler<'create_cron_trigger'> = (draft, { replace, ...definition }) => {
  const { name, schedule, timezone } = definition;
  parseSchedule(schedule, timezone);
  const key = objectKey('cron_trigger', name);
  if (!replace && findObject(draft, key)) fail('cronTriggerExists', { name });
  return putObject(draft, { key, kind: 'cron_trigger', parent: null, definition });
};

/** Raises `cronTriggerNotExists`. */
export const deleteCronTrigger: Handler<'delete_cron_trigger'> = (draft, { name }) => {
  const key = objectKey('cron_trigger', name);
  return findObject(draft, key) ? removeObject(draft, key) : fail('cronTriggerNotExists', { name });
};

/** Raises `timeInvalid`, and `scheduledEventExists` unless it is to be replaced. */
export const declareScheduledEvent: Handler<'declare_scheduled_event'> = (
  draft,
  { replace, ...definition },
) => {
  const { name, schedule_at: at } = definition;
  parseTime(at);
  const key = objectKey('scheduled_event', name);
  if (!replace && findObject(draft, key)) fail('scheduledEventExists', { name });
  return putObject(draft, { key, kind: 'scheduled_event', parent: null, definition });
};

/** Raises `scheduledEventNotExists`. */
export const undeclareScheduledEvent: Handler<'undeclare_scheduled_event'> = (draft, { name }) => {
  const key = objectKey('scheduled_event', name);
  return findObject(draft, key) ? removeObject(draft, key) : fail('scheduledEventNotExists', { name });
};

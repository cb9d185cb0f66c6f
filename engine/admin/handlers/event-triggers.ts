/** Operations on event triggers of a tracked table. Reference: features.md rows 181, 189.
 *  Not here: what they mean over its columns (resolve/event-trigger.ts), events themselves (admin/events.ts). */
import { fail } from '../../errors/engine-error.ts';
import { objectKey, removeObject } from '../../metadata/objects.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Handler } from './handler.ts';
import { keyIn, putIn, requireSource, requireTable } from './locate.ts';

/** Raises `eventTriggerWithoutEvents`, and `eventTriggerExists` unless it is of the same table and to be replaced. */
export const createEventTrigger: Handler<'create_event_trigger'> = (draft, args) => {
  const { source, table, replace, name, insert, update, delete: deleted, enable_manual, ...settings } = args;
  if (!insert && !update && !deleted && !enable_manual) fail('eventTriggerWithoutEvents', {});
  requireTable(draft, args);
  const known = keyOfTrigger(draft, name);
  const isReplaced = replace === true && known === keyIn('event_trigger', { source, table }, name);
  if (known !== undefined && !isReplaced) fail('eventTriggerExists', { name });
  const watched = { insert, update, delete: deleted, enable_manual };
  const definition = Object.fromEntries(Object.entries(watched).filter(([, value]) => value !== undefined));
  return putIn(draft, 'event_trigger', args, { name, definition: { name, definition, ...settings } });
};

/** Raises `sourceNotFound`, `eventTriggerNotExists`. */
export const deleteEventTrigger: Handler<'delete_event_trigger'> = (draft, { source, name }) => {
  requireSource(draft, source);
  const key = keyOfTrigger(draft, name, source);
  return key === undefined ? fail('eventTriggerNotExists', { name }) : removeObject(draft, key);
};

/** Of any source, or of one. */
function keyOfTrigger({ sources }: Metadata, name: string, within?: string): string | undefined {
  for (const source of sources) {
    if (within !== undefined && source.name !== within) continue;
    for (const { table, event_triggers = [] } of source.tables) {
      if (event_triggers.some((trigger) => trigger.name === name)) {
        return objectKey('event_trigger', source.name, table.schema, table.name, name);
      }
    }
  }
  return undefined;
}

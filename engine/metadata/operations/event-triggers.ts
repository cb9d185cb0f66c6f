/** Operations on event triggers and their events, and on requests to webhooks, which they test. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import {
  EnvValue,
  ObjectName,
  QualifiedName,
  RequestTransform,
  ResponseTransform,
} from '../schema/common.ts';
import { checkNewTrigger, EventTrigger } from '../schema/event.ts';
import { AtLeastOne, Hours, Seconds } from '../schema/number.ts';
import { oneOf, Type } from '../schema/type.ts';
import { EventId, flag, page } from './arguments.ts';
import { type OperationDeclaration, row, shaped, sourced } from './row.ts';

const { name: _name, definition: _definition, ...eventSettings } = EventTrigger.properties;

const eventTrigger = { name: ObjectName, ...eventSettings };

/** Arguments that select event triggers: of all sources, of some, or by name. */
const cleanups = {
  event_triggers: Type.Union([
    Type.Object({ sources: Type.Union([Type.Literal('*'), Type.Array(ObjectName, { minItems: 1 })]) }),
    Type.Array(
      Type.Object({
        source_name: Type.Optional(ObjectName),
        event_triggers: Type.Array(ObjectName, { minItems: 1 }),
      }),
      { minItems: 1 },
    ),
  ]),
};

export const EVENT_TRIGGER_OPERATIONS = {
  create_event_trigger: sourced(
    'state',
    'Creates an event trigger, which sends changed rows to a webhook.',
    {
      table: QualifiedName,
      ...eventTrigger,
      ...EventTrigger.properties.definition.properties,
      replace: flag,
    },
    { check: checkNewTrigger },
  ),
  delete_event_trigger: sourced('edit', 'Deletes an event trigger and archives its pending events.', {
    name: ObjectName,
  }),
  invoke_event_trigger: sourced('database', 'Creates an event of an event trigger manually.', {
    name: ObjectName,
    payload: Type.Unknown(),
  }),
  redeliver_event: sourced('database', 'Delivers an event again.', { event_id: EventId }),
  get_event_logs: sourced('read', 'Returns the events of an event trigger, newest first.', {
    name: ObjectName,
    status: Type.Optional(oneOf('pending', 'processed', 'delivered', 'failed', 'archived')),
    ...page,
  }),
  get_event_invocation_logs: sourced(
    'read',
    'Returns requests for events and their responses, newest first.',
    {
      name: ObjectName,
      ...page,
    },
  ),
  get_event_by_id: sourced('read', 'Returns an event, the requests for it and their responses.', {
    event_id: EventId,
    invocation_log_limit: page.limit,
    invocation_log_offset: page.offset,
  }),
  cleanup_event_trigger_logs: row(
    'database',
    'Deletes processed events and, if requested, their invocation logs.',
    {
      event_trigger_name: ObjectName,
      source: ObjectName,
      clear_older_than: Hours,
      batch_size: Type.Optional(AtLeastOne),
      timeout: Type.Optional(Seconds),
      clean_invocation_logs: flag,
    },
    { takesSource: true },
  ),
  pause_event_trigger_cleanups: shaped(
    'edit',
    'Stops the regular deletion of events of event triggers that have a `cleanup_config`.',
    Type.Object(cleanups),
  ),
  resume_event_trigger_cleanups: shaped('edit', 'Resumes that deletion.', Type.Object(cleanups)),
} as const satisfies Record<string, OperationDeclaration>;

export const WEBHOOK_OPERATIONS = {
  test_webhook_transform: row('read', 'Returns the request that a transform creates, without sending it.', {
    webhook_url: EnvValue,
    body: Type.Unknown(),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    request_headers: Type.Optional(Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }))),
    session_variables: Type.Optional(Type.Record(Type.String(), Type.String())),
    request_transform: RequestTransform,
    response_transform: Type.Optional(ResponseTransform),
  }),
} as const satisfies Record<string, OperationDeclaration>;

/** Operations that return what the engine does. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { ObjectName } from '../schema/common.ts';
import { oneOf, Type } from '../schema/type.ts';
import { page } from './arguments.ts';
import { type OperationDeclaration, row } from './row.ts';

export const ACTIVITY_OPERATIONS = {
  get_recent_activity: row(
    'read',
    'Returns rates, errors, latency, connections and deliveries of this replica for each minute of the last hour, and its slowest operations. Runs no statement.',
    {},
    { isForConsole: true },
  ),
  list_subscriptions: row(
    'read',
    'Returns the subscriptions of this replica by role, and the statements that are polled for them with their subscribers and their cost. Runs no statement.',
    {},
    { isForConsole: true },
  ),
  list_triggers: row(
    'read',
    'Returns the names of event triggers, cron triggers, declared events and asynchronous actions. Runs no statement.',
    {},
    { isForConsole: true },
  ),
  list_action_calls: row(
    'read',
    'Returns calls of asynchronous actions, newest first, with their input and the answer of the webhook.',
    {
      action: Type.Optional(ObjectName),
      status: Type.Optional(Type.Array(oneOf('waiting', 'running', 'answered', 'failed'))),
      ...page,
    },
  ),
} as const satisfies Record<string, OperationDeclaration>;

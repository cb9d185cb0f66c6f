/** Operations on what the engine does: the last hour of this replica, its subscriptions, the names of triggers and asynchronous actions, and the
 *  calls of asynchronous actions. Only the last one reads a database, which is the metadata database.
 *  Not here: counting (observe/), events (events.ts, scheduled-events.ts). Reference: docs/reference/behaviour/observability.md. */
import { withSqlErrors } from '../state/sql-failure.ts';
import { listActionCalls as readActionCalls } from '../store/action-calls.ts';
import type { Performer } from './request.ts';

export const getRecentActivity: Performer<'get_recent_activity'> = async ({ gateway }) => {
  const report = await gateway.activity.report();
  return () => report;
};

export const listSubscriptions: Performer<'list_subscriptions'> = ({ gateway }) => {
  const view = gateway.activity.subscriptions?.() ?? { subscriptions: 0, roles: [], pollers: [] };
  return () => view;
};

export const listTriggers: Performer<'list_triggers'> = ({ metadata }) => {
  const { sources, cron_triggers = [], scheduled_events: declared = [], actions = [] } = metadata;
  const event_triggers = sources.flatMap(({ name: source, tables }) =>
    tables.flatMap(({ table, event_triggers: triggers = [] }) =>
      triggers.map(({ name, definition }) => ({
        ...{ source, table, name },
        operations: (['insert', 'update', 'delete'] as const).filter(
          (each) => definition[each] !== undefined,
        ),
        is_manual: definition.enable_manual ?? false,
      })),
    ),
  );
  return () => ({
    event_triggers,
    cron_triggers: cron_triggers.map(({ name, schedule }) => ({ name, schedule })),
    declared_events: declared.map(({ name }) => ({ name })),
    asynchronous_actions: actions
      .filter(({ definition }) => definition.kind === 'asynchronous')
      .map(({ name }) => ({ name })),
  });
};

const PAGE = 100;

export const listActionCalls: Performer<'list_action_calls'> = async (work, args) => {
  const { action = null, status = [], limit = PAGE, offset = 0 } = args;
  const { metadataDatabase: database } = work.gateway;
  const wanted = { action, statuses: status, limit, offset };
  const calls = await withSqlErrors('list_action_calls', () => readActionCalls(database, wanted));
  return () => ({ calls });
};

/** The session as settings of a transaction: triggers read `current_setting('engine.user', true)`, a JSON object of session
 *  variables, `hasura.user`, the same with the names of the reference engine (`x-hasura-user-id`), and `engine.trace`, `{trace_id, span_id}`, which is empty without a trace. They end with the transaction.
 *  Not here: the statements that need them (execute/statements.ts). Reference: docs/reference/behaviour/event-triggers.md. */
import type { SpanContext } from '../observe/span.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import type { NamedStatement } from './pool.ts';

export const SESSION_SETTINGS: NamedStatement = {
  name: 'pergola_session',
  text: `select set_config('engine.user', $1, true), set_config('engine.trace', $2, true), set_config('hasura.user', $3, true)`,
};

/** Limits how long a transaction waits for each lock. */
export const LOCK_LIMIT: NamedStatement = {
  name: 'pergola_lock_limit',
  text: "select set_config('lock_timeout', '5s', true)",
};

export function sessionSettings({ variables }: Session, trace: SpanContext | null = null): string[] {
  const ids = trace && { trace_id: trace.traceId, span_id: trace.spanId };
  const foreign = Object.entries(variables).map(([name, value]) => [
    name.replace(SESSION_PREFIX, 'x-hasura-'),
    value,
  ]);
  return [
    JSON.stringify(variables),
    ids ? JSON.stringify(ids) : '',
    JSON.stringify(Object.fromEntries(foreign)),
  ];
}

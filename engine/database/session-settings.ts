/** The session as settings of a transaction: triggers read `current_setting('engine.user', true)`, a JSON object of session
 *  variables, `hasura.user`, the same with the names of the reference engine (`x-hasura-user-id`), and `engine.trace`, `{trace_id, span_id}`, which is empty without a trace. They end with the transaction.
 *  Not here: the statements that need them (execute/statements.ts). Reference: docs/reference/behaviour/event-triggers.md. */
import type { SpanContext } from '../observe/span.ts';
import { SESSION_PREFIX, SESSION_SETTINGS, type Session, type SessionSetting } from '../resolve/session.ts';
import type { NamedStatement } from './pool.ts';

export const SET_SESSION: NamedStatement = {
  name: 'pergola_session',
  text: `select ${SESSION_SETTINGS.map((name, i) => `set_config('${name}', $${i + 1}, true)`).join(', ')}`,
};

/** Limits how long a transaction waits for each lock. */
export const LOCK_LIMIT: NamedStatement = {
  name: 'pergola_lock_limit',
  text: "select set_config('lock_timeout', '5s', true)",
};

/** Makes a transaction change the shards of a Citus cluster one by one. Otherwise a write to a table fails after a parallel one to a table that
 *  has a foreign key to it. Citus documentation, "citus.multi_shard_modify_mode". */
export const SHARDS_ONE_BY_ONE: NamedStatement = {
  name: 'pergola_shards_one_by_one',
  text: "select set_config('citus.multi_shard_modify_mode', 'sequential', true)",
};

/** The text of SHARDS_ONE_BY_ONE for a database that may be no cluster, where it changes nothing. */
export const SHARDS_ONE_BY_ONE_IN_CLUSTER = `${SHARDS_ONE_BY_ONE.text} from pg_catalog.pg_extension where extname = 'citus'`;

/** Returns the values of SET_SESSION. */
export function sessionSettings(session: Session, trace: SpanContext | null = null): string[] {
  return SESSION_SETTINGS.map((setting) => sessionSetting(setting, session, trace));
}

/** Returns the text of one setting. */
export function sessionSetting(
  setting: SessionSetting,
  { variables }: Session,
  trace: SpanContext | null,
): string {
  switch (setting) {
    case 'engine.user':
      return JSON.stringify(variables);
    case 'engine.trace':
      return trace ? JSON.stringify({ trace_id: trace.traceId, span_id: trace.spanId }) : '';
    case 'hasura.user':
      return JSON.stringify(withForeignNames(variables));
    default:
      return setting satisfies never;
  }
}

function withForeignNames(variables: Session['variables']): Record<string, string> {
  const entries = Object.entries(variables);
  return Object.fromEntries(
    entries.map(([name, value]) => [name.replace(SESSION_PREFIX, 'x-hasura-'), value]),
  );
}

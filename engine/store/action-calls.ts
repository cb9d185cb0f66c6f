/** Calls of asynchronous actions in the metadata database, which every replica shares. The replica that claims a call holds it until
 *  its lease ends. The lease is longer than the webhook's timeout, so a call is repeated only if the engine that made it has stopped.
 *  If there are two answers the first one is kept, because a client may have read it already.
 *  Not here: making calls (webhook/async-actions.ts), the table (migrations/). Reference: docs/reference/behaviour/actions.md. */

import { boundedRead } from '../database/bounded-read.ts';
import type { Database } from '../database/pool.ts';
import { parseJson } from '../json/parse-json.ts';
import type { ActionCalls, QueuedActionCall } from '../webhook/async-action-types.ts';

export function actionCalls(database: Database): ActionCalls {
  return {
    add: async ({ action, sessionVariables, message, clientHeaders }) => {
      const added = await database.query(
        `insert into pergola.action_call (action, session_variables, message, client_headers)
         values ($1, $2, $3, $4) returning id::text`,
        [action, JSON.stringify(sessionVariables), JSON.stringify(message), JSON.stringify(clientHeaders)],
      );
      return (added.rows[0] as { id: string }).id;
    },
    claim: async (most, leaseSeconds, takesInterrupted) => {
      const claimed = await database.query(
        `with picked as materialized (
           select id from pergola.action_call
            where status = 'waiting' order by created_at limit $1 for update skip locked),
         interrupted as materialized (
           select id from pergola.action_call
            where $3::bool and not exists (select from picked)
              and status = 'running' and lease_ends_at < now()
            order by lease_ends_at limit 1 for update skip locked)
         update pergola.action_call
            set status = 'running', lease_ends_at = now() + $2::int * interval '1 second',
                interruptions = interruptions + case when status = 'running' then 1 else 0 end
          where id in (select id from picked union all select id from interrupted)
      returning interruptions, id::text, action, session_variables::text, message::text, client_headers::text`,
        [most, leaseSeconds, takesInterrupted],
      );
      return claimed.rows.map((row: Record<string, string> & { readonly interruptions: number }) => ({
        id: row['id']!,
        interruptions: row.interruptions,
        action: row['action']!,
        sessionVariables: JSON.parse(row['session_variables']!),
        message: parseJson(row['message']!) as QueuedActionCall['message'],
        clientHeaders: JSON.parse(row['client_headers']!),
      }));
    },
    finish: async (id, { response, errors }) => {
      await database.query(
        `update pergola.action_call
            set status = case when $3::json is null then 'answered' else 'failed' end,
                response = $2, errors = $3, lease_ends_at = null, client_headers = '{}'
          where id = $1 and status = 'running'`,
        [id, response, errors],
      );
    },
    find: async (id, action, sessionVariables) => {
      const found = await database.query(
        `select to_json(created_at)::text as created_at, response::text, errors::text
           from pergola.action_call
          where id = $1 and action = $2 and ($3::jsonb is null or session_variables = $3::jsonb)`,
        [id, action, sessionVariables && JSON.stringify(sessionVariables)],
      );
      const row = found.rows[0] as Record<string, string | null> | undefined;
      if (!row) return null;
      return { createdAt: row['created_at']!, response: row['response']!, errors: row['errors']! };
    },
    clear: async (action) => {
      await database.query('delete from pergola.action_call where action = $1', [action]);
    },
  };
}

/** Returns calls, newest first, with the session variables and the input of the client and what the webhook answered. Header values, which may
 *  be secrets, are not returned. */
export function listActionCalls(
  database: Database,
  wanted: {
    readonly action: string | null;
    readonly statuses: readonly string[];
    readonly limit: number;
    readonly offset: number;
  },
): Promise<readonly unknown[]> {
  const { action, statuses, limit, offset } = wanted;
  return boundedRead(database, async (client) => {
    const found = await client.query(
      `select json_build_object('id', id, 'action', action, 'status', status, 'created_at', created_at,
                'interruptions', interruptions, 'session_variables', session_variables,
                'request', message -> 'body', 'response', response, 'errors', errors)::text as call
         from pergola.action_call
        where ($1::text is null or action = $1) and (cardinality($2::text[]) = 0 or status = any($2))
        order by created_at desc, id limit $3 offset $4`,
      [action, statuses, limit, offset],
    );
    return found.rows.map(({ call }: { readonly call: string }) => parseJson(call));
  });
}

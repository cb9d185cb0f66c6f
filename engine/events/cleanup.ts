/** Deleting from the log of events what is done with and old enough, batch by batch, so that nobody waits for long.
 *  Not here: when (scheduled-feed.ts, admin/events.ts). Reference: docs/reference/behaviour/event-triggers.md. */

import type { Database } from '../database/pool.ts';
import type { CleanupScope } from '../resolve/types.ts';

import { hasLog } from './capture.ts';

/** How many events were deleted. Raises what Postgres says of a batch that takes longer than it may; those before stay done. */
export async function cleanUp(database: Database, trigger: string, scope: CleanupScope): Promise<number> {
  if (!(await hasLog(database))) return 0;
  for (let deleted = 0; ; ) {
    const batch = await deleteBatch(database, trigger, scope);
    deleted += batch;
    if (batch < scope.batchSize) return deleted;
  }
}

function deleteBatch(
  database: Database,
  trigger: string,
  { olderThanHours, batchSize, timeoutSeconds, withInvocations }: CleanupScope,
): Promise<number> {
  return database.transaction({}, async (client) => {
    await client.query(`select set_config('statement_timeout', $1, true)`, [`${timeoutSeconds}s`]);
    const deleted = await client.query(
      `with done as (
         delete from pergola.event_log where id in (
           select id from pergola.event_log
            where trigger_name = $1 and (delivered or error or archived) and locked is null
              and created_at < now() - $2::float8 * interval '1 hour'
            limit $3 for update skip locked)
         returning id),
       told as (delete from pergola.event_invocation_log where $4::bool and event_id in (select id from done))
       select id from done`,
      [trigger, olderThanHours, batchSize, withInvocations],
    );
    return deleted.rowCount ?? 0;
  });
}

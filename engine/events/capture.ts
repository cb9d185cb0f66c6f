/** Event triggers as the database has them: the log they write, made where it is missing, and their functions and triggers,
 *  made anew or dropped, inside a transaction of the caller's.
 *  Not here: which of them change (admin/event-capture.ts), their SQL (sql/event-trigger.ts). */

import { readFileSync } from 'node:fs';
import type { ClientBase, QueryResult } from 'pg';
import type { Database } from '../database/pool.ts';
import type { ResolvedEventTrigger } from '../resolve/types.ts';

import { captureText, dropCaptureText } from '../sql/event-trigger.ts';

const EVENT_LOG = readFileSync(new URL('./event-log.sql', import.meta.url), 'utf8');
/** Any number nobody else locks. */
const ADVISORY_LOCK = '8097875193516056674';

export async function createCaptures(
  client: ClientBase,
  triggers: readonly ResolvedEventTrigger[],
): Promise<void> {
  if (triggers.length === 0) return;
  await createLog(client);
  for (const trigger of triggers) await client.query(captureText(trigger));
}

export async function dropCaptures(client: ClientBase, names: readonly string[]): Promise<void> {
  if (names.length === 0 || !(await hasLog(client))) return;
  for (const name of names) await client.query(dropCaptureText(name));
}

/** Those of triggers that are gone: nobody tells them any more. */
export async function archiveEvents(client: ClientBase, triggers: readonly string[]): Promise<void> {
  if (triggers.length === 0 || !(await hasLog(client))) return;
  await client.query(
    'update pergola.event_log set archived = true where trigger_name = any($1) and not archived',
    [triggers],
  );
}

export async function createLog(client: ClientBase): Promise<void> {
  if (await hasLog(client)) return addIndex(client);
  await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
  if (await hasLog(client)) return;
  // `if not exists` wants the privilege even when there is nothing to create.
  const found = await client.query(`select to_regnamespace('pergola') as schema`);
  if (!found.rows[0].schema) await client.query('create schema pergola');
  await client.query(EVENT_LOG);
}

/** Logs of earlier versions lack the index events are taken by. Only the owner of the log may create it. */
async function addIndex(client: ClientBase): Promise<void> {
  const found = await client.query(
    `select to_regclass('pergola.event_log_due') is null and pg_has_role(relowner, 'usage') as "isMissing"
       from pg_class where oid = 'pergola.event_log'::regclass`,
  );
  if (!found.rows[0].isMissing) return;
  await client.query(
    `create index if not exists event_log_due on pergola.event_log (trigger_name, created_at)
      where not delivered and not error and not archived`,
  );
}

export async function hasLog(client: Pick<Database, 'query'> | ClientBase): Promise<boolean> {
  const found: QueryResult = await client.query(`select to_regclass('pergola.event_log') as log`);
  return found.rows[0].log !== null;
}

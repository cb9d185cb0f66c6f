/** The lock of migrations: one run at a time in a database. It is an advisory lock of the session that runs the statements, so that it
 *  is held for exactly as long as a statement of a run can still have an effect, also after the run was killed.
 *  Waiting runs try again instead of waiting in the database: a statement that waits has a snapshot, and `create index concurrently` of
 *  the run that holds the lock would wait for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientBase } from 'pg';

/** An arbitrary key that no other program locks: "migrate!" in ASCII, cut to 63 bits. */
const KEY = '7883955472886558753';
const PAUSE_MS = 200;

/** Raised when another run has the lock for too long. */
export class MigrationLockError extends Error {}

/** Takes the lock. Calls `onWait` once if another session has it. Raises MigrationLockError after `waitMs`. */
export async function takeLock(
  client: ClientBase,
  { waitMs, onWait }: { readonly waitMs: number; readonly onWait: () => void },
): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (let hasWaited = false; !(await tryLock(client)); hasWaited = true) {
    if (performance.now() + PAUSE_MS > deadline) throw new MigrationLockError(await holderText(client));
    if (!hasWaited) onWait();
    await sleep(PAUSE_MS);
  }
}

async function tryLock(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as taken', [KEY]);
  return rows[0].taken;
}

/** True when the session of the client has the lock. Behind a pooler in transaction mode another session may run the next statement. */
export async function hasLock(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query(
    `select exists (
       select from pg_locks
        where locktype = 'advisory' and granted and pid = pg_backend_pid() and objsubid = 1
          and database = (select oid from pg_database where datname = current_database())
          and classid::bigint = $1::bigint >> 32 and objid::bigint = $1::bigint & 4294967295) as held`,
    [KEY],
  );
  return rows[0].held;
}

/** Returns the session that has the lock, in words; null when none has it. */
export async function lockHolder(client: ClientBase): Promise<string | null> {
  const { rows } = await client.query(
    `select l.pid, a.application_name as name
       from pg_locks l left join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and l.objsubid = 1
        and l.database = (select oid from pg_database where datname = current_database())
        and l.classid::bigint = $1::bigint >> 32 and l.objid::bigint = $1::bigint & 4294967295`,
    [KEY],
  );
  const [holder] = rows;
  return holder ? `process ${holder.pid} of the database, ${holder.name || 'without a name'}` : null;
}

async function holderText(client: ClientBase): Promise<string> {
  const holder = await lockHolder(client);
  const who = holder === null ? '' : ` (${holder})`;
  return `another run has the lock of migrations${who}; wait for it, or look at it in pg_stat_activity`;
}

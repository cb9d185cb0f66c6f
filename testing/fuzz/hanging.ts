/** Finds out what an engine that does not answer waits for, as far as that can be seen from outside: in the sessions of the database and
 *  the gauges of its pools. Not here: whether its event loop runs (subject.ts). */
import pg from 'pg';
import { ADMIN_SECRET, type Subject } from './subject.ts';

/** The sessions that hold something or wait for something. */
const SESSIONS = `
select pid, state, wait_event, pg_blocking_pids(pid) as blocked_by, extract(epoch from now() - xact_start)::int as transaction_s,
    left(query, 100) as query
  from pg_stat_activity
  where datname = current_database() and (xact_start is not null or state <> 'idle') and pid <> pg_backend_pid()`;

/** Ends an engine that does not answer. Returns what is waited for, as far as that can be seen from outside. */
export async function whatHangs(subject: Subject, databaseUrl: string): Promise<string> {
  const seen = [await openSessions(databaseUrl), await poolGauges(subject.url)];
  const state = await subject.stopHanging();
  return `; the engine ${state}; ${seen.join('; ')}`;
}

/** Returns the sessions that hold or wait for something, as words for a problem. Its own failure is part of the words. */
export async function openSessions(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 });
  try {
    await client.connect();
    const { rows } = await client.query(SESSIONS);
    return `sessions: ${JSON.stringify(rows)}`;
  } catch (error) {
    return `no sessions: ${(error as Error).message}`;
  } finally {
    await client.end();
  }
}

/** Returns the gauges of the engine that count connections and who waits for them, as words for a problem. */
async function poolGauges(url: string): Promise<string> {
  try {
    const response = await fetch(`${url}/v1/metrics`, {
      headers: { 'x-engine-admin-secret': ADMIN_SECRET },
      signal: AbortSignal.timeout(5000),
    });
    const lines = (await response.text()).split('\n');
    return `pools: ${lines.filter((line) => /^[^#]*(pool|waiting|in_flight)/.test(line)).join(', ')}`;
  } catch (error) {
    return `no metrics: ${(error as Error).message}`;
  }
}

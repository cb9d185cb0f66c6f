/** Creates the extension pgcrypto in a source's database, as the reference engine does. In: a database and the schema of the
 *  extension. Out: nothing, or why the extension is missing. Not here: which sources and when (state/extensions.ts).
 *  Reference: docs/adr/0018-pgcrypto-when-a-source-connects.md. */
import { thrownMessage } from '../errors/engine-error.ts';
import { compile, id, sql } from '../sql/fragment.ts';
import { sqlStateOf } from './pg-errors.ts';
import { type Database, isConnectionLost } from './pool.ts';

/** The longest wait for everything, and for a lock. */
const TIMEOUT_MS = 20_000;
const LIMITS = `set local statement_timeout = '10s'; set local lock_timeout = '5s'`;

/** Finds out whether the extension is to be created. Files of extensions are read only if it is missing. */
const STATE = {
  name: '',
  text: `select case
    when exists (select from pg_catalog.pg_extension where extname = 'pgcrypto') then 'installed'
    when pg_catalog.pg_is_in_recovery() or pg_catalog.current_setting('transaction_read_only') = 'on' then 'read-only'
    when exists (select from pg_catalog.pg_available_extensions where name = 'pgcrypto') then 'missing'
    else 'unavailable' end`,
};

/** Another engine created it at the same time: unique_violation, duplicate_object. */
const IS_THERE_NOW = /^(23505|42710)$/;

/** Creates pgcrypto in `schema` unless the database has it in any schema. Does nothing on a standby and for a user whose sessions are
 *  read-only. Returns why the extension could not be created, null otherwise. Raises when the connection is lost. */
export async function createPgcrypto(database: Database, schema: string): Promise<string | null> {
  const patience = { signal: AbortSignal.timeout(TIMEOUT_MS) };
  try {
    const [state] = await database.run(STATE, [], patience);
    if (state === 'unavailable') return 'the server does not have the extension';
    if (state !== 'missing') return null;
    const { text } = compile(sql`create extension if not exists pgcrypto with schema ${id(schema)}`);
    await database.transaction(patience, async (client) => {
      await client.query(LIMITS);
      await client.query(text);
    });
    return null;
  } catch (error) {
    if (isConnectionLost(error)) throw error;
    return IS_THERE_NOW.test(sqlStateOf(error) ?? '') ? null : thrownMessage(error);
  }
}

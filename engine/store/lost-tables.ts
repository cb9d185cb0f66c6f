/** The tables of the metadata, dropped while an engine runs. It serves on with what it has read, and no change can be stored.
 *  Not here: a database that does not answer (connect.ts). */
import { sqlStateOf } from '../database/pg-errors.ts';

export const LOST_TABLES =
  'the tables of the schema pergola are gone from the metadata database: restore them from a backup, or start the engine again, which ' +
  'creates empty ones';

/** True for an error of Postgres about the absent schema of the metadata, or a table of it. */
export function hasLostTables(error: unknown): boolean {
  return /^(?:42P01|3F000)$/.test(sqlStateOf(error) ?? '') && /"pergola[".]/.test((error as Error).message);
}

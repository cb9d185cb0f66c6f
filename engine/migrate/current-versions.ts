/** Reads the states of versions from a database in which another run may be at work. In: a connection, the migrations of a source. Out: rows
 *  and states. Takes no lock. Not here: the meaning of the rows (assess.ts). */
import type { ClientBase } from 'pg';
import { type AssessedVersion, assess } from './assess.ts';
import { lockHolder } from './lock.ts';
import type { Migration } from './migration.ts';
import { type RecordRow, readRecord } from './record.ts';

export async function currentVersions(
  client: ClientBase,
  source: string,
  migrations: readonly Migration[],
): Promise<{ readonly rows: readonly RecordRow[]; readonly versions: readonly AssessedVersion[] }> {
  // Before the rows: a run that ends in between has then written that it is finished.
  const holder = await lockHolder(client);
  const rows = await readRecord(client, source);
  return { rows, versions: assess(migrations, rows, holder) };
}

/** Undoes the newest version of a source when its file was edited after it ran, so that it can run again: the statements of its down.sql and
 *  the removal of its row are one transaction. For databases of developers: a later version may need what the newest one created.
 *  Raises MigrationRefusal when there is no down.sql; Error with file and line when a statement of it fails.
 *  Not here: running it again (run-migrations.ts). */
import { existsSync, readFileSync } from 'node:fs';
import type { ClientBase } from 'pg';
import { assess } from './assess.ts';
import { takeLock } from './lock.ts';
import { readRecord, removeRow } from './record.ts';
import { MigrationRefusal, type MigrationRequest } from './run-migrations.ts';
import { runStatements } from './run-statements.ts';

/** Returns the file that was run; undefined when there is nothing to undo. */
export async function undoEdited(
  client: ClientBase,
  { source, folder, waitMs }: Pick<MigrationRequest, 'source' | 'folder' | 'waitMs'>,
): Promise<string | undefined> {
  await takeLock(client, { waitMs, onWait: () => {} });
  const rows = await readRecord(client, source);
  const newest = rows.filter(({ state }) => state === 'applied').at(-1)?.version;
  const edited = assess(folder.migrations, rows).find(({ state }) => state === 'changed');
  if (edited === undefined || edited.version !== newest) return undefined;
  const file = downFileOf(edited.migration!.file);
  if (!existsSync(file)) {
    throw new MigrationRefusal([
      `${edited.version} ${edited.name}: the file was edited after it was applied, and there is no ${file} to undo it; write it, or restore the file`,
    ]);
  }
  await client.query('begin');
  try {
    await runStatements(client, readFileSync(file, 'utf8'), file);
    await client.query('reset session authorization; reset role; reset all');
    await removeRow(client, source, edited.version);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
  return file;
}

/** Returns `VERSION_NAME/down.sql`, or `VERSION_NAME.down.sql`. */
function downFileOf(file: string): string {
  return file.replace(/(^|\/)up\.sql$|(\.up)?\.sql$/, (_, folder?: string) =>
    folder === undefined ? '.down.sql' : `${folder}down.sql`,
  );
}

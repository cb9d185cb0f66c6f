/** Folders of migrations for tests, and runs over them in this process. In: files by name. Out: a folder, a session, a run with defaults
 *  that do not wait. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AssessedVersion } from '../../engine/migrate/assess.ts';
import { currentVersions } from '../../engine/migrate/current-versions.ts';
import { readMigrations } from '../../engine/migrate/read-migrations.ts';
import {
  type MigrationRequest,
  type MigrationResult,
  runMigrations,
} from '../../engine/migrate/run-migrations.ts';
import { withMigrationSession } from '../../engine/migrate/session.ts';

/** Writes files to a new folder and returns its path. */
export function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-migrations-'));
  writeFiles(folder, files);
  return folder;
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

export function deleteFile(folder: string, name: string): void {
  rmSync(join(folder, name));
}

export type TestRun = MigrationResult & { readonly notes: readonly string[] };

/** Runs the migrations of a folder. Lock timeouts are short and nothing is tried again, unless the test says otherwise. */
export async function migrateUp(
  url: string,
  folder: string,
  given: Partial<MigrationRequest> = {},
): Promise<TestRun> {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const request: MigrationRequest = {
    source: 'default',
    folder: readMigrations(folder, given.source ?? 'default'),
    lockTimeoutMs: 200,
    lockRetries: 0,
    waitMs: 20_000,
    allowsOutOfOrder: false,
    allowsMissing: false,
    ...given,
  };
  const result = await withMigrationSession(url, (client) =>
    runMigrations(client, request, {
      onWait: () => note('waits'),
      onRetry: note,
      onNote: note,
      onApplied: () => {},
    }),
  );
  return { ...result, notes };
}

/** Returns the state of each version. */
export async function statesOf(url: string, folder: string): Promise<Readonly<Record<string, string>>> {
  const versions = await versionsOf(url, folder);
  return Object.fromEntries(versions.map(({ version, state }) => [version, state]));
}

export async function versionsOf(url: string, folder: string): Promise<readonly AssessedVersion[]> {
  const { migrations } = readMigrations(folder, 'default');
  const read = await withMigrationSession(url, (client) => currentVersions(client, 'default', migrations));
  return read.versions;
}

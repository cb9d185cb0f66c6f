/** Starts the run's Postgres once, before any test file, and stops it after the last.
 *  PERGOLA_TEST_POSTGRES names a running server to use instead, PERGOLA_TEST_POSTGRES_BIN the folder of an installed
 *  server's `initdb` and `postgres`: another version of Postgres, or one with PostGIS. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['PERGOLA_TEST_POSTGRES'];
  if (given) {
    project.provide('postgresUrl', given);
    return async () => {};
  }
  const folder = await mkdtemp(join(tmpdir(), 'pergola-test-'));
  const binaries = process.env['PERGOLA_TEST_POSTGRES_BIN'];
  const postgres = await startEmbeddedPostgres({ folder, isDurable: false, binaries });
  project.provide('postgresUrl', postgres.url);
  return async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** Starts the Postgres server of a run once, before any test file, and stops it after the last.
 *  PERGOLA_TEST_POSTGRES names a running server to use instead. PERGOLA_TEST_POSTGRES_BIN names the folder with `initdb` and `postgres`
 *  of an installed server, of another version or with PostGIS. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { keepTemporaryFilesInMemory } from './memory-folder.ts';

type Server = { readonly url: string; readonly stop: () => Promise<void> };

/** The server of all projects of the run. Each project loads this module by itself. */
const shared = globalThis as { pergolaTestServer?: { readonly server: Promise<Server>; users: number } };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.pergolaTestServer ??= { server: startServer(), users: 0 };
  const { pergolaTestServer } = shared;
  pergolaTestServer.users++;
  const server = await pergolaTestServer.server;
  project.provide('postgresUrl', server.url);
  return async () => {
    if (--pergolaTestServer.users === 0) await server.stop();
  };
}

/** Temporary files of the tests are in memory, too. */
async function startServer(): Promise<Server> {
  const removeFolder = keepTemporaryFilesInMemory();
  const server = await startPostgres();
  const stop = async () => {
    await server.stop();
    removeFolder();
  };
  return { url: server.url, stop };
}

async function startPostgres(): Promise<Server> {
  const given = process.env['PERGOLA_TEST_POSTGRES'];
  if (given) return { url: given, stop: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'pergola-test-'));
  const binaries = process.env['PERGOLA_TEST_POSTGRES_BIN'];
  const postgres = await startEmbeddedPostgres({ folder, isDurable: false, binaries });
  const stop = async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: postgres.url, stop };
}

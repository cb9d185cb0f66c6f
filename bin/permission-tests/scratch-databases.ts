/** The databases of one `pergola test`: an embedded Postgres in a temporary folder, or databases of their own on a server of the user's; removed
 *  at the end. `pristine` has what the migrations and *.sql files create. The engine serves `app`, a copy of it, which is replaced by a new
 *  copy after a test has written. The name of the copy is always the same, so the engine keeps its metadata and only connects again.
 *  Not here: the server (../embedded-postgres.ts), running the files (../prepare-database.ts). */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../embedded-postgres.ts';
import { type DatabaseFolders, prepareDatabase } from '../prepare-database.ts';
import { databaseUrl, withClient } from '../server-databases.ts';

export type ScratchDatabases = {
  /** The URL of the database that the engine serves. */
  readonly app: string;
  /** The URL of the database for the engine's metadata. */
  readonly metadata: string;
  /** Replaces `app` by a new copy of the pristine database. Connections to the old one are ended. */
  readonly renew: () => Promise<void>;
};

type Server = { readonly url: string; readonly stop: () => Promise<void> };

/** Runs the migrations and *.sql files. `serverUrl` is a database on the user's server, which is not changed. `onStop` receives, before
 *  anything starts, the function that removes everything; it may be called at any time. Raises an error that names the file that failed. */
export async function startScratchDatabases(
  folders: DatabaseFolders,
  serverUrl: string | undefined,
  onStop: (stop: () => Promise<void>) => void,
): Promise<ScratchDatabases> {
  const names = namesOf(serverUrl === undefined ? 'test' : `pergola_test_${randomBytes(6).toString('hex')}`);
  let server: Server | undefined;
  // What a step creates can be removed only once the step has ended. The user's SQL, which may take long, is ended with its database.
  let step: Promise<unknown> = Promise.resolve();
  const stepping = <T>(work: Promise<T>): Promise<T> => {
    step = work.catch(() => {});
    return work;
  };
  onStop(async () => {
    await step;
    if (server && serverUrl !== undefined) await drop(server.url, Object.values(names));
    await server?.stop();
  });
  const starting = serverUrl === undefined ? temporaryServer() : userServer(serverUrl);
  const { url } = await stepping(
    starting.then((started) => {
      server = started;
      return started;
    }),
  );
  const statements = (...texts: readonly string[]) => stepping(onServer(url, texts));
  await statements(`create database ${names.pristine}`, `create database ${names.metadata}`);
  await prepareDatabase(databaseUrl(url, names.pristine), folders);
  await statements(copy(names.pristine, names.app));
  return {
    app: databaseUrl(url, names.app),
    metadata: databaseUrl(url, names.metadata),
    renew: () =>
      statements(
        copy(names.pristine, names.next),
        `drop database ${names.app} with (force)`,
        `alter database ${names.next} rename to ${names.app}`,
      ),
  };
}

type Names = { readonly [K in 'pristine' | 'app' | 'next' | 'metadata']: string };

/** The prefix consists of letters, digits and underscores, so the names need no quotes. */
function namesOf(prefix: string): Names {
  return {
    pristine: `${prefix}_pristine`,
    app: `${prefix}_app`,
    next: `${prefix}_next`,
    metadata: `${prefix}_metadata`,
  };
}

function copy(from: string, to: string): string {
  return `create database ${to} template ${from}`;
}

async function userServer(url: string): Promise<Server> {
  return { url, stop: async () => {} };
}

async function temporaryServer(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'pergola-test-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
    return { url: postgres.url, stop: () => postgres.stop().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function drop(serverUrl: string, names: readonly string[]): Promise<void> {
  await onServer(
    serverUrl,
    names.map((name) => `drop database if exists ${name} with (force)`),
  );
}

async function onServer(url: string, statements: readonly string[]): Promise<void> {
  await withClient({ url, applicationName: 'pergola test' }, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

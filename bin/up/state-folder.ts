/** What `pergola up` keeps between starts, in one folder: the admin secret, and Postgres's files. One `up` at a time may use it.
 *  A start after a crash finds what the crash left running, and ends it (leftovers.ts).
 *  Not here: Postgres itself (../embedded-postgres.ts). */
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort, isFree } from '../free-port.ts';
import { isReachable, isRoot } from '../unprivileged.ts';
import { endLeftover, notedPostgres, notedProcess, noteProcess } from './leftovers.ts';

export type StateFolder = {
  readonly path: string;
  /** The folder for Postgres; outside `path` if an unprivileged user cannot reach `path`. */
  readonly postgres: string;
  /** The processes of an earlier start that this one has ended, such as `engine (pid 123)`. */
  readonly ended: readonly string[];
  /** So that a start after a crash finds it. */
  readonly noteEngine: (pid: number) => void;
  readonly release: () => void;
};

/** Throws when another `up` uses the folder. */
export async function openStateFolder(given: string): Promise<StateFolder> {
  const path = resolve(given);
  mkdirSync(path, { recursive: true });
  keepOutOfGit(path);
  const lock = join(path, 'up.pid');
  const holder = notedProcess(lock, 'pergola');
  if (holder !== undefined && holder !== process.pid) {
    throw new Error(`another instance (pid ${holder}) keeps its data in ${path}; end it, or give --data DIR`);
  }
  noteProcess(lock, process.pid);
  const postgres = reachableByPostgres(path);
  const engine = join(path, 'engine.pid');
  // The engine first: it would only complain about its database.
  const ended = [
    await endLeftover('engine', notedProcess(engine, 'pergola'), 'SIGKILL'),
    await endLeftover('Postgres', notedPostgres(join(postgres, 'data')), 'SIGINT'),
  ];
  return {
    path,
    postgres,
    ended: ended.filter((name) => name !== undefined),
    noteEngine: (pid) => noteProcess(engine, pid),
    release: () => {
      for (const file of [engine, lock]) rmSync(file, { force: true });
    },
  };
}

/** The names of the files and folders that `up` writes. */
const OWN_FILES: ReadonlySet<string> = new Set([
  ...['up.pid', 'engine.pid', 'engine.log', 'engine.log.1'],
  ...['admin-secret', 'values-key', 'postgres', 'postgres-port'],
]);

/** Writes a `.gitignore`, so that `git add .` adds neither the secrets nor the data. A folder with files of the user is left as it is. */
function keepOutOfGit(path: string): void {
  if (readdirSync(path).every((name) => OWN_FILES.has(name))) writeFileSync(join(path, '.gitignore'), '*\n');
}

/** Returns the port of the embedded Postgres: that of the start before, so that addresses noted elsewhere stay valid, if it is free. */
export async function postgresPortIn({ path }: StateFolder): Promise<number> {
  const file = join(path, 'postgres-port');
  const earlier = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  if (earlier > 0 && earlier < 65536 && (await isFree(earlier))) return earlier;
  const port = await freePort();
  writeFileSync(file, `${port}\n`);
  return port;
}

/** Made once, readable by this user alone. */
export function adminSecretIn(folder: StateFolder): string {
  return secretIn(folder, 'admin-secret');
}

/** Returns the key of the named values. Losing it loses the values, which the loop then sets again. */
export function valuesKeyIn(folder: StateFolder): string {
  return secretIn(folder, 'values-key');
}

function secretIn({ path }: StateFolder, name: string): string {
  const file = join(path, name);
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(16).toString('hex')}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return readFileSync(file, 'utf8').trim();
}

/** Returns the folder for Postgres, which under root runs as another user (../unprivileged.ts). */
function reachableByPostgres(path: string): string {
  const inside = join(path, 'postgres');
  if (!isRoot() || isReachable(inside)) return inside;
  const id = createHash('sha256').update(path).digest('hex').slice(0, 12);
  return `/var/tmp/pergola-${id}`;
}

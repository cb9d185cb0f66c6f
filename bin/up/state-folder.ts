/** What `pergola up` keeps between starts, in one folder: the admin secret, and Postgres's files. One `up` at a time may use it.
 *  A start after a crash finds what the crash left running by the files with their pids, and ends it. A pid file counts only if the process is the
 *  one that wrote it: pids are given again after a restart of the machine or container.
 *  Not here: Postgres itself (../embedded-postgres.ts). */
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isFree } from '../free-port.ts';
import { isReachable, isRoot } from '../unprivileged.ts';
import { processInfo } from './processes.ts';

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

const END_TIMEOUT_MS = 30_000;

/** Writes the pid of a process, and in a second line the time of its start. */
function noteProcess(file: string, pid: number): void {
  writeFileSync(file, `${pid}\n${processInfo(pid)?.startedAt ?? ''}\n`);
}

/** Returns the pid in a file of `noteProcess`; undefined when that process has ended. A file without a time of start, which earlier
 *  versions wrote, counts if the command line contains `command`. */
function notedProcess(file: string, command: string): number | undefined {
  const [pid, startedAt] = linesOf(file);
  const info = infoOf(pid);
  if (info === undefined) return undefined;
  const isSame = startedAt ? info.startedAt === startedAt : info.command.includes(command);
  return isSame ? Number(pid) : undefined;
}

/** Returns the pid of the Postgres that runs in a data folder. The second line of its own file is the folder, which is also an argument
 *  of its command line. */
function notedPostgres(data: string): number | undefined {
  const [pid, folder] = linesOf(join(data, 'postmaster.pid'));
  const command = infoOf(pid)?.command ?? '';
  return folder && command.includes('postgres') && command.includes(folder) ? Number(pid) : undefined;
}

/** Ends a process and waits until it has ended. Returns its name for a message; undefined when there is none. */
async function endLeftover(
  name: string,
  pid: number | undefined,
  signal: NodeJS.Signals,
): Promise<string | undefined> {
  const info = pid === undefined ? undefined : processInfo(pid);
  if (pid === undefined || info === undefined) return undefined;
  const isRunning = () => processInfo(pid)?.startedAt === info.startedAt;
  const deadline = Date.now() + END_TIMEOUT_MS;
  send(name, pid, signal);
  while (isRunning() && Date.now() < deadline) await sleep(50);
  if (isRunning()) {
    throw new Error(`the ${name} of an earlier start (pid ${pid}) does not end; end it with: kill -9 ${pid}`);
  }
  return `${name} (pid ${pid})`;
}

function send(name: string, pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return;
    throw new Error(`the ${name} of an earlier start (pid ${pid}) belongs to another user: end it first`);
  }
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
}

function infoOf(pid: string | undefined) {
  return pid !== undefined && /^[1-9]\d*$/.test(pid) ? processInfo(Number(pid)) : undefined;
}

/** What `pergola up` keeps between starts, in one folder: the admin secret, and Postgres's files. One `up` at a time may use it.
 *  A start after a crash finds what the crash left running, and ends it.
 *  Not here: Postgres itself (../embedded-postgres.ts). */
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type StateFolder = {
  readonly path: string;
  /** The folder for Postgres; outside `path` if an unprivileged user cannot reach `path`. */
  readonly postgres: string;
  /** So that a start after a crash finds it. */
  readonly noteEngine: (pid: number) => void;
  readonly release: () => void;
};

/** Throws when another `up` uses the folder. */
export async function openStateFolder(given: string): Promise<StateFolder> {
  const path = resolve(given);
  mkdirSync(path, { recursive: true });
  const lock = join(path, 'up.pid');
  const holder = pidIn(lock);
  if (holder !== undefined && holder !== process.pid && isUp(holder)) {
    throw new Error(
      `another pergola up (pid ${holder}) keeps its data in ${path}; end it, or give --data DIR`,
    );
  }
  writeFileSync(lock, `${process.pid}\n`);
  const postgres = reachableByPostgres(path);
  const engine = join(path, 'engine.pid');
  // The engine first: it would only complain about its database.
  await endOrphan(engine, 'pergola', 'SIGKILL');
  await endOrphan(join(postgres, 'data', 'postmaster.pid'), 'postgres', 'SIGINT');
  return {
    path,
    postgres,
    noteEngine: (pid) => writeFileSync(engine, `${pid}\n`),
    release: () => {
      for (const file of [engine, lock]) rmSync(file, { force: true });
    },
  };
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

function pidIn(file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** True when the process with that pid is ours. After a restart of the machine or container the pid may belong to another process. */
function isUp(pid: number): boolean {
  return isAlive(pid) && commandOf(pid)?.includes('pergola') !== false;
}

/** Undefined: the system does not tell. */
function commandOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Ends the Postgres of a crashed `up`: its pid file is in our folder, so the process is ours if it still has that pid. */
async function endOrphan(file: string, command: string, signal: NodeJS.Signals): Promise<void> {
  const pid = pidIn(file);
  if (pid === undefined || pid === process.pid) return;
  const isOurs = () => isAlive(pid) && commandOf(pid)?.includes(command) === true;
  if (!isOurs()) return;
  process.kill(pid, signal);
  for (let i = 0; i < 100 && isOurs(); i++) await sleep(100);
}

/** Under root Postgres runs as nobody, who may not pass through every folder (a home, for one). */
function reachableByPostgres(path: string): string {
  const inside = join(path, 'postgres');
  if (process.getuid?.() !== 0 || foldersAbove(inside).every(isPassable)) return inside;
  const id = createHash('sha256').update(path).digest('hex').slice(0, 12);
  return `/var/tmp/pergola-${id}`;
}

function foldersAbove(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...foldersAbove(above)];
}

function isPassable(folder: string): boolean {
  return !existsSync(folder) || (statSync(folder).mode & 0o001) !== 0;
}

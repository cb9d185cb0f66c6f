/** What `pergola up` keeps between starts, in one folder: the admin secret, and Postgres's files. One `up` at a time may use it.
 *  A start after a crash finds what the crash left running, and ends it.
 *  Not here: Postgres itself (../embedded-postgres.ts). */
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type StateFolder = {
  readonly path: string;
  /** Where Postgres may live: elsewhere when an unprivileged user cannot get to `path`. */
  readonly postgres: string;
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
  await endOrphan(join(postgres, 'data'));
  return { path, postgres, release: () => rmSync(lock, { force: true }) };
}

/** Made once, readable by this user alone. */
export function adminSecretIn({ path }: StateFolder): string {
  const file = join(path, 'admin-secret');
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

/** After a restart of the machine or container the number may be anybody's: where the system tells, it must be ours. */
function isUp(pid: number): boolean {
  if (!isAlive(pid)) return false;
  const file = `/proc/${pid}/cmdline`;
  return !existsSync(file) || readFileSync(file, 'utf8').includes('pergola');
}

/** A Postgres that outlived its `up`: nobody else starts one on these files. */
async function endOrphan(data: string): Promise<void> {
  const pid = pidIn(join(data, 'postmaster.pid'));
  if (pid === undefined || !isAlive(pid) || !isPostgres(pid)) return;
  process.kill(pid, 'SIGINT');
  for (let i = 0; i < 100 && isAlive(pid); i++) await sleep(100);
}

function isPostgres(pid: number): boolean {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) && readFileSync(file, 'utf8').includes('postgres');
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

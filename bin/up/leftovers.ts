/** The processes that a `pergola up` of before left running: found by the files with their pids, and ended.
 *  A pid file counts only if the process is the one that wrote it: pids are given again after a restart of the machine or container.
 *  Not here: which files there are (state-folder.ts). */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processInfo } from './processes.ts';

const END_TIMEOUT_MS = 30_000;

/** Writes the pid of a process, and in a second line the time of its start. */
export function noteProcess(file: string, pid: number): void {
  writeFileSync(file, `${pid}\n${processInfo(pid)?.startedAt ?? ''}\n`);
}

/** Returns the pid in a file of `noteProcess`; undefined when that process has ended. A file without a time of start, which earlier
 *  versions wrote, counts if the command line contains `command`. */
export function notedProcess(file: string, command: string): number | undefined {
  const [pid, startedAt] = linesOf(file);
  const info = infoOf(pid);
  if (info === undefined) return undefined;
  const isSame = startedAt ? info.startedAt === startedAt : info.command.includes(command);
  return isSame ? Number(pid) : undefined;
}

/** Returns the pid of the Postgres that runs in a data folder. The second line of its own file is the folder, which is also an argument
 *  of its command line. */
export function notedPostgres(data: string): number | undefined {
  const [pid, folder] = linesOf(join(data, 'postmaster.pid'));
  const command = infoOf(pid)?.command ?? '';
  return folder && command.includes('postgres') && command.includes(folder) ? Number(pid) : undefined;
}

/** Ends a process and waits until it has ended. Returns its name for a message; undefined when there is none. */
export async function endLeftover(
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

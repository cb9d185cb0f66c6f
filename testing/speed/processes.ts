/** Processes on Linux: CPU time and system calls that write (proc(5)), and the core that they run on. In: process ids. Not here: what they are divided by. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const NANOSECONDS = 1000;
const MICROSECONDS_PER_TICK = 10_000;

/** Returns the CPU time of all threads of a process, in microseconds. */
export function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + cpuOfThread(`/proc/${pid}/task/${thread}`), 0);
}

/** Returns the CPU time of a process and of its children, in microseconds. Children that have ended count in hundredths of a second. */
export function cpuOfTree(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const living = children.reduce((sum, child) => sum + cpuOfThread(`/proc/${child}`), 0);
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  const ended = (Number(fields[13]) + Number(fields[14])) * MICROSECONDS_PER_TICK;
  return cpuOfThread(`/proc/${pid}`) + living + ended;
}

/** Binds a process, its threads and the children that it starts later to the last processor core. Both servers and Postgres share it, so that
 *  no request depends on which cores the kernel chooses and how they wake each other. Without taskset(1) nothing happens. */
export function bindToCore(pid: number): void {
  spawnSync('taskset', [
    '--all-tasks',
    '--cpu-list',
    '--pid',
    String(availableParallelism() - 1),
    String(pid),
  ]);
}

/** Returns the number of system calls by which the main thread of a process has written to files and sockets. */
export function writesOf(pid: number): number {
  const counters = readFileSync(`/proc/${pid}/task/${pid}/io`, 'utf8');
  return Number(/^syscw: (\d+)$/m.exec(counters)![1]);
}

function cpuOfThread(folder: string): number {
  try {
    return Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / NANOSECONDS;
  } catch {
    // The thread has ended since the folder was read.
    return 0;
  }
}

/** Processes as the operating system describes them: the parent, the command line, and the time of the start, which together with the
 *  pid identifies a process (pids are reused). Read from /proc, elsewhere from `ps`. Also notices
 *  that the command which started this process has ended without stopping it: `npx`, `npm run`, `make`, or the launcher that looks for a newer
 *  Node (../pergola.mjs), killed or crashed. A process whose shell ends is not orphaned in this sense: the terminal sends SIGHUP to it, and
 *  `setsid` and `disown` are meant to keep it running.
 *  Not here: starting and ending processes. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

export type ProcessInfo = {
  readonly parent: number;
  readonly command: string;
  /** A text that is different for each process with the same pid. */
  readonly startedAt: string;
  /** True when the process receives what is typed on its terminal. One in the background would be stopped for reading it. */
  readonly isForeground: boolean;
};

/** Returns undefined when there is no such process, or when it has ended and its parent has not noticed. */
export function processInfo(pid: number): ProcessInfo | undefined {
  return existsSync('/proc/self/stat') ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid: number): ProcessInfo | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, a name in parentheses, may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    const isForeground = fields[2] === fields[5];
    return { parent: Number(fields[1]), command, startedAt: fields[19]!, isForeground };
  } catch {
    return undefined;
  }
}

/** `lstart` is a date of five words: `Mon Nov 23 16:18:25 2026`. */
const PS_LINE = /^\s*(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/s;

export function fromPs(pid: number): ProcessInfo | undefined {
  const { stdout } = spawnSync('ps', ['-ww', '-o', 'ppid=,stat=,lstart=,command=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  const [, parent, state, startedAt, command] = PS_LINE.exec(stdout ?? '') ?? [];
  if (parent === undefined || state!.startsWith('Z')) return undefined;
  const isForeground = state!.includes('+');
  return { parent: Number(parent), command: command!.trim(), startedAt: startedAt!, isForeground };
}

const CHECK_MS = 500;
/** The command line of a program that starts `pergola` and waits for it. npm changes its own command line to `npm exec pergola up`. */
const LAUNCHER = /^(\S*node\S*\s+)?(\S*\/)?(npm|npx|pnpm|yarn|make|pergola)(-cli)?(\.[cm]?js)?(\s|$)/;
/** The shell with which npm starts a script. It may stay between npm and this process. */
const SHELL = /^(\S*\/)?(ba|da|z|k)?sh -c /;

type Launcher = { readonly pid: number; readonly startedAt: string };

/** Calls `onGone` once, when one of the launchers has ended. Returns a function that ends the watch. */
export function watchLaunchers(onGone: () => void): () => void {
  const launchers = launchersOf(process.ppid);
  if (launchers.length === 0) return () => {};
  const timer = setInterval(() => {
    if (launchers.every(({ pid, startedAt }) => processInfo(pid)?.startedAt === startedAt)) return;
    clearInterval(timer);
    onGone();
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Returns the launchers from a process upwards, with the shells between them. */
export function launchersOf(first: number): readonly Launcher[] {
  const above: Launcher[] = [];
  let count = 0;
  for (let pid = first; pid > 1; ) {
    const info = processInfo(pid);
    if (info === undefined) break;
    const isLauncher = LAUNCHER.test(info.command);
    if (!isLauncher && !SHELL.test(info.command)) break;
    above.push({ pid, startedAt: info.startedAt });
    if (isLauncher) count = above.length;
    pid = info.parent;
  }
  return above.slice(0, count);
}

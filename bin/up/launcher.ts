/** Notices that the command which started this process has ended without stopping it: `npx`, `npm run`, `make`, or the launcher that
 *  looks for a newer Node (../pergola.mjs), killed or crashed. A process whose shell ends is not orphaned in this sense: the terminal
 *  sends SIGHUP to it, and `setsid` and `disown` are meant to keep it running.
 *  In: the processes above this one. Not here: what is stopped then (../up.ts). */
import { processInfo } from './processes.ts';

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

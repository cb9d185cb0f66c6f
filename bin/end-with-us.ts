/** Ends a child process when this process ends, also by SIGKILL. A shell holds the other end of a pipe to this process; when the pipe
 *  closes, the shell sends the child a signal. The shell is in its own session, so a signal to a terminal's processes does not reach it.
 *  Without a POSIX shell (Windows) nothing happens: the next start finds the child (up/state-folder.ts).
 *  Not here: an orderly stop, which whoever starts the child does. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Waits until standard input ends. `exec` of nothing else: the shell is one process of about a megabyte. */
const SCRIPT = 'while read -r line; do :; done; kill -"$1" "$2" 2>/dev/null';

/** Sends `signal` to the child as soon as this process has ended. */
export function endWithUs(child: ChildProcess, signal: 'INT' | 'KILL'): void {
  if (child.pid === undefined) return;
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'pergola', signal, String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  });
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  // Neither keeps this process running.
  shell.unref();
  (shell.stdin as unknown as Socket).unref();
  // The child's pid may be given to another process once the child has ended.
  child.once('exit', () => shell.kill('SIGKILL'));
}

/** Starts `pergola` as a process of its own, for tests of how it starts, reports errors and stops. In: arguments and environment.
 *  Out: its output, its URL once it serves, and its exit code; `killAll` for the end of a test file.
 *  Not here: engines in this process (engine.ts), engines whose memory is measured (engine-apart.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

export type Program = {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  /** Resolves to the exit code, or null when a signal ended the process. */
  readonly ended: Promise<number | null>;
  /** Resolves to the engine's URL; fails when the process ends first. */
  readonly serves: () => Promise<string>;
};

const running: ChildProcess[] = [];

export function pergola(args: readonly string[], env: Record<string, string> = {}): Program {
  const child = spawn(process.execPath, ['bin/pergola.mjs', ...args], {
    env: { PATH: process.env['PATH'], ...env },
  });
  running.push(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const serves = async () => {
    for (;;) {
      const url = /serves GraphQL at (http:\/\/localhost:\d+)/.exec(output.stderr)?.[1];
      if (url) return url.replace('localhost', '127.0.0.1');
      if (child.exitCode !== null) throw new Error(`it ended: ${output.stderr}`);
      await sleep(20);
    }
  };
  return { child, output, ended, serves };
}

export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

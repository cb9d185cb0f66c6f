/** Starts an operator as a process of its own under the control of preload.mjs. In: its flags. Out: functions that cause faults in it, and
 *  how many it had. Not here: operators in pods (deploy/e2e/). */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type ChaosTold = {
  readonly starts: number;
  readonly kills: number;
  /** The number of writes that the engine rejected because of a newer version. */
  readonly conflicts: number;
  readonly steps: readonly string[];
};

export type Supervised = {
  /** Requests a path of preload.mjs. */
  readonly ask: (path: string) => Promise<ChaosTold>;
  /** The lines of the log. */
  readonly lines: readonly string[];
  readonly stop: () => Promise<void>;
};

const ROOT = join(import.meta.dirname, '../..');

export async function startSupervised(flags: readonly string[], kubeconfig: string): Promise<Supervised> {
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'preload.mjs')}`,
  };
  const child = spawn(process.execPath, [join(ROOT, 'bin/pergola.mjs'), 'operator', ...flags], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the operator did not start')));
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line);
      const found = /^\{"chaos":(\d+)\}$/.exec(line)?.[1];
      if (found) resolve(Number(found));
    });
  });
  return {
    ask: async (path) => (await fetch(`http://127.0.0.1:${port}${path}`)).json() as Promise<ChaosTold>,
    lines,
    stop: async () => {
      process.off('exit', end);
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
    },
  };
}

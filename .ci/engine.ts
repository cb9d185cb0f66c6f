/** An engine for the checks of continuous integration: `pergola serve` on a free port, ready when this answers.
 *  In: its environment. Out: its URL, `stop`, and `kill` without a farewell. An engine that ends before it is healthy is an error at once. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../bin/embedded-postgres.ts';

export type Engine = {
  readonly url: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
  /** SIGKILL. */
  readonly kill: () => Promise<void>;
};

export async function startEngine(
  environment: Readonly<Record<string, string | undefined>>,
  stderr: 'inherit' | 'ignore' = 'inherit',
): Promise<Engine> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const flags = ['serve', '--server-port', String(port), '--server-host', '127.0.0.1'];
  const engine = spawn(process.execPath, ['bin/pergola.mjs', ...flags], {
    env: environment,
    stdio: ['ignore', 'ignore', stderr],
  });
  const exited = new Promise<void>((resolve) => engine.once('exit', () => resolve()));
  const end = (signal: NodeJS.Signals) => async () => {
    engine.kill(signal);
    await exited;
  };
  const stop = end('SIGTERM');
  for (let i = 0; i < 1500; i++) {
    if (engine.exitCode !== null) throw new Error('the engine did not start');
    if ((await fetch(`${url}/healthz`).catch(() => null))?.ok) {
      return { url, pid: engine.pid!, stop, kill: end('SIGKILL') };
    }
    await sleep(20);
  }
  await stop();
  throw new Error('the engine was not healthy after 30 s');
}

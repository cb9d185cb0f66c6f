/** Starts `pergola serve` as a process of its own on a free port, for continuous integration, benchmarks, and tests that kill engines.
 *  In: its environment. Out: its URL, once it is healthy, and two ways to end it. Not here: an engine in the process of a test (engine.ts),
 *  one whose memory is measured (engine-apart.ts) or limited (attack/limited-engine.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../bin/embedded-postgres.ts';

export type Engine = {
  readonly url: string;
  readonly pid: number;
  /** Ends the engine by SIGTERM. */
  readonly stop: () => Promise<void>;
  /** Ends the engine by SIGKILL. */
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
  await untilHealthy(engine, url);
  return { url, pid: engine.pid!, stop: end('SIGTERM'), kill: end('SIGKILL') };
}

/** Resolves when the engine answers its health check. Fails when its process ends, and after a minute, with the process killed. */
export async function untilHealthy(engine: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    if (engine.exitCode !== null) throw new Error('the engine did not start');
    if ((await fetch(`${url}/healthz`).catch(() => null))?.ok) return;
    await sleep(20);
  }
  engine.kill('SIGKILL');
  throw new Error('the engine was not healthy after a minute');
}

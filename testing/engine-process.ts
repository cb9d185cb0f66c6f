/** Starts `pergola serve` as a process of its own on a free port, for continuous integration, benchmarks, and tests that kill engines.
 *  In: its environment. Out: its URL, once it is healthy, and two ways to end it. Not here: an engine in the process of a test (engine.ts),
 *  one whose memory is measured (engine-apart.ts) or limited (attack/limited-engine.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** What is kept of the messages of an engine, for the error when it does not start. */
const MOST_CHARACTERS = 4000;

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
  const engine = spawn(process.execPath, ['bin/pergola.mjs', 'serve', ...ANY_PORT], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => engine.once('exit', () => resolve()));
  const end = (signal: NodeJS.Signals) => async () => {
    engine.kill(signal);
    await exited;
  };
  const url = await healthyUrl(engine, stderr);
  return { url, pid: engine.pid!, stop: end('SIGTERM'), kill: end('SIGKILL') };
}

/** Flags with which the operating system chooses the port of the engine. A port that the caller chooses beforehand may be taken when the
 *  engine starts, by another engine or by a connection. */
export const ANY_PORT: readonly string[] = ['--server-port', '0', '--server-host', '127.0.0.1'];

/** Returns the URL that an engine writes to its piped stderr, once the engine answers its health check. Fails with what the engine wrote
 *  when its process ends, and after a minute, with the process killed. `stderr` says whether its messages are also shown. */
export async function healthyUrl(engine: ChildProcess, stderr: 'inherit' | 'ignore'): Promise<string> {
  let written = '';
  engine.stderr!.setEncoding('utf8').on('data', (text: string) => {
    written = (written + text).slice(-MOST_CHARACTERS);
    if (stderr === 'inherit') process.stderr.write(text);
  });
  let url: string | undefined;
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    if (engine.exitCode !== null || engine.signalCode !== null) {
      throw new Error(
        `the engine did not start (exit code ${engine.exitCode}, ${engine.signalCode}): ${written}`,
      );
    }
    url ??= /serves GraphQL at (http:\/\/[^/]+)\//.exec(written)?.[1];
    if (url !== undefined && (await fetch(`${url}/healthz`).catch(() => null))?.ok) return url;
    await sleep(20);
  }
  engine.kill('SIGKILL');
  throw new Error(`the engine was not healthy after a minute: ${written}`);
}

/** The engine as a process of its own: `pergola serve` with everything it needs in its environment, so that no secret stands in
 *  the list of processes. Out: when it answers, or the signal is aborted before, and when it ends. It ends when this process ends.
 *  Not here: the engine's options (engine/config). */
import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../end-with-us.ts';
import { freePort, isFree } from '../free-port.ts';

export type EngineProcess = {
  readonly url: string;
  /** Resolves to its exit code. */
  readonly exited: Promise<number | null>;
  /** Returns the end of what it has written to its standard error. */
  readonly said: () => string;
  readonly stop: () => Promise<void>;
};

const COMMAND = join(dirname(dirname(fileURLToPath(import.meta.url))), 'pergola.mjs');
const LOOPBACK = '127.0.0.1';
const START_TIMEOUT_MS = 60_000;

export async function startEngineProcess(options: {
  readonly port: number;
  /** The address to listen on; by default that of this machine only. */
  readonly host?: string;
  readonly hasConsole?: boolean;
  readonly databaseUrl: string;
  readonly metadataUrl: string;
  readonly adminSecret: string;
  /** Undefined when the environment has it. */
  readonly valuesKey: string | undefined;
  readonly headerPrefix: string;
  /** Variables of further options. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly onStart: (pid: number) => void;
  /** Receives the lines of the log. */
  readonly onLine?: (line: string) => void;
  /** Ends the wait for the first answer. */
  readonly signal?: AbortSignal;
}): Promise<EngineProcess> {
  const host = options.host ?? LOOPBACK;
  const child = spawn(process.execPath, [COMMAND, 'serve'], {
    stdio: ['ignore', options.onLine ? 'pipe' : 'ignore', 'pipe'],
    // Its own process group: Ctrl-C reaches us, and we stop it in order.
    detached: true,
    env: {
      // Nobody waits a minute at a terminal for a request that a stopped database leaves open.
      ENGINE_GRACEFUL_SHUTDOWN_TIMEOUT: '5',
      ...process.env,
      ...options.environment,
      ENGINE_GRAPHQL_DATABASE_URL: options.databaseUrl,
      ENGINE_GRAPHQL_METADATA_DATABASE_URL: options.metadataUrl,
      ENGINE_GRAPHQL_ADMIN_SECRET: options.adminSecret,
      ...(options.valuesKey !== undefined && { ENGINE_GRAPHQL_VALUES_KEY: options.valuesKey }),
      ENGINE_GRAPHQL_HEADER_PREFIX: options.headerPrefix,
      ENGINE_GRAPHQL_SERVER_PORT: String(options.port),
      ENGINE_GRAPHQL_SERVER_HOST: host,
      ENGINE_GRAPHQL_ENABLE_CONSOLE: String(options.hasConsole ?? true),
    },
  });
  if (child.pid !== undefined) options.onStart(child.pid);
  if (child.stdout && options.onLine) createInterface(child.stdout).on('line', options.onLine);
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000);
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  // Its transactions end with its connections, so nothing is lost.
  endWithUs(child, 'KILL');
  const url = `http://${reachable(host)}:${options.port}`;
  await untilHealthy({ url, child, said: () => said, signal: options.signal });
  return {
    url,
    exited,
    said: () => said,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Returns a host for URLs. An address that means every interface is none that a client can use. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return LOOPBACK;
  return host.includes(':') ? `[${host}]` : host;
}

async function untilHealthy({
  url,
  child,
  said,
  signal,
}: {
  readonly url: string;
  readonly child: ChildProcess;
  readonly said: () => string;
  readonly signal: AbortSignal | undefined;
}): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline && !signal?.aborted) {
    if (child.exitCode !== null) throw new Error(`the engine ended before it answered:\n${said()}`);
    const response = await fetch(`${url}/healthz`).catch(() => undefined);
    if (response?.ok) return;
    await sleep(50);
  }
  if (signal?.aborted) return;
  child.kill('SIGKILL');
  throw new Error(`the engine did not answer within ${START_TIMEOUT_MS / 1000} s:\n${said()}`);
}

/** The port asked for, if it is free; the usual one, or else the next that is. */
export async function choosePort(wanted: number | undefined): Promise<number> {
  if (wanted === 0) return freePort();
  if (wanted !== undefined) {
    if (await isFree(wanted)) return wanted;
    throw new Error(`port ${wanted} is in use; give another one with --port, or none`);
  }
  for (let port = USUAL_PORT; port < USUAL_PORT + 100; port++) if (await isFree(port)) return port;
  return freePort();
}

export const USUAL_PORT = 8080;

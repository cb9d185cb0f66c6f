/** Starts what is measured: Postgres with the rows of world.ts, the engine as users start it, the server that is written by hand, the
 *  webhook of both and the client, each a process of its own. In: a folder, flags of Node for both servers. Out: addresses and process
 *  ids, and a way to stop all. Not here: what is sent to them. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../bin/embedded-postgres.ts';
import { endWithUs } from '../../bin/end-with-us.ts';
import { ANY_PORT, healthyUrl } from '../engine-process.ts';
import type { Load, Round } from './load.ts';
import { bindToCore } from './processes.ts';
import { ADMIN_SECRET, applyMetadata, createDatabase, REFETCH_MS } from './world.ts';

export type Target = {
  readonly name: 'engine' | 'by hand';
  readonly port: number;
  readonly pid: number;
  /** The table whose new rows the target delivers to the webhook. */
  readonly shipments: string;
  /** The address of the inspector; empty unless Node's flags ask for one. */
  readonly inspector: () => string;
};
export type Servers = {
  readonly engine: Target;
  readonly byHand: Target;
  readonly postgresPid: number;
  /** A superuser's connection, which belongs to neither. */
  readonly database: pg.Client;
  readonly load: (round: Round) => Promise<Load>;
  /** Returns the number of events that the webhook has received. */
  readonly events: () => Promise<number>;
  readonly stop: () => Promise<void>;
};

const ROOM = import.meta.dirname;

/** `settings` are those that Postgres reads only when it starts. */
export async function startServers(options: {
  readonly folder: string;
  readonly nodeFlags: readonly string[];
  readonly settings?: readonly string[];
}): Promise<Servers> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    const postgres = await startPostgres(options, stops);
    const database = new pg.Client({ connectionString: postgres.url });
    await database.connect();
    stops.push(() => database.end());
    const started = async (
      file: string,
      env: Record<string, string> = {},
      execArgv: readonly string[] = [],
    ) => {
      const child = fork(join(ROOM, file), {
        env: { ...process.env, ...env },
        execArgv: [...execArgv],
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      });
      stops.push(() => ended(child, 'SIGKILL'));
      const inspector = inspectorOf(child);
      const [port] = (await once(child, 'message')) as [number];
      return { child, port, inspector };
    };
    const webhook = await started('webhook.ts');
    const engine = await startEngine(postgres.url, options.nodeFlags, stops);
    await applyMetadata(`http://127.0.0.1:${engine.port}`, `http://127.0.0.1:${webhook.port}`);
    const env = { DATABASE_URL: postgres.url, PORT_OF_WEBHOOK: String(webhook.port) };
    const byHand = await started('by-hand/server.ts', env, options.nodeFlags);
    bindToCore(byHand.child.pid!);
    const client = await started('load.ts');
    const { port, inspector } = byHand;
    const pid = byHand.child.pid!;
    return {
      engine: { name: 'engine', shipments: 'shipment', ...engine },
      byHand: { name: 'by hand', shipments: 'shipment_by_hand', port, pid, inspector },
      postgresPid: postgres.pid,
      database,
      load: (round) => request<Load>(client.child, round),
      events: () => request<number>(webhook.child, 'events'),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startPostgres(
  { folder, settings = [] }: { readonly folder: string; readonly settings?: readonly string[] },
  stops: (() => Promise<unknown>)[],
): Promise<{ readonly url: string; readonly pid: number }> {
  const first = await startEmbeddedPostgres({ folder, isDurable: false });
  await createDatabase(first.url).catch(async (error) => {
    await first.stop();
    throw error;
  });
  if (settings.length > 0) {
    const client = new pg.Client({ connectionString: first.url });
    await client.connect();
    for (const setting of settings) await client.query(`alter system set ${setting}`);
    await client.end();
  }
  // All of the settings apply after a restart, which also writes what the creation of the rows has left to write.
  await first.stop();
  const { url, stop } = await startEmbeddedPostgres({ folder, isDurable: false });
  stops.push(stop);
  const pid = Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n', 1)[0]);
  bindToCore(pid);
  return { url, pid };
}

async function startEngine(
  databaseUrl: string,
  nodeFlags: readonly string[],
  stops: (() => Promise<unknown>)[],
): Promise<Pick<Target, 'port' | 'pid' | 'inspector'>> {
  const child = spawn(process.execPath, [...nodeFlags, 'bin/pergola.mjs', 'serve', ...ANY_PORT], {
    env: {
      ...process.env,
      ENGINE_GRAPHQL_DATABASE_URL: databaseUrl,
      ENGINE_GRAPHQL_ADMIN_SECRET: ADMIN_SECRET,
      ENGINE_GRAPHQL_ENABLED_LOG_TYPES: 'startup',
      ENGINE_GRAPHQL_LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: String(REFETCH_MS),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  endWithUs(child, 'KILL');
  stops.push(() => ended(child, 'SIGTERM'));
  const inspector = inspectorOf(child);
  bindToCore(child.pid!);
  const url = await healthyUrl(child, 'ignore');
  return { port: Number(new URL(url).port), pid: child.pid!, inspector };
}

/** Returns the address of the inspector that Node wrote last: `serve` may replace its process at the start, with another inspector. */
function inspectorOf(child: ChildProcess): () => string {
  let written = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    written += written.length < 10_000 ? text : '';
  });
  return () => [...written.matchAll(/Debugger listening on (ws:\S+)/g)].at(-1)?.[1] ?? '';
}

async function request<Answer>(child: ChildProcess, message: Round | string): Promise<Answer> {
  const answer = new Promise<Answer>((resolve, reject) => {
    const failed = () => reject(new Error(`a process of the measurement has ended: ${child.spawnargs[1]}`));
    child.once('exit', failed);
    child.once('message', (value) => {
      child.off('exit', failed);
      resolve(value as Answer);
    });
  });
  child.send(message);
  return answer;
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

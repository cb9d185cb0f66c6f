/** An engine in a process of its own (`pergola serve`, as it is installed), for tests and benches of what it needs: CPU and memory
 *  are its alone. Not here: engines whose needs do not matter (engine.ts). */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

export type Usage = {
  /** Of CPU, since it began. */
  readonly microseconds: number;
  /** Resident, now and at most so far. */
  readonly bytes: number;
  readonly mostBytes: number;
};

export type EngineApart = {
  readonly url: string;
  readonly adminSecret: string;
  readonly usage: () => Promise<Usage>;
  readonly close: () => void;
};

const SECRET = 'of an engine apart';

/** Tells its parent, when asked, what it has used. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    const mostBytes = process.resourceUsage().maxRSS * 1024;
    process.send({ microseconds: user + system, bytes: process.memoryUsage.rss(), mostBytes });
  });
  process.channel.unref();`)}`;

export async function startEngineApart(databaseUrl: string): Promise<EngineApart> {
  const port = await freePort();
  const flags = ['--database-url', databaseUrl, '--server-port', String(port), '--admin-secret', SECRET];
  const engine = fork('bin/pergola.mjs', ['serve', ...flags], {
    execArgv: ['--import', PROBE],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const url = `http://127.0.0.1:${port}`;
  const isThere = () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (engine.exitCode === null && !(await isThere())) await new Promise((next) => setTimeout(next, 50));
  return {
    url,
    adminSecret: SECRET,
    usage: async () => {
      engine.send('usage');
      const [usage] = (await once(engine, 'message')) as [Usage];
      return usage;
    },
    close: () => void engine.kill(),
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === 'object' && address ? address.port : 0;
}

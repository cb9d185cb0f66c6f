/** Starts `pergola serve` as a process of its own that reports how much CPU and memory it uses, for tests and benchmarks. In: a database.
 *  Out: its URL and its usage. Not here: an engine in the process of a test (engine.ts), one that is not measured (engine-process.ts). */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { ANY_PORT, healthyUrl } from './engine-process.ts';

export type Usage = {
  /** The processor time since the start of the process. */
  readonly microseconds: number;
  /** The resident memory now. */
  readonly bytes: number;
  /** The most memory that has been resident so far. */
  readonly mostBytes: number;
};

export type EngineApart = {
  readonly url: string;
  readonly adminSecret: string;
  readonly usage: () => Promise<Usage>;
  /** Returns the longest turn of the event loop since the previous call, in milliseconds of processor time of its thread. Turns are measured from
   *  the first call on. */
  readonly longestTurnMs: () => Promise<number>;
  readonly close: () => void;
};

const SECRET = 'of an engine apart';

/** Sends the parent process the usage, or the longest turn, when it asks for it. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  const ofThread = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let turnMs = 0;
  let before = 0;
  let measuring;
  const measure = () => {
    const now = ofThread();
    turnMs = Math.max(turnMs, now - before);
    before = now;
  };
  process.on('message', (what) => {
    if (what === 'turn') {
      measuring ??= setInterval(measure, 1).unref();
      process.send(turnMs);
      before = ofThread();
      turnMs = 0;
      return;
    }
    const { user, system } = process.cpuUsage();
    const mostBytes = process.resourceUsage().maxRSS * 1024;
    process.send({ microseconds: user + system, bytes: process.memoryUsage.rss(), mostBytes });
  });
  process.channel.unref();`)}`;

/** `flags` are more options of the engine; `checkout` is the folder of its code, if it is not this one. */
export async function startEngineApart(
  databaseUrl: string,
  { flags = [], checkout = '.' }: { readonly flags?: readonly string[]; readonly checkout?: string } = {},
): Promise<EngineApart> {
  const own = ['--database-url', databaseUrl, ...ANY_PORT, '--admin-secret', SECRET];
  const engine = fork('bin/pergola.mjs', ['serve', ...own, ...flags], {
    cwd: checkout,
    execArgv: ['--import', PROBE],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const url = await healthyUrl(engine, 'ignore');
  const asked = async <T>(what: 'usage' | 'turn') => {
    engine.send(what);
    const [answer] = (await once(engine, 'message')) as [T];
    return answer;
  };
  return {
    url,
    adminSecret: SECRET,
    usage: () => asked<Usage>('usage'),
    longestTurnMs: () => asked<number>('turn'),
    close: () => void engine.kill(),
  };
}

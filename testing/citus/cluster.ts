/** The Citus cluster of ../shared/citus, and the failures of its workers. In: the program that runs it. Out: its URL, and methods that add, kill,
 *  freeze and start workers by their number. Not here: what is sent meanwhile (failures.ts). */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf } from './processor-time.ts';

/** A folder and a port that no other cluster of the machine uses. */
const DEFAULTS = { CITUS_HOME: '/tmp/pergola-citus', CITUS_PORT: '7461' };

export class Cluster {
  readonly #program: string;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(program: string) {
    this.#program = program;
    this.#environment = { ...DEFAULTS, ...process.env };
  }

  /** Starts an empty cluster. */
  restart(workers: string): void {
    this.clean();
    this.#run('up', workers);
  }

  /** Stops the cluster and deletes its data. */
  clean(): void {
    this.#run('clean');
  }

  get url(): string {
    return this.#run('url').trim();
  }

  /** Adds a worker that has no shards yet. */
  addWorker(): void {
    this.#run('add');
  }

  start(worker: number): void {
    this.#run('start', String(worker));
  }

  /** Ends the processes of a worker as a crash of its machine does. */
  kill(worker: number): void {
    this.#signal(worker, 'SIGKILL');
  }

  /** Stops the processes of a worker, so that its connections stay open and do not answer. */
  freeze(worker: number): void {
    this.#signal(worker, 'SIGSTOP');
  }

  thaw(worker: number): void {
    this.#signal(worker, 'SIGCONT');
  }

  /** Returns the number of the worker that listens on a port. */
  workerOf(port: number): number {
    return port - Number(this.#environment['CITUS_PORT']);
  }

  /** Returns the process of the first server of each machine, that of the coordinator first. */
  postmasters(): readonly number[] {
    const pids: number[] = [];
    for (let node = 0; ; node++) {
      const pid = this.#postmaster(node);
      if (pid === null) return pids;
      pids.push(pid);
    }
  }

  #postmaster(node: number): number | null {
    try {
      const file = join(this.#environment['CITUS_HOME']!, `node-${node}`, 'postmaster.pid');
      return Number(readFileSync(file, 'utf8').split('\n')[0]);
    } catch {
      return null;
    }
  }

  #run(...args: readonly string[]): string {
    return execFileSync(this.#program, args, {
      env: this.#environment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  /** Sends a signal to the postmaster of a worker first, so that it starts no process afterwards, and then to its children. */
  #signal(worker: number, signal: NodeJS.Signals): void {
    const postmaster = this.#postmaster(worker);
    if (postmaster === null) throw new Error(`worker ${worker} has not started`);
    const children = childrenOf(postmaster);
    for (const pid of [postmaster, ...children]) {
      try {
        process.kill(pid, signal);
      } catch {
        // The process has ended meanwhile.
      }
    }
  }
}

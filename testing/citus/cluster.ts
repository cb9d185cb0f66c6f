/** The Citus cluster of ../shared/citus, databases in it, and the failures of its workers. In: the program that runs it. Out: URLs of databases, and
 *  methods that kill, freeze and start workers by their number. Not here: what is sent meanwhile (failures.ts). */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childrenOf } from './processor-time.ts';
import { runSql } from './worlds.ts';

/** A folder and a port that no other cluster of the machine uses. */
const DEFAULTS = { CITUS_HOME: '/tmp/pergola-citus', CITUS_PORT: '7461' };

export class Cluster {
  readonly #program: string;
  readonly #environment: NodeJS.ProcessEnv;
  #databases = 0;
  #created: Promise<void> = Promise.resolve();

  constructor(program: string) {
    this.#program = program;
    this.#environment = { ...DEFAULTS, ...process.env };
  }

  /** Starts an empty cluster. */
  async start(workers: number): Promise<void> {
    await this.clean();
    await this.#run('up', String(workers));
  }

  /** Stops the cluster and deletes its data. */
  async clean(): Promise<void> {
    await this.#run('clean');
  }

  /** Calls a function with the URL of a new database over the first workers, and drops the database. Each database has tables and workers of its own, so
   *  that several are used at the same time. */
  async withDatabase<T>(workers: number, use: (url: string) => Promise<T>): Promise<T> {
    const name = `test_${this.#databases++}`;
    // Citus changes the roles of a worker that is added to a database, and fails when two of them do it at once.
    const created = this.#created.then(() => this.#createOver(workers, name));
    this.#created = created.catch(() => {});
    await created;
    try {
      return await use(this.#urlOf(0, name));
    } finally {
      // The processes of Citus in a database count towards max_worker_processes. Those of the coordinator connect to the workers.
      for (const [machine] of this.postmasters().entries()) {
        const drop = [`drop database if exists ${name} with (force)`];
        // The data of a worker that does not answer is deleted with the cluster.
        await runSql(this.#urlOf(machine, 'postgres'), drop).catch(() => {});
      }
    }
  }

  /** Adds the next worker, which has no shards yet, to a database. */
  async addWorker(url: string): Promise<void> {
    const [row] = await runSql(url, ['select max(nodeport) as port from pg_dist_node']);
    const machine = this.workerOf((row as { readonly port: number }).port) + 1;
    await this.#createDatabase(machine, new URL(url).pathname.slice(1));
    // The replication of a shard that is moved starts once in this time, which is 5 s by default.
    const often = ["alter system set wal_retrieve_retry_interval = '100ms'", 'select pg_reload_conf()'];
    await runSql(this.#urlOf(machine, 'postgres'), often);
    await runSql(url, [`select citus_add_node('127.0.0.1', ${this.#portOf(machine)})`]);
  }

  /** Starts a worker after its processes have ended. */
  async restart(worker: number): Promise<void> {
    await this.#run('start', String(worker));
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
    return port - this.#portOf(0);
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

  #portOf(machine: number): number {
    return Number(this.#environment['CITUS_PORT']) + machine;
  }

  #urlOf(machine: number, database: string): string {
    return `postgres://postgres@127.0.0.1:${this.#portOf(machine)}/${database}`;
  }

  async #createOver(workers: number, name: string): Promise<void> {
    const machines = Array.from({ length: workers + 1 }, (_, machine) => machine);
    await Promise.all(machines.map((machine) => this.#createDatabase(machine, name)));
    const port = this.#portOf(0);
    await runSql(this.#urlOf(0, name), [
      `select citus_set_coordinator_host('127.0.0.1', ${port})`,
      ...machines.slice(1).map((machine) => `select citus_add_node('127.0.0.1', ${port + machine})`),
    ]);
  }

  async #createDatabase(machine: number, name: string): Promise<void> {
    await runSql(this.#urlOf(machine, 'postgres'), [`create database ${name}`]);
    await runSql(this.#urlOf(machine, name), ['create extension citus']);
  }

  async #run(...args: readonly string[]): Promise<void> {
    await promisify(execFile)(this.#program, args, { env: this.#environment });
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

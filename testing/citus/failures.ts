/** Sixteen clients read and write rows of their tenants in a Citus cluster while a worker is killed, does not answer, is slow, and while another
 *  is added and the shards are moved to it.
 *  In: a cluster. Out: the problems of each failure: an answer without a row that was acknowledged before or with a row that nobody has
 *  written, an error of a tenant whose worker is well, an error with another code, a live query that does not go on, and afterwards an
 *  acknowledged row that is not stored. Not here: the processes of the cluster (cluster.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { replaceMetadata, startTestEngine, type TestEngine } from '../engine.ts';
import { openSocket, type TestSocket } from '../websocket.ts';
import type { Cluster } from './cluster.ts';
import { AFTER_DISTRIBUTION, DISTRIBUTION, FUNCTIONS, NATIVE, SCHEMA, TABLES } from './schema.ts';

export type FailureVerdict = {
  readonly failure: string;
  readonly answers: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
};

const TENANTS = 16;
const FAILING = 1;
/** The time limit of a statement, in seconds: longer than the writes of a shard wait while it is moved. */
const TIME_LIMIT = 4;
/** Few shards, so that few are moved to a new worker. */
const SHARDS = 4;
/** The time between a client's requests, so that the processor is not the limit and shards are moved quickly. */
const PAUSE_MS = 20;
/** The time within which all requests are answered after a failure has ended. */
const RECOVERY_MS = 15_000;

/** A failure: what is done while the clients run, and the codes of the errors that the tenants of its worker may get. */
type Failure = {
  readonly name: string;
  readonly run: (cluster: Cluster, milliseconds: number, database: Opened) => Promise<void>;
  readonly codes: readonly string[];
  /** True when the tenants of other workers may get them, too. */
  readonly isForAll?: true;
};

const FAILURES: readonly Failure[] = [
  {
    name: 'a killed worker',
    codes: ['worker-unreachable'],
    run: async (cluster, milliseconds) => {
      cluster.kill(FAILING);
      await sleep(milliseconds);
      await cluster.restart(FAILING);
    },
  },
  {
    name: 'a worker that does not answer',
    codes: ['worker-unreachable', 'time-limit-exceeded'],
    run: async (cluster, milliseconds) => {
      cluster.freeze(FAILING);
      await sleep(TIME_LIMIT * 1000 + milliseconds);
      cluster.thaw(FAILING);
    },
  },
  {
    name: 'a slow worker',
    codes: [],
    run: async (cluster, milliseconds) => {
      for (const end = Date.now() + milliseconds; Date.now() < end; ) {
        cluster.freeze(FAILING);
        await sleep(300);
        cluster.thaw(FAILING);
        await sleep(100);
      }
    },
  },
  {
    // Writes of a shard wait while its last changes are moved.
    name: 'a new worker',
    codes: ['time-limit-exceeded'],
    isForAll: true,
    run: async (cluster, _milliseconds, { url, client }) => {
      await cluster.addWorker(url);
      await client.query("alter system set citus.background_task_queue_interval = '100ms'");
      await client.query('select pg_reload_conf()');
      await client.query('select citus_rebalance_start()');
      await client.query('select citus_rebalance_wait()');
    },
  },
];

/** A database of the cluster, and a connection to it. */
type Opened = { readonly url: string; readonly client: pg.Client };

/** Yields the verdict of each failure, which lasts for the given time, in a database of the cluster. */
export async function* failures(
  cluster: Cluster,
  url: string,
  milliseconds: number,
): AsyncGenerator<FailureVerdict> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  await client.query(`set citus.shard_count = ${SHARDS}`);
  for (const part of [SCHEMA, DISTRIBUTION, AFTER_DISTRIBUTION]) await client.query(part);
  await client.query(`insert into companies select n, 'company ' || n from generate_series(1, ${TENANTS}) n`);
  const engine = await startTestEngine({
    databaseUrl: url,
    defaultTimeLimit: TIME_LIMIT,
    log: { observe: () => {}, flush: () => {} },
  });
  const lanes: Lane[] = [];
  try {
    const { status, body } = await replaceMetadata(engine, {
      tables: TABLES,
      functions: FUNCTIONS,
      ...NATIVE,
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    for (let tenant = 1; tenant <= TENANTS; tenant++) lanes.push(await Lane.open(engine, tenant));
    for (const failure of FAILURES) {
      yield await runFailure(failure, { cluster, milliseconds, database: { url, client }, lanes });
    }
  } finally {
    for (const lane of lanes) lane.close();
    await engine.close();
    await client.end();
  }
}

type Run = {
  readonly cluster: Cluster;
  readonly milliseconds: number;
  readonly database: Opened;
  readonly lanes: readonly Lane[];
};

async function runFailure(
  { name, run, codes, isForAll }: Failure,
  { cluster, milliseconds, database, lanes }: Run,
): Promise<FailureVerdict> {
  const { client } = database;
  const failing = await tenantsOf(client, cluster, FAILING);
  const problems: string[] = [];
  let isOver = false;
  const work = lanes.map(async (lane) => {
    lane.begin(isForAll || failing.has(lane.tenant) ? codes : []);
    for (; !isOver; await sleep(PAUSE_MS)) await lane.step();
  });
  await sleep(500);
  await run(cluster, milliseconds, database).catch((error: Error) => problems.push(error.message));
  const recovered = await Promise.all(lanes.map((lane) => lane.recovers(RECOVERY_MS)));
  isOver = true;
  await Promise.all(work);
  recovered.forEach((has, i) => {
    if (!has) problems.push(`tenant ${lanes[i]!.tenant} has no answer ${RECOVERY_MS / 1000} s later`);
  });
  for (const lane of lanes) problems.push(...lane.problems, ...(await lane.missing(client)));
  const isTested = codes.length === 0 || isForAll || lanes.some((lane) => lane.errors.size > 0);
  if (!isTested) problems.push('no request has failed');
  return {
    failure: name,
    answers: lanes.reduce((sum, lane) => sum + lane.answers, 0),
    errors: sumOf(lanes.map(({ errors }) => errors)),
    problems,
  };
}

/** Returns the tenants whose rows are on a worker. */
async function tenantsOf(client: pg.Client, cluster: Cluster, worker: number): Promise<ReadonlySet<number>> {
  const { rows } = await client.query<{ tenant: number; port: number }>(
    `select n as tenant, nodeport as port from generate_series(1, ${TENANTS}) n
     join citus_shards on shardid = get_shard_id_for_distribution_column('companies', n::bigint)`,
  );
  return new Set(rows.filter(({ port }) => cluster.workerOf(port) === worker).map(({ tenant }) => tenant));
}

function sumOf(all: readonly ReadonlyMap<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [code, count] of all.flatMap((each) => [...each])) sums[code] = (sums[code] ?? 0) + count;
  return sums;
}

/** A client of one tenant: it writes rows, reads them again, and has a live query of their number. */
class Lane {
  readonly tenant: number;
  readonly problems: string[] = [];
  readonly errors = new Map<string, number>();
  answers = 0;
  readonly #engine: TestEngine;
  readonly #socket: TestSocket;
  readonly #requested = new Set<number>();
  readonly #acknowledged = new Set<number>();
  #codes: readonly string[] = [];
  #next = 0;
  /** The number of rows that the live query had last. */
  #live = 0;

  private constructor(engine: TestEngine, tenant: number, socket: TestSocket) {
    this.#engine = engine;
    this.tenant = tenant;
    this.#socket = socket;
    socket.socket.on('message', (data) => this.#hear(JSON.parse(String(data)) as LiveMessage));
  }

  static async open(engine: TestEngine, tenant: number): Promise<Lane> {
    const socket = await openSocket(engine.url, 'graphql-transport-ws', {
      'x-engine-admin-secret': engine.adminSecret,
      'x-engine-role': 'tenant',
      'x-engine-company-id': String(tenant),
    });
    const lane = new Lane(engine, tenant, socket);
    socket.send({ type: 'connection_init' });
    await sleep(100);
    const query = 'subscription { campaigns_aggregate { aggregate { count } } }';
    socket.send({ type: 'subscribe', id: '1', payload: { query } });
    return lane;
  }

  begin(codes: readonly string[]): void {
    this.#codes = codes;
    this.answers = 0;
    this.errors.clear();
    this.problems.length = 0;
  }

  /** Writes a row and reads all rows. */
  async step(): Promise<void> {
    const number = ++this.#next;
    this.#requested.add(number);
    const object = `{company_id: ${this.tenant}, id: ${number}, name: "n"}`;
    if (await this.#send(`mutation { insert_campaigns_one(object: ${object}) { id company { name } } }`)) {
      this.#acknowledged.add(number);
    }
    const before = [...this.#acknowledged];
    const data = await this.#send('{ campaigns { id company_id } }');
    if (!data) return;
    const rows = data['campaigns'] as readonly { readonly id: number; readonly company_id: number }[];
    const ids = new Set(rows.map(({ id }) => Number(id)));
    const lost = before.filter((id) => !ids.has(id));
    const foreign = rows.filter(
      (row) => Number(row.company_id) !== this.tenant || !this.#requested.has(Number(row.id)),
    );
    if (lost.length + foreign.length > 0) {
      this.#report(`read without ${JSON.stringify(lost)}, with ${JSON.stringify(foreign)}`);
    }
  }

  /** Returns true when a request is answered within the time, and the live query has all rows of this moment. */
  async recovers(milliseconds: number): Promise<boolean> {
    const begin = this.answers;
    let least = 0;
    for (const end = Date.now() + milliseconds; Date.now() < end; await sleep(50)) {
      if (this.answers < begin + 3) least = this.#acknowledged.size;
      else if (this.#live >= least) return true;
    }
    return false;
  }

  /** Returns a problem when an acknowledged row is not stored. */
  async missing(client: pg.Client): Promise<readonly string[]> {
    const { rows } = await client.query<{ id: string }>('select id from campaigns where company_id = $1', [
      this.tenant,
    ]);
    const ids = new Set(rows.map(({ id }) => Number(id)));
    const lost = [...this.#acknowledged].filter((id) => !ids.has(id));
    return lost.length > 0 ? [`tenant ${this.tenant}: lost ${JSON.stringify(lost)}`] : [];
  }

  close(): void {
    this.#socket.close();
  }

  /** Returns the data of an answer; null when it is an error. */
  async #send(query: string): Promise<Record<string, unknown> | null> {
    const { data, errors } = await this.#engine.graphql(query, {
      role: 'tenant',
      headers: { 'x-engine-company-id': String(this.tenant) },
    });
    if (!errors) {
      this.answers += 1;
      return data!;
    }
    this.#fail(errors[0]!);
    // A client that fails at once does not send more than others.
    await sleep(50);
    return null;
  }

  #fail({ message, extensions: { code } }: GraphqlFailure): void {
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
    if (!this.#codes.includes(code)) this.#report(`${code}: ${message}`);
  }

  #hear({ type, payload }: LiveMessage): void {
    if (type === 'error') this.#report(`the live query has ended: ${JSON.stringify(payload)}`);
    if (type !== 'next') return;
    const { data, errors } = payload as { data?: LiveData; errors?: readonly GraphqlFailure[] };
    if (errors) this.#fail(errors[0]!);
    else this.#live = Number(data!.campaigns_aggregate.aggregate.count);
  }

  #report(problem: string): void {
    const text = `tenant ${this.tenant}: ${problem}`;
    if (!this.problems.includes(text)) this.problems.push(text);
  }
}

type GraphqlFailure = { readonly message: string; readonly extensions: { readonly code: string } };
type LiveMessage = { readonly type: string; readonly payload?: unknown };
type LiveData = { readonly campaigns_aggregate: { readonly aggregate: { readonly count: number } } };

/** Engines whose connections have prepared every request, and changes of the schema under them. After each change, which an engine, a
 *  migration or another client makes, every request must answer as on an engine that has just started.
 *  In: a Postgres and a seed. Out: problems. Not here: the schema and its changes (world.ts). */
import pg from 'pg';
import { startTestEngine, type TestEngine } from '../engine.ts';
import { type Pgbouncer, startPgbouncer } from '../pgbouncer.ts';
import { randomBits } from '../random-bits.ts';
import {
  type Change,
  COMPUTED_FIELDS,
  changeOf,
  createdBy,
  FIRST_WORLD,
  MUTATION_FUNCTIONS,
  QUERY_FUNCTIONS,
  requestsOf,
  TABLES,
  type World,
  type WorldRequest,
} from './world.ts';

const CONNECTIONS = 16;
const REPLICAS = 2;

export type Way = 'run_sql' | 'migration' | 'psql';

export class Arena {
  readonly #server: string;
  readonly #name: string;
  readonly #isPooled: boolean;
  readonly #bits: () => number;
  #world: World = FIRST_WORLD;
  #engines: TestEngine[] = [];
  #bouncer: Pgbouncer | undefined;
  #client!: pg.Client;
  #lock!: pg.Client;
  /** The number of pairs of a change and a request that were compared. */
  pairs = 0;

  constructor(server: string, name: string, { isPooled, seed }: { isPooled: boolean; seed: number }) {
    this.#server = server;
    this.#name = name;
    this.#isPooled = isPooled;
    this.#bits = randomBits(seed);
  }

  #url(name: string): string {
    const url = new URL(this.#server);
    url.pathname = `/${name}`;
    return url.href;
  }

  get #dataName(): string {
    return `${this.#name}_data`;
  }

  async open(): Promise<void> {
    for (const name of [this.#name, this.#dataName]) {
      await this.#onServer(`drop database if exists "${name}" with (force)`);
      await this.#onServer(`create database "${name}"`);
    }
    this.#client = await connected(this.#url(this.#dataName));
    this.#lock = await connected(this.#url(this.#dataName));
    await this.#client.query(createdBy(this.#world));
    if (this.#isPooled) this.#bouncer = await startPgbouncer(this.#url(this.#dataName), { poolSize: 8 });
    for (let i = 0; i < REPLICAS; i++) this.#engines.push(await this.#startEngine());
    const [engine] = this.#engines;
    await must(engine!, 'pg_add_source', {
      name: 'data',
      configuration: {
        connection_info: {
          database_url: this.#bouncer?.url ?? this.#url(this.#dataName),
          use_prepared_statements: !this.#isPooled,
          pool_settings: { max_connections: CONNECTIONS },
        },
      },
    });
    await must(engine!, 'bulk', tracking());
  }

  #startEngine(): Promise<TestEngine> {
    return startTestEngine({ databaseUrl: this.#url(this.#name), sourceCheckInterval: 0 });
  }

  /** Makes one change under warm connections. Returns what is wrong afterwards. */
  async round(): Promise<readonly string[]> {
    for (const request of requestsOf(this.#world)) await this.#askAll(request);
    const ways: readonly Way[] = this.#isPooled ? ['run_sql', 'psql'] : ['run_sql', 'migration', 'psql'];
    const way = ways[this.#bits() % ways.length]!;
    const change = changeOf(this.#world, this.#bits);
    const made = await this.#make(change, way);
    if (made !== null) return [`${change.name} by ${way}: ${made}`];
    this.#world = change.next;
    const fresh = await this.#startEngine();
    const problems: string[] = [];
    try {
      for (const request of requestsOf(this.#world)) {
        const answers = await this.#askAll(request);
        const expected = JSON.stringify(await fresh.graphql(request.query, request));
        this.pairs += 1;
        // The engine serves the types of its catalog until it reads the catalog again.
        const isForeignType = way === 'psql' && change.name.startsWith('column of type');
        const wrong = answers.filter((answer) =>
          isForeignType ? answer.startsWith('{"errors"') : answer !== expected,
        );
        if (wrong.length === 0 && !expected.startsWith('{"errors"')) continue;
        problems.push(
          `${request.name} after ${change.name} by ${way}: ${wrong.length} of ${answers.length} answers are wrong: ` +
            `${shortened(wrong[0])} instead of ${shortened(expected)}`,
        );
      }
    } finally {
      await fresh.close();
    }
    if (way === 'psql') for (const engine of this.#engines) await must(engine, 'reload_metadata', {});
    return problems;
  }

  /** Makes the change. Returns the reason if that failed. */
  async #make({ sql, next }: Change, way: Way): Promise<string | null> {
    const engine = this.#engines[this.#bits() % REPLICAS]!;
    if (way === 'psql') {
      // A session of its own: functions keep the plans of the one that has run them, where Postgres itself refuses them after the change.
      const client = await connected(this.#url(this.#dataName));
      await client.query(sql).finally(() => client.end());
      return null;
    }
    const args = { source: 'data' };
    const answer =
      way === 'run_sql'
        ? await engine.admin('run_sql', { ...args, sql, check_metadata_consistency: false })
        : await engine.admin('apply_migrations', {
            ...args,
            allow_breaking: true,
            migrations: [{ name: `${next.version + 1000}_change.sql`, sql }],
          });
    return answer.status === 200 ? null : shortened(JSON.stringify(answer.body));
  }

  /** Sends the request to every replica on each of its connections at the same time: a lock lets none finish before all have begun. */
  async #askAll(request: WorldRequest): Promise<readonly string[]> {
    const isMutation = request.query.startsWith('mutation');
    const held = isMutation ? 1 : CONNECTIONS;
    if (!isMutation) await this.#lock.query('begin; lock table w.item, w.owner in access exclusive mode');
    const asked = this.#engines.flatMap((engine) =>
      Array.from({ length: isMutation ? CONNECTIONS : held }, () => engine.graphql(request.query, request)),
    );
    if (!isMutation) {
      await this.#untilWaiting(this.#isPooled ? 8 : held * REPLICAS);
      await this.#lock.query('commit');
    }
    return (await Promise.all(asked)).map((answer) => JSON.stringify(answer));
  }

  async #untilWaiting(count: number): Promise<void> {
    let before = 0;
    for (let unchanged = 0; unchanged < 5; ) {
      const { rows } = await this.#client.query(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      if (rows[0].n >= count) return;
      unchanged = rows[0].n === before ? unchanged + 1 : 0;
      before = rows[0].n;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #onServer(sql: string): Promise<void> {
    const client = await connected(this.#server);
    await client.query(sql).finally(() => client.end());
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#engines.map((engine) => engine.close()));
    await Promise.allSettled([this.#client?.end(), this.#lock?.end()]);
    await this.#bouncer?.close();
    for (const name of [this.#name, this.#dataName]) {
      await this.#onServer(`drop database if exists "${name}" with (force)`);
    }
  }
}

/** Returns an answer without the statement of its error. */
function shortened(answer = ''): string {
  return answer.replace(/"statement":"(\\.|[^"\\])*",/, '').slice(0, 400);
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function must(engine: TestEngine, type: string, args: unknown): Promise<void> {
  const { status, body } = await engine.admin(type, args);
  if (status !== 200) throw new Error(`${type}: ${JSON.stringify(body)}`);
}

const named = (name: string) => ({ schema: 'w', name });

/** Returns the operations that track the world. */
function tracking() {
  const on = { source: 'data' };
  return [
    ...TABLES.map((name) => ({
      type: 'pg_track_table',
      args: { ...on, table: named(name), configuration: { custom_name: name } },
    })),
    {
      type: 'pg_create_object_relationship',
      args: { ...on, table: named('item'), name: 'owner', using: { foreign_key_constraint_on: 'owner_id' } },
    },
    {
      type: 'pg_create_array_relationship',
      args: {
        ...on,
        table: named('owner'),
        name: 'items',
        using: { foreign_key_constraint_on: { table: named('item'), column: 'owner_id' } },
      },
    },
    ...COMPUTED_FIELDS.map(({ table, name, function: called }) => ({
      type: 'pg_add_computed_field',
      args: { ...on, table: named(table), name, definition: { function: named(called) } },
    })),
    ...[...QUERY_FUNCTIONS, ...MUTATION_FUNCTIONS].map((name) => ({
      type: 'pg_track_function',
      args: {
        ...on,
        function: named(name),
        configuration: {
          custom_name: name,
          ...(name === 'touch' ? { exposed_as: 'mutation' } : {}),
        },
      },
    })),
  ];
}

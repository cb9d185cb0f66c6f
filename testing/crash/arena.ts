/** Runs two replicas on one metadata database, with a second database as another source. Several lanes write to them while one or both
 *  are killed. In: a Postgres. Out: rounds: kill at a random moment, wait until nothing runs, start again, and report what disagrees.
 *  Not here: the requests (lane.ts), what must agree (observe.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Engine, startEngine } from '../engine-process.ts';
import { randomBits } from '../random-bits.ts';
import { SOURCES } from './lane.ts';
import { type Databases, problemsOf } from './observe.ts';
import { post } from './post.ts';
import { SecretEcho, VALUES_KEY } from './secret-echo.ts';
import { type Tally, Writer } from './writer.ts';

export type Round = { readonly killed: number; readonly problems: readonly string[] };

/** An engine is killed after at most this many answers, during the next request, whatever the speed of the machine. */
const MOST_ANSWERS = 16;
const LANES = 6;

export class Arena {
  readonly tally: Tally = { acknowledged: 0, refused: 0, overtaken: 0, unanswered: 0 };
  readonly #chance: () => number;
  readonly #postgresUrl: string;
  readonly #name: string;
  readonly #writers: readonly Writer[];
  readonly #echo = new SecretEcho();
  #databases: Databases | undefined;
  #engines: Engine[] = [];
  #serial = 0;

  constructor(postgresUrl: string, name: string, seed: number) {
    this.#postgresUrl = postgresUrl;
    this.#name = name;
    this.#chance = numbersFrom(seed);
    this.#writers = Array.from(
      { length: LANES },
      (_, i) => new Writer({ name: `lane${i}`, source: SOURCES[i % SOURCES.length]! }),
    );
  }

  async open(): Promise<void> {
    const [home, other] = await Promise.all([this.#createDatabase('home'), this.#createDatabase('other')]);
    this.#databases = { default: home, other };
    this.#engines = [await this.#startEngine()];
    const database_url = this.#urlOf('other');
    const args = { name: 'other', configuration: { connection_info: { database_url } } };
    const added = await post(`${this.#engines[0]!.url}/v1/metadata`, { type: 'pg_add_source', args });
    if (added?.status !== 200) throw new Error(`no second source: ${added?.text}`);
    await this.#echo.open();
    for (const operation of this.#echo.setUp(this.#writers.map(({ lane }) => lane.name))) {
      const done = await post(`${this.#engines[0]!.url}/v1/metadata`, operation);
      if (done?.status !== 200) throw new Error(`no secrets: ${done?.text}`);
    }
    this.#engines = [...this.#engines, await this.#startEngine()];
  }

  async round(): Promise<Round> {
    const isDown: Engine[] = [];
    const options = {
      choose: () => Math.floor(this.#chance() * 2 ** 31),
      serial: () => this.#serial++,
      tally: this.tally,
    };
    const writing = this.#writers.map((writer, i) => {
      const engine = this.#engines[i % 2]!;
      const goesOn = () => isDown.length === 0;
      return writer.writeWhile(goesOn, { ...options, url: () => engine.url });
    });
    await this.#untilMoment();
    isDown.push(...this.#victims());
    await Promise.all(isDown.map((engine) => engine.kill()));
    await Promise.all(writing);
    await this.#untilQuiet();
    this.#engines = await Promise.all(
      this.#engines.map((engine) => (isDown.includes(engine) ? this.#startEngine() : engine)),
    );
    const urls = this.#engines.map(({ url }) => url);
    return { killed: isDown.length, problems: await problemsOf(this.#writers, urls, this.#databases!) };
  }

  async close(): Promise<void> {
    await Promise.all(this.#engines.map((engine) => engine.kill()));
    this.#echo.close();
    await Promise.all(SOURCES.map((source) => this.#databases?.[source].end()));
    for (const place of ['home', 'other']) {
      await this.#onServer(`drop database if exists ${this.#name}_${place} with (force)`);
    }
  }

  async #untilMoment(): Promise<void> {
    const startedAt = performance.now();
    const before = this.#answers;
    const answers = Math.floor(this.#chance() * MOST_ANSWERS);
    while (this.#answers < before + answers) await sleep(1);
    const usualMs = (performance.now() - startedAt) / Math.max(answers, 1);
    await sleep(this.#chance() * Math.max(usualMs, 20));
  }

  get #answers(): number {
    return this.tally.acknowledged + this.tally.refused;
  }

  #victims(): readonly Engine[] {
    const chance = this.#chance();
    return chance < 0.4 ? this.#engines : [this.#engines[chance < 0.7 ? 0 : 1]!];
  }

  #startEngine(): Promise<Engine> {
    const environment = {
      ...process.env,
      ENGINE_GRAPHQL_DATABASE_URL: this.#urlOf('home'),
      ENGINE_GRAPHQL_ENABLED_LOG_TYPES: 'startup',
      ENGINE_GRAPHQL_PG_CONNECTIONS: '10',
      ENGINE_GRAPHQL_VALUES_KEY: VALUES_KEY,
    };
    return startEngine(environment, 'ignore');
  }

  /** Waits until Postgres has ended or committed the transactions of a killed engine. */
  async #untilQuiet(): Promise<void> {
    for (;;) {
      const found = await this.#databases!.default.query(
        `select count(*)::int as n from pg_stat_activity
          where datname in ($1, $2) and application_name = 'pergola' and (state <> 'idle' or xact_start is not null)`,
        [`${this.#name}_home`, `${this.#name}_other`],
      );
      if (found.rows[0].n === 0) return;
      await sleep(5);
    }
  }

  async #createDatabase(place: string): Promise<pg.Client> {
    await this.#onServer(`create database ${this.#name}_${place}`);
    const client = new pg.Client({ connectionString: this.#urlOf(place) });
    await client.connect();
    return client;
  }

  async #onServer(sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: this.#postgresUrl });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }

  #urlOf(place: string): string {
    const url = new URL(this.#postgresUrl);
    url.pathname = `/${this.#name}_${place}`;
    return url.href;
  }
}

/** Returns a generator of numbers between 0 and 1, the same for the same seed. */
function numbersFrom(seed: number): () => number {
  const bits = randomBits(seed);
  return () => bits() / 2 ** 32;
}

/** Kills `pergola migrate up` (SIGKILL) at a chosen message to the database, with or without a second run at the same time, then checks
 *  that the state has a name that agrees with the database, recovers as the messages say, and checks that every statement ran once.
 *  In: a Postgres server, the point of the kill. Out: problems as text. Not here: the choice of points (.ci/migrations.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { AssessedVersion } from '../../engine/migrate/assess.ts';
import { pergola } from '../program.ts';
import { type Cut, startCuttingProxy } from './cutting-proxy.ts';
import { folderOf, migrateUp, versionsOf } from './folder.ts';

/** The statements leave a row each, except the index, which is its own trace. A row that is there twice was written twice. */
const ran = (version: number, statement: number) => `insert into ran values (${version}, ${statement})`;
const FREE = '-- pergola: no-transaction\n';
const FILES = {
  '1_tables.sql': `create table ran (version int, statement int);\n${ran(1, 2)};\ncreate table book (id int, title text)`,
  '2_index.sql': `${FREE}${ran(2, 1)};\n${ran(2, 2)};\ncreate index concurrently book_title on book (title);\n${ran(2, 4)}`,
  '3_column.sql': `alter table book add isbn text;\n${ran(3, 2)}`,
  '4_rows.sql': `${FREE}${ran(4, 1)};\n${ran(4, 2)}`,
};
/** The statements of a version in the order of the file; the index is statement 3 of version 2. */
const TRACED: Readonly<Record<string, readonly number[]>> = { 1: [2], 2: [1, 2, 3, 4], 3: [2], 4: [1, 2] };

export type KillPoint = Cut & { readonly hasRival: boolean };

export type KillOutcome = {
  readonly problems: readonly string[];
  /** The states after the kill, such as `applied unknown pending pending`. */
  readonly states: string;
  readonly wasKilled: boolean;
};

export class KillArena {
  readonly #server: string;
  readonly #name: string;
  readonly #folder = folderOf(FILES);
  #round = 0;

  constructor(server: string, name: string) {
    this.#server = server;
    this.#name = name;
  }

  /** Returns how many messages a run sends that is not killed. */
  async countMessages(): Promise<number> {
    return this.#inDatabase(async (url) => {
      const proxy = await startCuttingProxy(url, null, () => {});
      try {
        await migrateUp(proxy.url, this.#folder);
        return proxy.messages();
      } finally {
        await proxy.close();
      }
    });
  }

  /** Kills one run and recovers from it. */
  async round(point: KillPoint): Promise<KillOutcome> {
    return this.#inDatabase(async (url, client) => {
      const wasKilled = await this.#runAndKill(url, point);
      await ended(client);
      const problems: string[] = [];
      const versions = await versionsOf(url, this.#folder);
      for (const version of versions) problems.push(...(await disagreement(client, version)));
      await this.#recover(url, client, problems);
      problems.push(...(await repetitions(client)));
      const where = `message ${point.message}${point.isSent ? ' (sent)' : ''}${point.hasRival ? ', with a rival' : ''}`;
      const states = versions.map(({ state }) => state).join(' ');
      return { problems: problems.map((text) => `${where}: ${text} [${states}]`), states, wasKilled };
    });
  }

  async #runAndKill(url: string, point: KillPoint): Promise<boolean> {
    let kill = () => {};
    let wasKilled = false;
    const proxy = await startCuttingProxy(url, point, () => {
      wasKilled = true;
      kill();
    });
    try {
      const program = pergola(['migrate', 'up', '-f', this.#folder, '--database-url', proxy.url]);
      kill = () => program.child.kill('SIGKILL');
      // The rival may find the state unknown, and refuses it.
      const rival = point.hasRival ? migrateUp(url, this.#folder).catch(() => {}) : undefined;
      await program.ended;
      await rival;
    } finally {
      await proxy.close();
    }
    return wasKilled;
  }

  /** Runs again until all is applied. An unknown statement is looked up in the database, as the messages say. */
  async #recover(url: string, client: pg.Client, problems: string[]): Promise<void> {
    const unfinished = (await versionsOf(url, this.#folder)).find(({ state }) => state === 'unknown');
    const resumeFrom = unfinished ? await statementToResume(client, unfinished) : undefined;
    try {
      await migrateUp(url, this.#folder, { resumeFrom });
      const again = await migrateUp(url, this.#folder);
      if (again.applied.length > 0) problems.push('a second run after the recovery applied something');
    } catch (error) {
      problems.push(`the recovery failed: ${(error as Error).message}`);
    }
    const states = (await versionsOf(url, this.#folder)).map(({ state }) => state);
    if (!states.every((state) => state === 'applied'))
      problems.push(`after the recovery: ${states.join(' ')}`);
  }

  async #inDatabase<T>(use: (url: string, client: pg.Client) => Promise<T>): Promise<T> {
    const name = `${this.#name}_${++this.#round}`;
    await onServer(this.#server, `create database "${name}"`);
    const url = new URL(this.#server);
    url.pathname = `/${name}`;
    const client = new pg.Client({ connectionString: url.href });
    try {
      await client.connect();
      return await use(url.href, client);
    } finally {
      await client.end();
      await onServer(this.#server, `drop database "${name}" with (force)`);
    }
  }
}

async function onServer(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

/** Waits until the database has noticed that the killed run is gone. */
async function ended(client: pg.Client): Promise<void> {
  for (;;) {
    const { rowCount } = await client.query(
      `select 1 from pg_stat_activity where datname = current_database() and application_name = 'pergola migrate'`,
    );
    if (rowCount === 0) return;
    await sleep(20);
  }
}

/** Returns the traced statements of a version that had their effect. */
async function effects(client: pg.Client, version: string): Promise<readonly number[]> {
  const { rows: found } = await client.query(`select to_regclass('ran') is not null as exists`);
  if (!found[0].exists) return [];
  const { rows } = await client.query(
    `select statement from ran where version = $1
     union all select 3 from pg_index where indexrelid = to_regclass('book_title') and indisvalid and $1 = 2 order by 1`,
    [version],
  );
  return rows.map(({ statement }) => statement);
}

/** Compares the state of a version with what is in the database. */
async function disagreement(
  client: pg.Client,
  { version, state, row }: AssessedVersion,
): Promise<readonly string[]> {
  const traced = TRACED[version]!;
  const actual = (await effects(client, version)).join();
  const first = (count: number) => traced.slice(0, count).join();
  const expected: Readonly<Record<string, readonly string[]>> = {
    applied: [traced.join()],
    pending: [''],
    interrupted: [first(row?.finished ?? 0)],
    unknown: [first(row?.finished ?? 0), first((row?.finished ?? 0) + 1)],
  };
  if (expected[state]?.includes(actual)) return [];
  return [
    `version ${version} is ${state}, and the database has the effects of statements ${actual || 'none'}`,
  ];
}

/** Returns the statement to continue with, as someone who looks at the database decides. */
async function statementToResume(client: pg.Client, { version, row }: AssessedVersion): Promise<number> {
  const started = row!.started!;
  if ((await effects(client, version)).includes(started)) return started + 1;
  if (version === '2' && started === 3) await client.query('drop index if exists book_title');
  return started;
}

async function repetitions(client: pg.Client): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [version, traced] of Object.entries(TRACED)) {
    const actual = (await effects(client, version)).join();
    if (actual !== traced.join()) problems.push(`version ${version} ran statements ${actual}, not ${traced}`);
  }
  return problems;
}

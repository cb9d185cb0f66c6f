/** Tests migrations through engines that are killed or run beside each other: what is recorded has a name, another replica and the command
 *  continue from it, and nothing runs twice. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { type Engine, startEngine } from '../../testing/engine-process.ts';
import { folderOf, migrateUp, statesOf } from '../../testing/migrate/folder.ts';

const SECRET = randomUUID();

type Answer = {
  readonly state: string;
  readonly applied: readonly string[];
  readonly message: string | null;
};

let database: TestDatabase;
let engines: readonly Engine[];

beforeEach(async () => {
  database = await createDatabase();
  await database.sql('create table ran (statement int)');
  const environment = {
    PATH: process.env['PATH'],
    ENGINE_GRAPHQL_DATABASE_URL: database.url,
    ENGINE_GRAPHQL_ADMIN_SECRET: SECRET,
  };
  engines = await Promise.all([startEngine(environment, 'ignore'), startEngine(environment, 'ignore')]);
}, 180_000);
afterEach(async () => {
  await Promise.all(engines.map(({ kill }) => kill()));
  await database.drop();
});

const FREE = '-- pergola: no-transaction\n';
const insert = (statement: number) => `insert into ran values (${statement})`;
const rows = async () =>
  (await database.sql('select statement from ran order by 1')).map(({ statement }) => statement);

async function migrate({ url }: Engine, files: Readonly<Record<string, string>>): Promise<Answer> {
  const migrations = Object.entries(files).map(([name, sql]) => ({ name, sql }));
  const response = await fetch(`${url}/v1/metadata`, {
    method: 'POST',
    headers: { 'x-engine-admin-secret': SECRET },
    body: JSON.stringify({ type: 'apply_migrations', args: { source: 'default', migrations } }),
  });
  return (await response.json()) as Answer;
}

test('two replicas at once run every statement once', async () => {
  const files = {
    '1_a.sql': `${insert(1)}; select pg_sleep(0.2)`,
    '2_b.sql': `${FREE}${insert(2)}; select pg_sleep(0.2); ${insert(3)}`,
  };
  for (const engine of engines) {
    await vi.waitFor(
      async () => {
        const answers = await Promise.all(engines.map((each) => migrate(each, files)));
        expect(answers.map(({ state }) => state)).toEqual(['applied', 'applied']);
      },
      { timeout: 20_000, interval: 50 },
    );
    expect(await migrate(engine, files)).toMatchObject({ state: 'applied', applied: [] });
  }
  expect(await rows()).toEqual([1, 2, 3]);
});

test('a killed engine leaves a named state, which another replica refuses and the command continues', async () => {
  const blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
  const files = {
    '1_a.sql': insert(1),
    '2_b.sql': `${FREE}set lock_timeout = 0;\n${insert(2)};\nlock_me();\n${insert(4)}`,
  };
  // The third statement waits for a lock that the test holds, so that the kill meets it.
  files['2_b.sql'] = files['2_b.sql'].replace(
    'lock_me()',
    `with held as materialized (select pg_advisory_lock_shared(42)) ${insert(3).replace('values (3)', 'select 3 from held')}`,
  );
  const [first, second] = engines as [Engine, Engine];
  try {
    await blocker.query('select pg_advisory_lock(42)');
    const request = migrate(first, files).catch(() => undefined);
    await vi.waitFor(
      async () => {
        const waiting = await database.sql(
          `select 1 from pg_locks where not granted and locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
        );
        expect(waiting).toHaveLength(1);
      },
      { timeout: 10_000, interval: 20 },
    );
    await first.kill();
    await request;
    // The database still runs the statement, so that the lock is still taken.
    expect(await migrate(second, files)).toMatchObject({ state: 'running' });
    expect(await rows()).toEqual([1, 2]);
  } finally {
    await blocker.end();
  }
  await vi.waitFor(async () => expect(await migrate(second, files)).toMatchObject({ state: 'refused' }), {
    timeout: 20_000,
    interval: 100,
  });
  expect((await migrate(second, files)).message).toMatch(
    /^2 b: the run ended during statement 3 of 4; it may have had its effect or not\. Look at the database: /,
  );
  const folder = folderOf(files);
  expect(await statesOf(database.url, folder)).toEqual({ 1: 'applied', 2: 'unknown' });
  const resumeFrom = (await rows()).includes(3) ? 4 : 3;
  await migrateUp(database.url, folder, { resumeFrom, lockTimeoutMs: 5000 });
  expect(await rows()).toEqual([1, 2, 3, 4]);
  await vi.waitFor(
    async () =>
      expect(await migrate(second, { ...files, '3_c.sql': insert(5) })).toMatchObject({ applied: ['3'] }),
    { timeout: 20_000, interval: 200 },
  );
  expect(await rows()).toEqual([1, 2, 3, 4, 5]);
});

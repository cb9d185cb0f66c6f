/** Property test of pool.ts: whenever a caller stops waiting, and however late Postgres' answers arrive, every statement and transaction
 *  ends, has an effect only if it succeeded, and leaves its connection usable. */
import '../../testing/seed.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { type CuttingProxy, openProxy } from '../wire/testing/proxy.ts';
import { type Database, openDatabase, type Patience } from './pool.ts';

const MOST_CONNECTIONS = 8;
/** Longer than all work of a run, shorter than a hang. */
const MOST_MS = 15_000;

const source = testDatabase();
let proxy: CuttingProxy;
let database: Database;

beforeAll(async () => {
  await source.sql(
    'create table written (task int, step int, primary key (task, step)); create table shared (count int)',
  );
  await source.sql('insert into shared values (0)');
  proxy = await openProxy(source.url);
  database = openDatabase(proxy.url, { maxConnections: MOST_CONNECTIONS });
});
afterAll(async () => {
  await database.close(AbortSignal.timeout(1000));
  await proxy.close();
});

type Step = 'insert' | 'lock' | 'nap' | 'fail';
type Task = {
  /** One statement outside any transaction, when it is a single step. */
  readonly isAtomic: boolean;
  readonly steps: readonly Step[];
  /** The milliseconds after which the caller stops waiting; null: never. */
  readonly gone: number | null;
  readonly by: 'signal' | 'limit';
};

const TASK = fc.record<Task>({
  isAtomic: fc.boolean(),
  steps: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant<Step>('insert') },
      { weight: 2, arbitrary: fc.constantFrom<Step>('lock', 'nap') },
      { weight: 1, arbitrary: fc.constant<Step>('fail') },
    ),
    { minLength: 1, maxLength: 4 },
  ),
  gone: fc.option(fc.integer({ min: 0, max: 100 }), { nil: null }),
  by: fc.constantFrom('signal', 'limit'),
});

/** Each statement writes a row, which shows what was kept. */
const TEXTS: Record<Step, (row: string) => string> = {
  insert: (row) => `insert into written values (${row})`,
  lock: (row) =>
    `with locked as (update shared set count = count + 1 returning 1) insert into written select ${row} from locked`,
  nap: (row) => `insert into written select ${row} from pg_sleep(0.04)`,
  fail: (row) => `insert into written values (${row}), (${row})`,
};

/** Returns whether the task succeeded. */
async function perform({ isAtomic, steps, gone, by }: Task, task: number): Promise<boolean> {
  const patience: Patience =
    gone === null ? {} : by === 'signal' ? { signal: AbortSignal.timeout(gone) } : { limitMs: gone };
  const statementOf = (step: Step, at: number) => ({ name: '', text: TEXTS[step](`${task}, ${at}`) });
  const work =
    isAtomic || steps.length > 1
      ? database.atomic(patience, async (run) => {
          for (const [at, step] of steps.entries()) await run(statementOf(step, at), []);
        })
      : database.run(statementOf(steps[0]!, 0), [], patience);
  const late = sleep(MOST_MS, null, { ref: false }).then(() =>
    Promise.reject(new Error(`task ${task} hangs`)),
  );
  const settled = work.then(
    () => true,
    () => false,
  );
  return Promise.race([settled, late]);
}

test('work is done whole or not at all, whenever its caller stops waiting and however late answers are', async () => {
  const tasks = fc.array(TASK, { minLength: 1, maxLength: 24 });
  const delays = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(tasks, delays, async (given, delaysMs) => {
      await source.sql('truncate written');
      await database.run({ name: '', text: 'select 1' }, []);
      let turn = 0;
      const change = () => {
        proxy.delayMs = delaysMs[turn++ % delaysMs.length]!;
      };
      change();
      const changes = setInterval(change, 50);
      try {
        const succeeded = await Promise.all(given.map(perform));
        const rows = await source.sql('select task, count(*)::int as steps from written group by task');
        const kept = new Map(rows.map((row) => [row.task, row.steps]));
        expect(given.map((_, i) => kept.get(i) ?? 0)).toEqual(
          given.map(({ steps }, i) => (succeeded[i] ? steps.length : 0)),
        );
      } finally {
        clearInterval(changes);
        proxy.delayMs = 0;
      }
      await expect.poll(() => database.state.active, { timeout: 10_000 }).toBe(0);
    }),
    // A smaller example of a hang would take as long again, for each attempt.
    { numRuns: 20, endOnFailure: true },
  );
}, 120_000);

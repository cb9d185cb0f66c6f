/** Event triggers of a table that another transaction has locked. Rule: the request fails after two seconds with nothing changed, and neither writes to the
 *  table nor other changes of the metadata wait for longer. Reference: docs/guides/databases.md, "What it locks". */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testWorld } from '../../testing/world.ts';

const MOST_WAIT_MS = 2000;
/** The time that a request takes on a busy machine. */
const SLACK_MS = 2000;

let other: pg.Client;
const { database, engine } = testWorld(
  'create table note (id serial primary key); create table free (id serial primary key)',
);
afterAll(() => other.end());

beforeAll(async () => {
  other = new pg.Client(database.url);
  await other.connect();
  for (const table of ['note', 'free']) await engine.admin('pg_track_table', { table });
  await make('there');
});

const make = (name: string, options: object = {}) =>
  engine.admin('pg_create_event_trigger', {
    ...{ name, table: 'note', webhook: 'http://127.0.0.1:9', insert: { columns: '*' } },
    ...options,
  });

/** Each way to change an event trigger, and the lock of another transaction that it waits for. */
const CHANGES: readonly [string, string, string, () => ReturnType<typeof make>][] = [
  ['created', 'new', 'row exclusive', () => make('new')],
  ['changed', 'there', 'row exclusive', () => make('there', { delete: { columns: '*' }, replace: true })],
  ['deleted', 'there', 'access share', () => engine.admin('pg_delete_event_trigger', { name: 'there' })],
];

test.each(CHANGES)('an event trigger that is %s', async (_, name, lock, change) => {
  const before = await engine.admin('export_metadata', {});
  await other.query(`begin; lock table note in ${lock} mode`);
  try {
    const startMs = performance.now();
    const took = async <T>(answer: Promise<T>) => ({ answer: await answer, ms: performance.now() - startMs });
    const changing = took(change());
    const writing = took(engine.graphql('mutation { insert_note_one(object: {}) { id } }'));
    const customizing = took(
      engine.admin('pg_set_table_customization', { table: 'free', configuration: {} }),
    );
    const { answer, ms } = await changing;
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: 'postgres-error',
        error: expect.stringContaining(
          `event trigger ${name}: other transactions kept its table locked for 2 s`,
        ),
      },
    });
    expect(ms).toBeGreaterThan(MOST_WAIT_MS - 100);
    expect(ms).toBeLessThan(MOST_WAIT_MS + SLACK_MS);
    const [written, customized] = await Promise.all([writing, customizing]);
    expect(written.answer.errors).toBeUndefined();
    expect(customized.answer.status).toBe(200);
    expect(Math.max(written.ms, customized.ms)).toBeLessThan(MOST_WAIT_MS + SLACK_MS);
  } finally {
    await other.query('rollback');
  }
  expect(await engine.admin('export_metadata', {})).toEqual(before);
  expect((await change()).status).toBe(200);
});

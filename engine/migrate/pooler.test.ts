/** Tests migrations behind pgbouncer in transaction mode, where the lock would be shared and left behind: they are refused, and the
 *  database is as before. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folderOf, migrateUp, statesOf } from '../../testing/migrate/folder.ts';
import { hasPgbouncer, type Pgbouncer, startPgbouncer } from '../../testing/pgbouncer.ts';
import { testDatabase } from '../../testing/world.ts';

const isThere = hasPgbouncer();
const why = isThere ? '' : ' (skipped: there is no pgbouncer on the PATH)';

describe.skipIf(!isThere)(`behind pgbouncer${why}`, () => {
  const database = testDatabase();
  let bouncer: Pgbouncer;

  beforeAll(async () => {
    bouncer = await startPgbouncer(database.url);
  });
  afterAll(() => bouncer?.close());

  test('a run is refused, takes no lock, and the same run without the pooler works', async () => {
    const folder = folderOf({ '1_a.sql': 'create table a (id int)' });
    const runs = await Promise.allSettled([1, 2, 3].map(() => migrateUp(bouncer.url, folder)));
    for (const run of runs) {
      expect(run.status === 'rejected' && (run.reason as Error).message).toMatch(
        /^the connection goes through a pooler in transaction mode, where a lock of migrations would not hold; connect to Postgres itself/,
      );
    }
    expect(await statesOf(database.url, folder)).toEqual({ 1: 'pending' });
    expect((await migrateUp(database.url, folder, { waitMs: 0 })).version).toBe('1');
  });
});

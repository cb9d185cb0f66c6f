/** Random and hostile requests on every endpoint: a share of what `npm run fuzz` sends a hundred thousand of. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { BLOCK_SIZE, fuzz } from '../../testing/fuzz/run.ts';

const REQUESTS = 2000;
/** The same in every run of `make test`, so that a change is judged by the same requests as the one before it. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
/** For a machine as busy as it likes. */
const MOST_MS = 600_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test(
  'no request ends the engine, hangs, or fails in a way nobody foresaw',
  async () => {
    const blocks = Math.ceil(REQUESTS / BLOCK_SIZE);
    for await (const { block, problems } of fuzz(database.url, { seed: SEED, from: 0, blocks })) {
      expect(problems, `npm run fuzz -- --seed ${SEED} --block ${block} --requests ${BLOCK_SIZE}`).toEqual(
        [],
      );
    }
  },
  MOST_MS,
);

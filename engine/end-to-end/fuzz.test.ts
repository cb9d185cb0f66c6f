/** Tests random and hostile requests on every endpoint: a small part of `npm run fuzz`, which sends a hundred
 *  thousand. */
import { expect, test } from 'vitest';
import { BLOCK_SIZE, fuzz } from '../../testing/fuzz/run.ts';
import { testDatabase } from '../../testing/world.ts';

const REQUESTS = 1000;
/** The same for every run of `make test`, so that every change is tested with the same requests. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
/** Enough for a busy machine. */
const MOST_MS = 600_000;

const database = testDatabase();

test(
  'no request ends the engine, hangs, or fails unexpectedly',
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

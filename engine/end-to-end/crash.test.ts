/** Engines that are killed in the middle of writing: a share of what `npm run crash` does two hundred times. */
import { randomInt } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { Arena } from '../../testing/crash/arena.ts';

/** Twelve starts of an engine, on a machine as busy as it likes. */
const MOST_MS = 300_000;

test(
  'an engine that is killed leaves metadata and database in agreement, and loses nothing it acknowledged',
  async () => {
    const seed = randomInt(2 ** 31);
    const arena = new Arena(inject('postgresUrl'), `crash_test_${process.pid}`, seed);
    try {
      await arena.open();
      for (let kills = 0; kills < 10; ) {
        const { killed, problems } = await arena.round();
        expect(problems, `seed ${seed}`).toEqual([]);
        kills += killed;
      }
      expect(arena.tally.acknowledged).toBeGreaterThan(0);
      expect(arena.tally.unanswered).toBeGreaterThan(0);
    } finally {
      await arena.close();
    }
  },
  MOST_MS,
);

/** Tests engines that are killed while they write: a small part of `npm run crash`, which kills two hundred times. */
import { randomInt } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { Arena } from '../../testing/crash/arena.ts';

/** Enough for eight starts of an engine on a busy machine. */
const MOST_MS = 300_000;

test(
  'after an engine is killed, metadata and database agree and nothing acknowledged is lost',
  async () => {
    const seed = randomInt(2 ** 31);
    const arena = new Arena(inject('postgresUrl'), `crash_test_${process.pid}`, seed);
    try {
      await arena.open();
      for (let kills = 0; kills < 6; ) {
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

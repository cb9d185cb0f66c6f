/** Tests migrations that are killed: a part of `npm run migrations`, which kills at every message to the database. */
import { randomInt } from 'node:crypto';
import { afterAll, expect, inject, test } from 'vitest';
import { KillArena } from '../testing/migrate/kill-arena.ts';
import { killAll } from '../testing/program.ts';
import { randomBits } from '../testing/random-bits.ts';

const KILLS = 20;

afterAll(killAll);

test('a killed run leaves a state with a name, and the next one runs every statement once', async () => {
  const seed = randomInt(2 ** 31);
  const random = randomBits(seed);
  const arena = new KillArena(inject('postgresUrl'), `kill_test_${process.pid}`);
  const messages = await arena.countMessages();
  const states = new Set<string>();
  for (let kill = 0; kill < KILLS; kill++) {
    // One point in each part of the run, so that every run of the test meets files with and without a transaction.
    const message = 1 + Math.floor(((kill + random() / 2 ** 32) * messages) / KILLS);
    const outcome = await arena.round({ message, isSent: kill % 2 === 1, hasRival: random() % 4 === 0 });
    expect(outcome.problems, `seed ${seed}`).toEqual([]);
    states.add(outcome.states);
  }
  expect(states.size).toBeGreaterThan(2);
}, 300_000);

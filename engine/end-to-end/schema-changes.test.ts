/** Tests requests on connections that have prepared them before the schema changed: a small part of `npm run schema-changes`. */
import { randomInt } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { hasPgbouncer } from '../../testing/pgbouncer.ts';
import { Arena } from '../../testing/schema-changes/arena.ts';

/** A round takes a second, and far longer on a busy machine. */
const LONG_ENOUGH_MS = 12_000;
const MOST_MS = 300_000;

const isThere = hasPgbouncer();
const why = isThere ? '' : ' (skipped: there is no pgbouncer on the PATH)';

test.each([
  ['directly', false],
  [`through a pooler in transaction mode${why}`, true],
])(
  'a request that is valid in the new schema succeeds on each of 16 connections of two replicas, %s',
  async (_, isPooled) => {
    if (isPooled && !isThere) return;
    const seed = randomInt(2 ** 31);
    const name = `schema_changes_${process.pid}_${isPooled ? 'pooled' : 'direct'}`;
    const arena = new Arena(inject('postgresUrl'), name, { isPooled, seed });
    try {
      await arena.open();
      const startedAt = performance.now();
      do expect(await arena.round(), `seed ${seed}`).toEqual([]);
      while (performance.now() - startedAt < LONG_ENOUGH_MS);
      expect(arena.pairs).toBeGreaterThan(0);
    } finally {
      await arena.close();
    }
  },
  MOST_MS,
);

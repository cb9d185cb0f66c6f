/** A share of `npm run noninterference`: what a role does not see changes no answer to its requests. */
import { expect, inject, test } from 'vitest';
import { describeDifference, interference, type WorldResult } from './testing/interference.ts';
import { WAYS } from './testing/ways.ts';

/** The seed is the same in every run of `make test`, so that each change is judged by the same requests. */
const SEED = Number(process.env['NONINTERFERENCE_SEED'] ?? 20_261_122);
const WORLDS = 3;
/** For a machine as busy as it likes. */
const MOST_MS = 300_000;

test(
  'two databases that differ in what a role does not see answer it alike',
  async () => {
    const results: WorldResult[] = [];
    for await (const result of interference(inject('postgresUrl'), { seed: SEED })) {
      expect(result.differences.map(describeDifference)).toEqual([]);
      if (results.push(result) === WORLDS) break;
    }
    for (const way of Object.keys(WAYS)) {
      const counts = results.flatMap((result) => result.counts[way] ?? []);
      const sum = (of: 'asked' | 'refused') => counts.reduce((total, count) => total + count[of], 0);
      expect(sum('asked'), way).toBeGreaterThan(10);
      // Two errors are often alike, and show little.
      expect(sum('refused'), way).toBeLessThan(sum('asked') / 4);
    }
  },
  MOST_MS,
);

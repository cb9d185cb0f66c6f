/** The machine's clock, as the core's port. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../ports/clock.ts';

export const systemClock: Clock = {
  now: () => new Date(),
  sleep: (ms) => sleep(ms),
  random: Math.random,
};

/** How often something took how long: counts by upper bound, and their sum. Two additions and a short search a value.
 *  Not here: how it is printed (registry.ts). */

/** Seconds, from half a millisecond to ten seconds. */
export const SECONDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export class Histogram {
  readonly bounds: readonly number[];
  /** One more than bounds: the last has what is beyond them all. Not cumulative. */
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[] = SECONDS) {
    this.bounds = bounds;
    this.counts = bounds.map(() => 0).concat(0);
  }

  observe(value: number): void {
    let i = 0;
    while (i < this.bounds.length && value > this.bounds[i]!) i++;
    this.counts[i]! += 1;
    this.sum += value;
  }
}

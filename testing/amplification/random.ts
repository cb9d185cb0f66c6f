/** Random choices that a seed repeats, for generators of cases. */
import { randomBits } from '../random-bits.ts';

export class Random {
  readonly #bits: () => number;

  constructor(seed: number) {
    this.#bits = randomBits(seed);
  }

  /** Returns a whole number below `most`. */
  below(most: number): number {
    return this.#bits() % most;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  /** Returns true in one of `of` cases. */
  oneIn(of: number): boolean {
    return this.below(of) === 0;
  }

  /** Returns a size up to `most`; each order of magnitude is equally likely. */
  size(most: number): number {
    return Math.max(1, Math.floor(most ** (this.below(1000) / 1000)));
  }
}

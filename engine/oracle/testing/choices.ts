/** A sequence of numbers read as choices. Whatever the numbers are, something valid comes out, and smaller numbers and
 *  shorter sequences make simpler things: so fast-check can shrink a world or a request by shrinking numbers alone.
 *  In: numbers from 0 to LARGEST. Out: choices; a sequence that has ended goes on as zeros. */

export const LARGEST = 0xffff;

export class Choices {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  /** From 0 to `end - 1`. */
  below(end: number): number {
    const number = this.#numbers[this.#at++] ?? 0;
    return end <= 1 ? 0 : number % end;
  }

  /** True that often; a zero says no. */
  chance(percent: number): boolean {
    return this.below(100) >= 100 - percent;
  }

  /** The first is the simplest. */
  of<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('a choice of nothing');
    return item;
  }

  /** Each with that chance, in order. */
  some<T>(items: readonly T[], percent: number): T[] {
    return items.filter(() => this.chance(percent));
  }

  times<T>(count: number, make: (i: number) => T): T[] {
    return Array.from({ length: count }, (_, i) => make(i));
  }
}

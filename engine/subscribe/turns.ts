/** At most so many things at once; who comes later waits its turn, in order. Live queries ask the databases through one of
 *  these, so that however many there are, connections remain for requests. */

export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async take<T>(body: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await body();
    } finally {
      const next = this.#waiting.shift();
      // The turn is handed on, never free in between.
      if (next) next();
      else this.#free += 1;
    }
  }
}

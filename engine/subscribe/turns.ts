/** Runs a limited number of tasks at once; later ones wait in order. Live queries use it for their statements, so that connections
 *  remain for requests. */

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

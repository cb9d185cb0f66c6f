/** Long computations as generators that yield between short steps, so that their caller may answer requests in between. The computation
 *  itself stays pure: it knows neither a clock nor the event loop. Not here: when the steps run (limits/slices.ts). */

export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Calls `body` for each item. Each item is a step. */
export function* forEach<T>(items: Iterable<T>, body: (item: T) => unknown): Steps<void> {
  for (const item of items) {
    body(item);
    yield;
  }
}

/** Returns what `map` returns for each item, in one list. Each item is a step. */
export function* flatMapped<T, R>(items: Iterable<T>, map: (item: T) => readonly R[]): Steps<R[]> {
  const mapped: R[] = [];
  for (const item of items) {
    mapped.push(...map(item));
    yield;
  }
  return mapped;
}

/** A computation with any number of callers: some run its steps in slices, others need its result at once and run what is left.
 *  It runs once. When it throws, every caller of that time gets the error, and the next caller begins anew. */
export class SharedSteps<T> {
  readonly #begin: () => Steps<T>;
  #running: Steps<T> | undefined;
  #result: { readonly value: T } | undefined;

  constructor(begin: () => Steps<T>) {
    this.#begin = begin;
  }

  get isFinished(): boolean {
    return this.#result !== undefined;
  }

  /** Returns the steps that are left. */
  *steps(): Steps<T> {
    while (!this.#result) {
      this.#advance();
      yield;
    }
    return this.#result.value;
  }

  /** Runs the steps that are left at once. */
  finish(): T {
    while (!this.#result) this.#advance();
    return this.#result.value;
  }

  #advance(): void {
    this.#running ??= this.#begin();
    try {
      const step = this.#running.next();
      if (step.done) this.#result = step;
    } catch (error) {
      this.#running = undefined;
      throw error;
    }
  }
}

/** Signals that work under way is no longer waited for. `RequestSignal` is what an AbortSignal is to its listeners, without what creating
 *  one costs each request, 1 kB and 2 µs.
 *  Not here: time limits (timer-wheel.ts), shutdown (grace.ts). */

/** The part of an AbortSignal that work under way needs. A listener is an object, so that listening needs no function. */
export type CancelSignal = {
  readonly aborted: boolean;
  /** An error once it is aborted. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: CancelListener): void;
  removeEventListener(type: 'abort', listener: CancelListener): void;
};

export type CancelListener = { handleEvent(): void };

export class RequestSignal implements CancelSignal {
  #reason: Error | undefined;
  /** Most requests have one listener at a time. */
  #listener: CancelListener | undefined;
  #others: Set<CancelListener> | undefined;
  #abort: AbortController | undefined;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): Error | undefined {
    return this.#reason;
  }

  abort(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    const listeners = [...(this.#listener ? [this.#listener] : []), ...(this.#others ?? [])];
    this.#listener = undefined;
    this.#others = undefined;
    for (const listener of listeners) listener.handleEvent();
    this.#abort?.abort(reason);
  }

  addEventListener(_: 'abort', listener: CancelListener): void {
    if (this.#others?.has(listener)) return;
    if (!this.#listener) this.#listener = listener;
    else if (this.#listener !== listener) {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
  }

  removeEventListener(_: 'abort', listener: CancelListener): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others?.delete(listener);
  }

  /** Returns the signal for code that takes no other than an AbortSignal. It is created at the first call. */
  toAbortSignal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#reason) this.#abort.abort(this.#reason);
    }
    return this.#abort.signal;
  }
}

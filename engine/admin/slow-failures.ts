/** Databases and remote schemas that took long to fail. Drafts made one after the other, as the operator's dry runs are, would each wait
 *  for the same service again, and nobody else could change metadata meanwhile: within a minute they get the failure that is known.
 *  What asks for a service by its name (reload_metadata, add_remote_schema) does not look here.
 *  In: a key of the service as it is configured, a way to ask it. Out: its answer, or the failure of before. */

type Failure = { readonly error: unknown };

const SLOW_MS = 2000;
const KNOWN_MS = 60_000;
const MOST_KNOWN = 1000;

export class SlowFailures {
  readonly #known = new Map<string, { readonly answer: unknown; readonly untilMs: number }>();

  /** `ask` never throws: an answer with `error` is a failure. */
  async ask<T extends object>(key: string, ask: () => Promise<T | (T & Failure)>): Promise<T> {
    const beganMs = performance.now();
    const known = this.#known.get(key);
    if (known && beganMs < known.untilMs) return known.answer as T;
    this.#known.delete(key);
    const answer = await ask();
    const endedMs = performance.now();
    if ('error' in answer && endedMs - beganMs >= SLOW_MS) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined && this.#known.size >= MOST_KNOWN) this.#known.delete(oldest);
      this.#known.set(key, { answer, untilMs: endedMs + KNOWN_MS });
    }
    return answer;
  }
}

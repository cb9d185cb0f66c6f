/** Keeps one copy of each text of parsed JSON. Thousands of resources name the same columns, roles and namespaces, and JSON.parse creates
 *  a text for each occurrence.
 *  In: values that were just parsed and that nothing else uses. Out: the same values. Not here: which values stay in memory. */
import { isRecord } from '@pergola/engine/metadata';

/** Longer texts are seldom equal. */
const MOST_CHARACTERS = 200;

export class TextPool {
  readonly #mostTexts: number;
  readonly #texts = new Map<string, string>();

  /** `mostTexts` bounds the pool. A full pool forgets all texts; those that are frequent are soon there again. */
  constructor(mostTexts = Number.POSITIVE_INFINITY) {
    this.#mostTexts = mostTexts;
  }

  /** Replaces each text of a parsed value by the copy that the pool has, in place. Returns the value. */
  share<T>(value: T): T {
    this.#shareIn(value);
    return value;
  }

  #shareIn(value: unknown): void {
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        if (typeof value[i] === 'string') value[i] = this.#textOf(value[i]);
        else this.#shareIn(value[i]);
      }
    } else if (isRecord(value)) {
      const members = value as Record<string, unknown>;
      for (const key of Object.keys(members)) {
        const inner = members[key];
        if (typeof inner === 'string') members[key] = this.#textOf(inner);
        else this.#shareIn(inner);
      }
    }
  }

  #textOf(text: string): string {
    if (text.length > MOST_CHARACTERS) return text;
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size >= this.#mostTexts) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}

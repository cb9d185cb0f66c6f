/** How much one request may select: fragments, and `*.*` of the admin API, make a short text ask for a great many fields.
 *  Not here: how deep a document may be nested (validation.ts), what roles are held to besides (policy.ts). */
import { fail } from '../errors/engine-error.ts';

const MOST_FIELDS = 20_000;

export class SelectionSize {
  #fields = 0;

  /** Raises `tooManyFields`. */
  count(more: number): void {
    this.#fields += more;
    if (this.#fields > MOST_FIELDS) fail('tooManyFields', { most: MOST_FIELDS });
  }
}

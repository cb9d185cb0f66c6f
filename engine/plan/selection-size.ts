/** Limits the number of fields of one request: fragments, and `*.*` of the admin API, let a short text select very many. Not
 *  here: the depth of documents (validation.ts), the limits of a role (request-policy.ts). */
import { fail } from '../errors/engine-error.ts';

const MOST_FIELDS = 20_000;

export class SelectionSize {
  #fields = 0;

  /** Adds selected fields to the size. Raises `tooManyFields`. */
  count(more: number): void {
    this.#fields += more;
    if (this.#fields > MOST_FIELDS) fail('tooManyFields', { most: MOST_FIELDS });
  }
}

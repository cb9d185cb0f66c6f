/** Limits the work of planning one request: the fields that it selects, and the values that it gives as input. Fragments, `*.*` of the admin
 *  API, and variables that are used several times let a short text stand for very many. Not
 *  here: the depth of documents (validation.ts), the limits of a role (request-policy.ts). */
import { fail } from '../errors/engine-error.ts';
import { DEFAULT_BOUNDS, type RequestBounds } from '../resolve/request-policy.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';

/** The number of input values that a condition counts as: planning and printing it takes as long as twenty values of a row. */
export const CONDITION_WEIGHT = 20;
/** The number of input values that any other object counts as besides its values. */
export const OBJECT_WEIGHT = 2;

/** The number of input values that take as long as a field. */
const INPUTS_OF_FIELD = 10;

export class SelectionSize {
  readonly #most: RequestBounds;
  #fields = 0;

  constructor(most: RequestBounds = DEFAULT_BOUNDS) {
    this.#most = most;
  }

  get fields(): number {
    return this.#fields;
  }

  /** Leaves no room for further fields. */
  exhaust(): void {
    this.#fields = Number.POSITIVE_INFINITY;
  }

  /** Adds selected fields to the size. Raises `tooManyFields`. */
  count(more: number): void {
    this.#fields += more;
    const { mostFields } = this.#most;
    if (this.#fields > mostFields) fail('tooManyFields', { most: mostFields });
  }
}

/** Counts the input values of one request, which are not limited for administrators. */
export class InputSize {
  readonly #most: number;
  #values = 0;

  constructor({ mostInputs }: RequestBounds, role: string) {
    this.#most = role === ADMIN_ROLE ? Number.POSITIVE_INFINITY : mostInputs;
  }

  /** The values as a number of fields that take as long; 0 where they are not limited. */
  get asFields(): number {
    return Number.isFinite(this.#most) ? Math.floor(this.#values / INPUTS_OF_FIELD) : 0;
  }

  /** Adds input values to the size. Raises `tooManyInputs`. */
  count(more: number): void {
    this.#values += more;
    if (this.#values > this.#most) fail('tooManyInputs', { most: this.#most });
  }
}

/** A relationship between tables of one source in the model.
 *  Not here: relationships to other sources (table.ts), how it is resolved (resolve/relationship.ts). */
import type { Join } from '../predicate.ts';

export type ResolvedRelationship = {
  readonly kind: 'object' | 'array';
  readonly name: string;
  readonly join: Join;
  /** True when an object relationship may be null: a key column is nullable, or no foreign key guarantees the row. */
  readonly isNullable: boolean;
  /** The order of a nested insert. `before`: our columns take its values. `after`: its columns take ours. */
  readonly insertion: 'before' | 'after';
  /** The comment of the metadata; see descriptionOf (names.ts). */
  readonly comment: string | null;
};

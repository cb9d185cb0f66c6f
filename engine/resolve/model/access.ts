/** The types of a role's access to a table of the model.
 *  Not here: finding the access of a role (resolve/access.ts), how it is resolved (resolve/permission.ts). */
import type { Leaf, Predicate } from '../predicate.ts';
import type { InputValidation } from './webhook.ts';

/** The operations that a role may do with a table; null means none. */
export type TableAccess = {
  readonly select: SelectAccess | null;
  readonly insert: InsertAccess | null;
  readonly update: UpdateAccess | null;
  readonly delete: DeleteAccess | null;
};

/** Conditions on cells: columns by SQL name, computed fields by name. */
export type Cells = {
  readonly columns: ReadonlyMap<string, Predicate>;
  readonly computedFields: ReadonlyMap<string, Predicate>;
};

export type SelectAccess = {
  /** The SQL names of columns. */
  readonly columns: ReadonlySet<string>;
  /** The names of scalar computed fields; null means all. Those that return rows follow the permission of their table. */
  readonly computedFields: ReadonlySet<string> | null;
  /** Columns and computed fields that are visible only in rows that satisfy a condition, and null in others (inherited-roles.ts). */
  readonly cells: Cells;
  readonly filter: Predicate;
  readonly limit: number | null;
  readonly allowsAggregation: boolean;
  /** The ways to read at the root; null means all. */
  readonly queryRootFields: ReadonlySet<string> | null;
  readonly subscriptionRootFields: ReadonlySet<string> | null;
};

export type InsertAccess = {
  /** The columns that a client may give, without those with a preset. */
  readonly columns: ReadonlySet<string>;
  readonly check: Predicate;
  readonly presets: ReadonlyMap<string, Leaf>;
  readonly backendOnly: boolean;
  readonly validation?: InputValidation;
};

export type UpdateAccess = InsertAccess & { readonly filter: Predicate };

export type DeleteAccess = {
  readonly filter: Predicate;
  readonly backendOnly: boolean;
  readonly validation?: InputValidation;
};

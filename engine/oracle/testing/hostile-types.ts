/** The types of tables whose names are hostile. Not here: how they are made (hostile-world.ts). */

export type HostileColumn = {
  readonly name: string;
  /** In GraphQL. */
  readonly field: string;
  /** In Postgres; an enum or a domain has a hostile name as well. */
  readonly type: string;
  /** In GraphQL; null where it is spelled after a hostile name. */
  readonly scalar: string | null;
};

export type HostileTable = {
  readonly name: string;
  readonly field: string;
  readonly columns: readonly HostileColumn[];
  /** The name of the table's unique constraint, which `on_conflict` can use. */
  readonly constraint: string;
};

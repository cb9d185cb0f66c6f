/** An enum of the model, which is made of the rows of a table.
 *  Not here: how it is resolved (resolve/enum.ts). */

/** A GraphQL enum made of the rows of a table. */
export type ResolvedEnum = {
  readonly typeName: string;
  /** The name of the comparison type of its columns. */
  readonly comparisonName: string;
  /** `name` in GraphQL, `value` in the database: a naming convention may have them in capitals. */
  readonly values: readonly {
    readonly name: string;
    readonly value: string;
    readonly description: string | null;
  }[];
  readonly valueByName: ReadonlyMap<string, string>;
  /** True when some name differs from its value. */
  readonly isRespelled: boolean;
};

/** The types of data-query.js for its test. */
type Type = { readonly kind: string; readonly name: string | null; readonly ofType: Type | null };
type Field = {
  readonly name: string;
  readonly namespace?: string;
  readonly args: ReadonlyMap<string, string>;
};
type List = Field & { readonly isList: boolean; readonly orderArgument: string };

export const PAGE_ROWS: number;

/** Returns the rows of a page for a role whose requests have at most `limit` rows. */
export function pageRowsOf(limit: number | null | undefined): number;

/** Returns the request for a page of rows, and a function that finds the rows in its data. */
export function rowsQuery(view: {
  readonly table: List;
  readonly columns: readonly {
    readonly name: string;
    readonly operators: readonly { readonly name: string; readonly type: Type }[];
    readonly directions: { readonly asc: string; readonly desc: string } | undefined;
  }[];
  readonly keys: readonly string[];
  readonly through?: { readonly byKey: Field; readonly key: object; readonly field: List };
  readonly filters: readonly { readonly column: string; readonly operator: string; readonly text: string }[];
  readonly order: { readonly column: string; readonly direction: string } | null;
  readonly page: number;
  readonly pageRows?: number;
}): {
  readonly question: { readonly query: string; readonly variables: Readonly<Record<string, unknown>> };
  readonly rowsIn: (data: object) => readonly object[];
};

/** Returns why rows cannot be asked for with the filters; empty when they can. */
export function problemOf(
  filters: Parameters<typeof rowsQuery>[0]['filters'],
  columns: Parameters<typeof rowsQuery>[0]['columns'],
): string;

/** Returns the operand that a text means for a type. */
export function operandOf(type: Type, text: string): unknown;

/** The types of spec-value.js for the tests. */
export function shapeOf(schema: object): string;
export function fieldsIn(
  schema: object,
  value?: object,
): { readonly shown: string[]; readonly others: string[] };
export function emptyOf(schema: object): unknown;
export function entered(schema: object, value: unknown): unknown;
export function unreadableIn(schema: object, value: unknown): readonly string[];
export function problemsIn(schema: object, value: unknown): readonly string[];

/** Descriptions in the schema: what the metadata says of an object, else the database's comment, else the engine's words.
 *  Not here: whose words those are (names.ts, table.ts, function.ts). Source: docs/reference/behaviour/schema.md. */

/** An empty comment hides what there would be otherwise. */
export function describe(comment: string | null | undefined, otherwise: string | null): string | null {
  return (comment ?? otherwise) || null;
}

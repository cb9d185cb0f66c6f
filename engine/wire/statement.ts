/** What is sent and what comes back: a statement under a name, its values, its first row.
 *  Not here: bytes (encode.ts, decode.ts), where statements come from (execute/). */

export type NamedStatement = {
  /** Prepared under this name and kept; empty: parsed for this one run and forgotten. */
  readonly name: string;
  readonly text: string;
  /** It only reads: it may be asked again when its connection is lost, and may share a connection with others. */
  readonly isRead?: boolean;
  /** Its answer is the columns of all its rows, one row after the other, instead of those of the first. */
  readonly hasRows?: boolean;
  /** Milliseconds it keeps Postgres busy, a moving average; absent until it has followed another on a connection. */
  tookMs?: number;
};

/** A parameter in Postgres's text format; a list is an array. */
export type Value = string | Buffer | null | readonly Value[];

/** A column in Postgres's text format: text where it is short, otherwise its bytes, which nobody need decode. */
export type Column = string | Buffer | null;

/** The columns of a statement's first row, or of all where it says so; empty when there was no row. */
export type Row = readonly Column[];

/** The column as text, however long it is. */
export function textOfColumn(column: Column): string | null {
  return Buffer.isBuffer(column) ? column.toString('utf8') : column;
}

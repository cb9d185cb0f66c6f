/** The types of the wire: a named statement, its values, its first row.
 *  Not here: bytes (encode.ts, decode.ts), where statements come from (execute/). */

export type NamedStatement = {
  /** The name it is prepared and kept under; empty when it is parsed for one run. */
  readonly name: string;
  readonly text: string;
  /** True when it only reads: it may be sent again when its connection is lost. */
  readonly isRead?: boolean;
  /** True when it may be sent on a connection together with others, if it is known to be quick. */
  readonly mayShare?: boolean;
  /** True when the result is the columns of all rows, one row after the other, instead of those of the first row. */
  readonly hasRows?: boolean;
  /** The milliseconds it takes Postgres, as a moving average; absent until it has followed another statement on a
   *  connection. */
  tookMs?: number;
  /** The time at which it last failed in a new session as it had in an older one. */
  failedAfreshAt?: number;
};

/** A parameter in Postgres's text format; a list is an array. */
export type Value = string | Buffer | null | readonly Value[];

/** A column in Postgres's text format: short ones as text, long ones as bytes, because they are never decoded. */
export type Column = string | Buffer | null;

/** The columns of the first row, or of all rows with `hasRows`; empty when there was no row. */
export type Row = readonly Column[];

/** Returns the column as text, whatever its length. */
export function textOfColumn(column: Column): string | null {
  return Buffer.isBuffer(column) ? column.toString('utf8') : column;
}

/** Null elements of arrays where the database or the role has `array_nulls = off`, with which Postgres reads them as the text `NULL`. In:
 *  the values of a statement. Out: whether they may hold a null element, and the statement that switches the setting on until the transaction
 *  ends. A session that has answered that its setting is on never runs it again.
 *  Not here: when it is sent (connection.ts; database/pool.ts for the driver). PostgreSQL manual, "Version and Platform Compatibility". */

/** Switches the setting on until the end of the transaction. Returns a row without columns if it was off, and no row otherwise. */
export const READ_NULLS = `select from (select current_setting('array_nulls') as was offset 0) as s
  where case s.was when 'off' then set_config('array_nulls', 'on', true) = 'on' end`;

/** The tag of an answer with one row. */
const ONE_ROW = Buffer.from('SELECT 1\0');

/** True when the CommandComplete of READ_NULLS says that the setting was off. */
export function wasOff(bytes: Buffer, start: number, end: number): boolean {
  return bytes.subarray(start, end).equals(ONE_ROW);
}

/** True when a value is an array with a null element, or text that may be read as one. */
export function mayHoldNull(values: readonly unknown[]): boolean {
  return values.some((value) =>
    Array.isArray(value)
      ? value.includes(null) || mayHoldNull(value)
      : typeof value === 'string' && (value.length > MOST_SEARCHED || IN_TEXT.test(value)),
  );
}

/** The length of the texts that are searched. */
const MOST_SEARCHED = 1000;

/** An element `NULL`, in any case, in the text of an array: `{1,NULL}`, `[0:1]={null ,2}`. */
const IN_TEXT = /[{,;]\s*null\s*[},;]/i;

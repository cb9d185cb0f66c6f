/** What stands for a row when the question is only whether it has changed: its short columns, and a digest of long ones. A live query
 *  remembers this instead of the result itself. Not here: what a change means (poller.ts). */
import { hash } from 'node:crypto';
import type { Row } from '../wire/statement.ts';

/** Longer columns are remembered by their digest. */
const LONG = 256;

const known = new WeakMap<Row, string>();

/** Equal for equal columns. Nulls at the end count as absent: no row and a row of nulls say the same. */
export function fingerprintOf(row: Row): string {
  const fingerprint = known.get(row) ?? newFingerprint(row);
  known.set(row, fingerprint);
  return fingerprint;
}

function newFingerprint(row: Row): string {
  const last = row.findLastIndex((column) => column !== null);
  return JSON.stringify(
    row.slice(0, last + 1).map((column) => {
      if (column === null) return null;
      return column.length > LONG ? [hash('sha1', column, 'base64')] : String(column);
    }),
  );
}

/** Cuts the rows of an insert into as many statements as the protocol requires: it counts the parameters of a statement in 16
 *  bits (PostgreSQL manual, "Message Formats": Bind). Rows that all have the same columns take one parameter per column,
 *  however many rows there are. Other rows take one parameter per value and are cut into pieces. Not here: the statements
 *  (sql/write.ts). */
import { baseType } from '../catalog/types.ts';
import type { Insert } from './mutation-types.ts';

/** The most values in a piece; conditions and presets have parameters as well. */
const MOST_VALUES = 60_000;

/** True when the rows are sent as one array per column. A row that leaves a column to its default cannot be expressed that
 *  way, and nested arrays lose their bounds. */
export function isColumnwise({ columns, rows }: Pick<Insert, 'columns' | 'rows'>): boolean {
  return (
    rows.length > 1 &&
    columns.every(({ type }) => baseType(type).element === null) &&
    rows.every((row) => row.every((value) => value !== 'default'))
  );
}

/** Returns the insert, or several inserts that run one after the other and have the same effect. */
export function piecesOf(insert: Insert): readonly Insert[] {
  const { columns, rows } = insert;
  if (rows.length * columns.length <= MOST_VALUES || isColumnwise(insert)) return [insert];
  const size = Math.floor(MOST_VALUES / columns.length);
  const count = Math.ceil(rows.length / size);
  return Array.from({ length: count }, (_, i) => ({ ...insert, rows: rows.slice(i * size, (i + 1) * size) }));
}

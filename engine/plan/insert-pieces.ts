/** How the rows of an insert are sent, and in how many statements: the protocol counts a statement's parameters in 16 bits
 *  (PostgreSQL manual, "Message Formats": Bind). Rows of the same columns need a parameter a column, however many they are;
 *  others a parameter a value, and are cut into pieces that fit. Not here: the statements (sql/write.ts). */
import type { Insert } from './mutation-types.ts';

/** Values in a piece; conditions and presets have parameters, too. */
const MOST_VALUES = 60_000;

/** Are the rows sent as an array for each column? A row that leaves a column to its default cannot say so in one, and an
 *  array in an array loses its bounds. */
export function isColumnwise({ columns, rows }: Pick<Insert, 'columns' | 'rows'>): boolean {
  return (
    rows.length > 1 &&
    columns.every(({ type }) => type.element === null) &&
    rows.every((row) => row.every((value) => value !== 'default'))
  );
}

/** The insert, or several that do the same one after the other. */
export function piecesOf(insert: Insert): readonly Insert[] {
  const { columns, rows } = insert;
  if (rows.length * columns.length <= MOST_VALUES || isColumnwise(insert)) return [insert];
  const size = Math.floor(MOST_VALUES / columns.length);
  const count = Math.ceil(rows.length / size);
  return Array.from({ length: count }, (_, i) => ({ ...insert, rows: rows.slice(i * size, (i + 1) * size) }));
}

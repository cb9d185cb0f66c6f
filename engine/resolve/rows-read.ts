/** The rows that a condition on a row reads besides the row itself. In: a predicate. Out: the tables, and how it leads to them.
 *  Not here: columns (columns-read.ts). */
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Join, Predicate } from './predicate.ts';

/** `join` is present when a relationship leads from the row itself to the rows. */
export type ReadRows = { readonly table: QualifiedName; readonly join?: Join };

/** Returns the tables of relationships, `_exists` and aggregates; none for functions and for rows of other sources. */
export function rowsReadBy(predicate: Predicate, isOwn = true): readonly ReadRows[] {
  switch (predicate.kind) {
    case 'and':
      return predicate.all.flatMap((each) => rowsReadBy(each, isOwn));
    case 'or':
      return predicate.any.flatMap((each) => rowsReadBy(each, isOwn));
    case 'not':
      return rowsReadBy(predicate.not, isOwn);
    case 'barrier':
      return [...rowsReadBy(predicate.filter, isOwn), ...rowsReadBy(predicate.where, isOwn)];
    case 'related': {
      const { join, where } = predicate;
      if (join.from) return [];
      return [{ table: join.table, ...(isOwn ? { join } : {}) }, ...rowsReadBy(where, false)];
    }
    case 'exists':
      return [{ table: predicate.table }, ...rowsReadBy(predicate.where, false)];
    case 'called':
      return rowsReadBy(predicate.where, false);
    case 'compare':
    case 'is-null': {
      const { aggregate } = predicate.left;
      return aggregate?.join ? [{ table: aggregate.join.table }, ...rowsReadBy(aggregate.where, false)] : [];
    }
    default:
      return [];
  }
}

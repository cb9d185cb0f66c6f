/** What only a database knows about the document: where a relationship leads that names just the column it follows.
 *  Not here: dependents found with it (metadata/dependencies.ts). */
import type { Links } from '../metadata/dependencies.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { Model } from '../resolve/types.ts';

/** By a model; undefined for what is not in it. */
export function linksOf(model: Model): Links {
  return (source, table, relationship) =>
    model.sources.get(source)?.tables.get(qualifiedKey(table))?.relationships.get(relationship)?.join.table;
}

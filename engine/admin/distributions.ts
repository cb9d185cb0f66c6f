/** The distributions of the tracked tables of all Citus clusters, for the report that the operator reads. In: a model. Out: texts by the key of
 *  the table. Not here: those of all tables of a source (source-reads.ts). */
import { tableKey } from '../change/handlers/handler.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import { printRows } from '../resolve/distributions.ts';
import type { Model } from '../resolve/model/model.ts';

/** Returns the texts; none when no source is a cluster. */
export function printDistributions({ sources }: Pick<Model, 'sources'>): Readonly<Record<string, string>> {
  const texts = [...sources.values()].flatMap(({ name, tables, distributions }) => {
    if (!distributions) return [];
    return [...tables.values()].flatMap(({ table }) => {
      const text = printRows(distributions.get(qualifiedKey(table)));
      return text === undefined ? [] : [[tableKey({ source: name, table }), text] as const];
    });
  });
  return Object.fromEntries(texts);
}

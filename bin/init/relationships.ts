/** The relationships that the foreign keys of tracked tables suggest and that no relationship of the draft follows yet, each with the first
 *  of its names that is free in its table. In: a draft. Out: the draft with them. Pure.
 *  Not here: the possible names (relationship-names.ts). */
import type { CatalogTable } from '../../engine/catalog/types.ts';
import { type MetadataObject, objectKey } from '../../engine/metadata/index.ts';
import { qualifiedKey } from '../../engine/metadata/schema/common.ts';
import type { ResolvedTable } from '../../engine/resolve/types.ts';
import { type Draft, withAdditions } from './draft.ts';
import { type SuggestedRelationship, suggestRelationships } from './relationship-names.ts';
import { freeName, graphqlName, type Style, spell, styleOf } from './words.ts';

export function withRelationships(draft: Draft): Draft {
  const { source, wishes, selection, catalog } = draft;
  const tables = [...source.tables.keys()].flatMap((key) => {
    const table = catalog.tables.get(key);
    return table ? [[key, table] as const] : [];
  });
  const isSelected = (table: CatalogTable) => selection.tables.has(qualifiedKey(table));
  const enums = new Set([...source.tables].flatMap(([key, table]) => (table.enum ? [key] : [])));
  const style = styleOf(tables.flatMap(([, table]) => namesIn(table)));
  const taken = new Map<string, Set<string>>();
  const objects = suggestRelationships(new Map(tables), enums)
    .filter(({ table, target }) => isSelected(table) || isSelected(target))
    .filter((suggestion) => !isDeclared(source.tables.get(qualifiedKey(suggestion.table))!, suggestion))
    .map((suggestion): MetadataObject => {
      const { kind, table, names, using } = suggestion;
      const key = qualifiedKey(table);
      const used = taken.get(key) ?? fieldsOf(source.tables.get(key)!);
      const own = styleOf(namesIn(table), style);
      const name = firstFree(names, own, used);
      taken.set(key, used.add(name));
      return {
        key: objectKey(`${kind}_relationship`, wishes.source, table.schema, table.name, name),
        kind: `${kind}_relationship`,
        parent: objectKey('table', wishes.source, table.schema, table.name),
        definition: { name, using },
      };
    });
  return withAdditions(
    draft,
    objects.filter(({ key }) => !wishes.offered.has(key)),
  );
}

/** Returns the names whose style counts: those of the columns, else that of the table. */
function namesIn({ name, columns }: CatalogTable): readonly string[] {
  return [name, ...columns.map((column) => column.name)];
}

/** Returns the names of the fields of a table. */
function fieldsOf(table: ResolvedTable): Set<string> {
  return new Set([
    ...table.columnByName.keys(),
    ...table.columns.map(({ graphqlName: name }) => name),
    ...table.relationships.keys(),
    ...table.computedFields.keys(),
    ...(table.remoteRelationships?.keys() ?? []),
  ]);
}

/** True when the table has a relationship of any name along the same columns. */
function isDeclared(
  { relationships }: ResolvedTable,
  { target, mapping }: Pick<SuggestedRelationship, 'target' | 'mapping'>,
): boolean {
  const idOf = (columns: readonly (readonly [string, string])[]) => JSON.stringify(columns.toSorted());
  return [...relationships.values()].some(
    ({ join }) => qualifiedKey(join.table) === qualifiedKey(target) && idOf(join.mapping) === idOf(mapping),
  );
}

function firstFree(names: readonly (readonly string[])[], style: Style, taken: ReadonlySet<string>): string {
  const spelled = names.map((words) => graphqlName(spell(words, style), 'related'));
  return spelled.find((name) => !taken.has(name)) ?? freeName(spelled.at(-1) ?? 'related', taken);
}

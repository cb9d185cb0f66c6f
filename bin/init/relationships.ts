/** The relationships that the foreign keys of tracked tables and the keys of views suggest and that no relationship of the draft follows yet, each with the first
 *  of its names that is free in its table. In: a draft. Out: the draft with them. Pure.
 *  Not here: the possible names (relationship-names.ts). */
import type { CatalogTable } from '../../engine/catalog/types.ts';
import { type MetadataObject, objectKey } from '../../engine/metadata/index.ts';
import { qualifiedKey } from '../../engine/metadata/schema/common.ts';
import type { ResolvedTable } from '../../engine/resolve/model/table.ts';
import { type Draft, withAdditions } from './draft.ts';
import { type SuggestedRelationship, suggestRelationships } from './relationship-names.ts';
import { viewKeys } from './view-keys.ts';
import type { Origins } from './view-origins.ts';
import { freeName, graphqlName, type Style, spell, styleOf, wordsOf } from './words.ts';

export function withRelationships(draft: Draft, origins: Origins): Draft {
  const { source, wishes, selection, catalog } = draft;
  const tables = new Map(
    [...source.tables.keys()].flatMap((key) => {
      const table = catalog.tables.get(key);
      return table ? [[key, table] as const] : [];
    }),
  );
  const isSelected = (table: CatalogTable) => selection.tables.has(qualifiedKey(table));
  const enums = new Set([...source.tables].flatMap(([key, table]) => (table.enum ? [key] : [])));
  const styles = stylesOf([...tables.values()]);
  const taken = new Map<string, Set<string>>();
  const objects = suggestRelationships(tables, enums, viewKeys(tables, origins))
    .filter(({ table, target }) => isSelected(table) || isSelected(target))
    .filter((suggestion) => !isDeclared(source.tables.get(qualifiedKey(suggestion.table))!, suggestion))
    .map((suggestion): MetadataObject => {
      const { kind, table, names, using } = suggestion;
      const key = qualifiedKey(table);
      const used = taken.get(key) ?? fieldsOf(source.tables.get(key)!);
      const name = firstFree(names, styles(table), used);
      taken.set(key, used.add(name).add(inSnake(name)));
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

/** Returns a function that returns the style of a table's columns. Columns that fit several styles, such as `id` and `name`, have the style
 *  of their schema, else of the database. */
function stylesOf(tables: readonly CatalogTable[]): (table: CatalogTable) => Style {
  const columnsOf = (some: readonly CatalogTable[]) =>
    some.flatMap(({ columns }) => columns.map(({ name }) => name));
  const ofTables = styleOf(tables.map(({ name }) => name));
  const ofDatabase = styleOf(columnsOf(tables), ofTables);
  const bySchema = Map.groupBy(tables, ({ schema }) => schema);
  const ofSchema = new Map(
    [...bySchema].map(([schema, own]) => [schema, styleOf(columnsOf(own), ofDatabase)]),
  );
  return (table) => styleOf(columnsOf([table]), ofSchema.get(table.schema));
}

/** Returns the names of the fields of a table, each also in snake case: `a` and `A` would be hard to tell apart. */
function fieldsOf(table: ResolvedTable): Set<string> {
  const names = [
    ...table.columnByName.keys(),
    ...table.columns.map(({ graphqlName: name }) => name),
    ...table.relationships.keys(),
    ...table.computedFields.keys(),
    ...(table.remoteRelationships?.keys() ?? []),
  ];
  return new Set(names.flatMap((name) => [name, inSnake(name)]));
}

function inSnake(name: string): string {
  return spell(wordsOf(name), 'snake');
}

/** True when the table has a relationship of any name along the same columns. */
function isDeclared(
  { relationships }: ResolvedTable,
  { target, mapping }: Pick<SuggestedRelationship, 'target' | 'mapping'>,
): boolean {
  const idOf = (columns: readonly (readonly [string, string, ...unknown[]])[]) =>
    JSON.stringify(columns.map(([own, theirs]) => [own, theirs]).toSorted());
  return [...relationships.values()].some(
    ({ join }) => qualifiedKey(join.table) === qualifiedKey(target) && idOf(join.mapping) === idOf(mapping),
  );
}

function firstFree(names: readonly (readonly string[])[], style: Style, taken: ReadonlySet<string>): string {
  const spelled = names
    .filter((words) => words.length > 0)
    .map((words) => graphqlName(spell(words, style), 'related'));
  return (
    spelled.find((name) => !taken.has(name) && !taken.has(inSnake(name))) ??
    freeName(spelled.at(-1) ?? 'related', taken)
  );
}

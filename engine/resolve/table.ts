/** One tracked table: its columns, keys and names. In: the metadata of the table and its CatalogTable. Out: ResolvedTable; later
 *  steps (source.ts) add relationships and permissions.
 *  Not here: enum tables and the columns that refer to them (enum.ts), conflicts between tables (conflicts.ts). */

import { scalarOf } from '../catalog/scalars.ts';
import type { CatalogColumn, CatalogIndex, CatalogTable } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import { own } from '../metadata/own.ts';
import { printQualified, type QualifiedName } from '../metadata/schema/common.ts';
import type { Table, TableConfiguration } from '../metadata/schema/table.ts';
import { adminAccess } from './access.ts';
import type { ResolvedColumn } from './model/column.ts';
import type { ResolveOptions } from './model/options.ts';
import type { ResolvedTable } from './model/table.ts';
import { descriptionOf, isGraphqlName, namesOf } from './names.ts';
import { fieldName, type Naming } from './naming.ts';

/** Resolves a table. Raises `invalidConfiguration` when a name cannot be used. */
export function resolveTable(
  definition: Table,
  catalog: CatalogTable,
  source: string,
  naming: Naming,
  options: ResolveOptions,
): ResolvedTable {
  const { configuration } = definition;
  const { distribution } = catalog;
  const all = catalog.columns.map((column) => ({
    ...resolveColumn(column, configuration, naming, options),
    ...(distribution?.kind === 'distributed' && distribution.column === column.name ? { isFixed: true } : {}),
  }));
  const columnByName = new Map(all.map((column) => [column.name, column]));
  const columns = all.filter((column) => isGraphqlName(column.graphqlName));
  refuseSharedNames(columns);
  const keys = [...(catalog.primaryKey ? [catalog.primaryKey] : []), ...catalog.uniqueKeys];
  const operations = {
    isInsertable: catalog.isInsertable,
    isUpdatable: catalog.isUpdatable,
    isDeletable: catalog.isDeletable,
  };
  return {
    source,
    table: definition.table,
    ...namesOf(definition.table, configuration, naming),
    description: descriptionOf(configuration?.comment, catalog.comment ?? plainDescription(definition.table)),
    columns,
    columnByName,
    primaryKey: primaryKeyOf(catalog, columns),
    uniqueKeys: keys,
    conflictIndexes: (configuration?.conflict_indexes ?? []).map((name) => indexOf(catalog, name)),
    ...(definition.apollo_federation_config ? { isEntity: true } : {}),
    isPartitioned: catalog.kind === 'partitioned table',
    ...(catalog.isParent ? { isParent: true } : {}),
    relationships: new Map(),
    computedFields: new Map(),
    permissions: new Map(),
    adminAccess: adminAccess(columns, { ...operations, allowsAggregation: true }),
    ...operations,
  };
}

/** Returns the unique index, whose name becomes a value of an enum. Raises `invalidConfiguration`. */
function indexOf(catalog: CatalogTable, name: string): CatalogIndex {
  const index = catalog.uniqueIndexes.find((each) => each.name === name);
  if (index && isGraphqlName(name)) return index;
  const problem = index ? 'has a name that GraphQL cannot spell' : 'is no unique index of the table';
  const text = `"${name}" in conflict_indexes of table "${printQualified(catalog)}" ${problem}`;
  return fail('invalidConfiguration', { text });
}

function plainDescription(table: QualifiedName): string {
  return `columns and relationships of "${printQualified(table)}"`;
}

function resolveColumn(
  column: CatalogColumn,
  configuration: TableConfiguration | undefined,
  naming: Naming,
  options: ResolveOptions,
): ResolvedColumn {
  const { name, type, isNullable, hasDefault } = column;
  const configured = own(configuration?.column_config, name);
  const isDeclared = isNullable && configured?.nullable === false;
  const scalar = scalarOf(type);
  const isStringified = scalar.isStringifiable && options.stringifyNumericTypes;
  return {
    name,
    graphqlName:
      configured?.custom_name ?? own(configuration?.custom_column_names, name) ?? fieldName(naming, name),
    type,
    scalar,
    json: isStringified ? 'stringified' : scalar.json,
    isNullable: isNullable && !isDeclared,
    isDeclared,
    ...(column.isComputed ? { isComputed: true } : {}),
    hasDefault,
    isWritable: !column.isGenerated && column.identity !== 'always',
    description: descriptionOf(configured?.comment, column.comment),
  };
}

/** Returns the columns of the primary key; null when GraphQL cannot name one of them, because it would be an argument. */
function primaryKeyOf(
  catalog: CatalogTable,
  columns: readonly ResolvedColumn[],
): ResolvedTable['primaryKey'] {
  if (!catalog.primaryKey) return null;
  const key = catalog.primaryKey.columns.map((name) => columns.find((column) => column.name === name));
  return key.every((column) => column !== undefined) ? key : null;
}

function refuseSharedNames(columns: readonly ResolvedColumn[]): void {
  const owners = new Map<string, string>();
  for (const { name, graphqlName } of columns) {
    const other = owners.get(graphqlName);
    if (other !== undefined) {
      fail('invalidConfiguration', {
        text:
          `the definitions of columns "${other}" and "${name}" are in conflict: ` +
          `they are mapped to the same field name, "${graphqlName}"`,
      });
    }
    owners.set(graphqlName, name);
  }
}

/** Reads for tools that help to write metadata: the tables and functions of a database, relationships that foreign keys suggest, the
 *  state of this replica. Databases are introspected for each request, so that a table created a moment ago is included.
 *  Not here: the document (document-operations.ts). Reference: docs/reference/behaviour/metadata-api.md. */
import { printDistribution } from '../catalog/distribution.ts';
import type { Catalog, CatalogForeignKey, CatalogTable } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import { printQualified, type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import { SOURCE_KINDS, type Source } from '../metadata/schema/source.ts';
import type { Join } from '../resolve/predicate.ts';
import { printInconsistencies } from '../state/inconsistencies.ts';
import type { SourceCatalog } from '../state/snapshot.ts';
import { withSqlErrors } from '../state/sql-failure.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import type { Performer } from './request.ts';

export const listSourceKinds: Performer<'list_source_kinds'> = () => {
  const sources = Object.entries(SOURCE_KINDS).map(([kind, { name }]) => {
    return { kind, display_name: name, builtin: true, available: true };
  });
  return () => ({ sources });
};

/** Refuses every source kind, because no kind outside the engine is supported. Raises `notSupported`. */
export function getSourceKindCapabilities(
  _: UnitOfWork,
  { name }: ArgsOf<'get_source_kind_capabilities'>,
): never {
  return fail('notSupported', { text: `source kind "${name}" has no capabilities to tell` });
}

export const getSourceTables: Performer<'get_source_tables'> = async (work, args) => {
  const catalog = await catalogOf(work, work.requireSource(args.source));
  const tables = namesOf(catalog.tables.values()).map((name) => {
    const distribution = catalog.tables.get(qualifiedKey(name))?.distribution;
    return distribution ? { ...name, distribution: printDistribution(distribution) } : name;
  });
  return () => tables;
};

export const getSourceFunctions: Performer<'get_source_functions'> = async (work, args) => {
  const catalog = await catalogOf(work, work.requireSource(args.source));
  // All overloads of a function have the same name.
  const names = namesOf([...catalog.functions.values()].flatMap((overloads) => overloads.slice(0, 1)));
  return () => names;
};

/** Raises `sourceNotFound`, `tableNotInDatabase`. */
export const getTableInfo: Performer<'get_table_info'> = async (work, args) => {
  const catalog = await catalogOf(work, work.requireSource(args.source));
  const body = printTable(requireTable(catalog, args.table));
  return () => body;
};

/** Raises `sourceNotFound`, `tableNotInDatabase`, and `notSupported` for a table that is not a view. */
export const getViewDefinition: Performer<'get_viewdef_info'> = async (work, args) => {
  const source = work.requireSource(args.source);
  const { kind, oid, schema, name } = requireTable(await catalogOf(work, source), args.view);
  if (!kind.endsWith('view')) fail('notSupported', { text: `${printQualified(args.view)} is no view` });
  const text = 'select pg_get_viewdef($1::oid, true) as text';
  const found = await withSqlErrors(text, () => work.reader(source).query(text, [oid]));
  const body = { schema, name, definition: found.rows[0]?.text ?? null };
  return () => body;
};

/** Suggests relationships in both directions for every foreign key between tracked tables, or between `tables`. */
export const suggestRelationships: Performer<'suggest_relationships'> = async (work, args) => {
  const source = work.requireSource(args.source);
  const catalog = await catalogOf(work, source);
  const names = args.tables ?? source.tables.map(({ table }) => table);
  const wanted = new Map(names.map((table) => [qualifiedKey(table), table]));
  const relationships = [...wanted].flatMap(([key, table]) =>
    (catalog.tables.get(key)?.foreignKeys ?? [])
      .filter((foreign) => wanted.has(qualifiedKey(foreign.table)))
      .flatMap((foreign) => bothWays(table, foreign)),
  );
  const body = args.omit_tracked
    ? relationships.filter((one) => !isTracked(work, source, one))
    : relationships;
  return () => ({ relationships: body });
};

export const dumpInternalState: Performer<'dump_internal_state'> = (work) => {
  const { base } = work;
  const sources = [...base.catalogs].map(([name, catalog]) => ({
    name,
    ...printCatalog(work, name, catalog),
  }));
  const body = {
    id: base.id,
    resource_version: base.resourceVersion,
    versions: base.versions,
    sources,
    inconsistent_objects: printInconsistencies(base.inconsistencies, true),
  };
  return () => body;
};

function printCatalog(work: UnitOfWork, source: string, catalog: SourceCatalog): object {
  if ('error' in catalog) return { error: catalog.error };
  const model = work.base.model.sources.get(source);
  return {
    server_version: catalog.serverVersion,
    tables: catalog.tables.size,
    functions: catalog.functions.size,
    tracked_tables: [...(model?.tables.values() ?? [])].map(({ table }) => printQualified(table)),
  };
}

type Suggestion = {
  readonly type: 'object' | 'array';
  readonly from: Side;
  readonly to: Side;
};
type Side = {
  readonly table: QualifiedName;
  readonly columns: readonly string[];
  readonly constraint_name?: string;
};

function bothWays(table: QualifiedName, foreign: CatalogForeignKey): readonly Suggestion[] {
  const near: Side = { table, columns: foreign.columns, constraint_name: foreign.name };
  const far: Side = { table: foreign.table, columns: foreign.foreignColumns };
  return [
    { type: 'object', from: near, to: far },
    { type: 'array', from: far, to: near },
  ];
}

/** True when a relationship with any name maps the same columns. */
function isTracked(work: UnitOfWork, source: Source, { type, from, to }: Suggestion): boolean {
  const table = work.base.model.sources.get(source.name)?.tables.get(qualifiedKey(from.table));
  const means = ({ table: target, mapping }: Join) =>
    qualifiedKey(target) === qualifiedKey(to.table) &&
    mapping.length === from.columns.length &&
    mapping.every(([local, remote]) => to.columns[from.columns.indexOf(local)] === remote);
  return [...(table?.relationships.values() ?? [])].some((one) => one.kind === type && means(one.join));
}

/** Returns what the database declares about a table. */
export function printTable(table: CatalogTable): object {
  return {
    schema: table.schema,
    name: table.name,
    type: table.kind,
    description: table.comment,
    ...(table.distribution ? { distribution: printDistribution(table.distribution) } : {}),
    columns: table.columns.map((column) => ({
      name: column.name,
      type: column.type.name,
      nullable: column.isNullable,
      has_default: column.hasDefault,
      is_generated: column.isGenerated || column.identity === 'always',
      description: column.comment,
    })),
    primary_key: table.primaryKey?.columns ?? null,
    unique_keys: table.uniqueKeys.map(({ name, columns }) => ({ name, columns })),
    foreign_keys: table.foreignKeys.map(({ name, columns, table: foreign, foreignColumns }) => ({
      name,
      columns,
      foreign_table: foreign,
      foreign_columns: foreignColumns,
    })),
    insertable: table.isInsertable,
    updatable: table.isUpdatable,
    deletable: table.isDeletable,
  };
}

function namesOf(items: Iterable<QualifiedName>): readonly QualifiedName[] {
  const keyOf = ({ schema, name }: QualifiedName) => `${schema}\0${name}`;
  const names = [...items].map(({ schema, name }) => ({ schema, name }));
  return names.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function requireTable(catalog: Catalog, table: QualifiedName): CatalogTable {
  return (
    catalog.tables.get(qualifiedKey(table)) ?? fail('tableNotInDatabase', { table: printQualified(table) })
  );
}

async function catalogOf(work: UnitOfWork, source: Source): Promise<Catalog> {
  const catalog = await withSqlErrors('introspection', () => work.readCatalog(source));
  return 'error' in catalog ? fail('sourceUnreachable', { reason: catalog.error }) : catalog;
}

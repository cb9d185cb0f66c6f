/** Native queries: SQL of the administrator whose rows are read like rows of a view with arguments. The rows of a native query are
 *  a ResolvedTable with a name that no table can have, so everything that reads tables reads them too.
 *  In: the metadata of a source. Out: NativeTable, with relationships and permissions added in later steps.
 *  Not here: parsing the code (native-query-code.ts), checking it with Postgres (database/native-query.ts), one logical model
 *  (logical-model.ts), the order of the steps (resolve.ts).
 *  Reference: docs/reference/behaviour/functions.md. */
import { scalarOf } from '../catalog/scalars.ts';
import { typeByName } from '../catalog/type-names.ts';
import type { Catalog } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { NativeQuery, NativeRelationship } from '../metadata/schema/native-query.ts';
import type { ObjectRelationship } from '../metadata/schema/relationship.ts';
import type { Source } from '../metadata/schema/source.ts';
import { adminAccess } from './access.ts';
import { TakenNames } from './conflicts.ts';
import { emptySource, type PartialSource, type ResolveContext } from './context.ts';
import {
  Inconsistencies,
  logicalModelPermissionSubject,
  logicalModelSubject,
  nativeQuerySubject,
} from './inconsistency.ts';
import { type ResolvedLogicalModel, resolveLogicalModel, resolveModelPermission } from './logical-model.ts';
import { Memo } from './memo.ts';
import type { TableAccess } from './model/access.ts';
import type { NativeArgument, NativeRows } from './model/native-query.ts';
import type { ResolveOptions } from './model/options.ts';
import type { ResolvedRelationship } from './model/relationship.ts';
import type { ResolvedTable } from './model/table.ts';
import { isGraphqlName, nativeName, onlyRootField } from './names.ts';
import { namingOf, rootFieldName, typeName } from './naming.ts';
import { parseNativeQueryCode } from './native-query-code.ts';
import { type RelationshipTargets, resolveRelationship } from './relationship.ts';

export type NativeTable = ResolvedTable & { readonly native: NativeRows };

/** Resolves one native query. Raises `logicalModelNotFound`, `invalidConfiguration` or `nativeQueryInvalid`. */
function resolveNativeQuery(
  at: Pick<PartialSource, 'name' | 'naming' | 'catalog'>,
  definition: NativeQuery,
  models: ReadonlyMap<string, ResolvedLogicalModel>,
): NativeTable {
  const { name: source, catalog, naming } = at;
  const name = definition.root_field_name;
  if (!isGraphqlName(name)) refuse(`"${name}" is not a valid GraphQL identifier`);
  const model = models.get(definition.returns);
  if (!model) {
    const misnamed = { name: definition.returns, known: () => models.keys() };
    return fail('logicalModelNotFound', { name: definition.returns, source }, { misnamed });
  }
  const args = argumentsOf(definition, catalog);
  const code = parseNativeQueryCode(definition.code, new Set(args.map((argument) => argument.name)));
  refuseUnfilled(definition, model);
  return {
    ...rowsOf(at, model),
    table: nativeName(name),
    // Relationships belong to the query, so rows with relationships have a type of their own.
    typeName: typeName(naming, { verbatim: hasRelationships(definition) ? name : model.name }),
    rootFields: onlyRootField({
      name: rootFieldName(naming, name),
      description: definition.description || null,
    }),
    native: { code, arguments: args, model: model.name },
  };
}

/** Returns the rows of a logical model, which its permissions refer to. */
function rowsOf(
  { name: source, naming }: Pick<PartialSource, 'name' | 'naming'>,
  model: ResolvedLogicalModel,
): ResolvedTable {
  const operations = { isInsertable: false, isUpdatable: false, isDeletable: false };
  return {
    source,
    table: nativeName(model.name),
    naming,
    base: { verbatim: model.name },
    typeName: typeName(naming, { verbatim: model.name }),
    description: model.description,
    columns: model.columns,
    columnByName: new Map(model.columns.map((column) => [column.name, column])),
    primaryKey: null,
    uniqueKeys: [],
    conflictIndexes: [],
    isPartitioned: false,
    rootFields: onlyRootField({ name: model.name, description: null }),
    relationships: new Map(),
    computedFields: new Map(),
    permissions: new Map(),
    adminAccess: adminAccess(model.columns, { ...operations, allowsAggregation: false }),
    ...operations,
  };
}

function hasRelationships(query: NativeQuery): boolean {
  return (query.object_relationships ?? []).length + (query.array_relationships ?? []).length > 0;
}

/** Returns the relationship in the form that tables have. */
function asManual({ name, using, comment }: NativeRelationship): ObjectRelationship {
  const { remote_table, remote_native_query, column_mapping } = using;
  const target = {
    ...(remote_table ? { remote_table } : {}),
    ...(remote_native_query ? { remote_native_query } : {}),
  };
  return {
    name,
    using: { manual_configuration: { ...target, column_mapping } },
    ...(comment ? { comment } : {}),
  };
}

/** Returns a key that is equal for native queries for which PREPARE gives the same result. */
export function signatureOf({ native, columns }: NativeTable): string {
  const typed = ({ name, type }: { name: string; type: object }) => [name, type];
  return JSON.stringify([native.code, native.arguments.map(typed), columns.map(typed)]);
}

function argumentsOf(definition: NativeQuery, catalog: Catalog): readonly NativeArgument[] {
  return Object.entries(definition.arguments ?? {}).map(
    ([name, { type: written, nullable, description }]) => {
      const where = `argument "${name}" of native query "${definition.root_field_name}"`;
      if (!isGraphqlName(name)) refuse(`${where} is not a valid GraphQL identifier`);
      const type = typeByName(written, catalog);
      if (!type)
        return refuse(`${where} is of type "${written}", which the database does not have`, {
          behind: 'not-exists',
        });
      const text = description || `Native query argument ${name}`;
      return { name, type, scalar: scalarOf(type), isNullable: nullable ?? false, description: text };
    },
  );
}

/** Refuses a query without the relationship that a field of another model needs. */
function refuseUnfilled(definition: NativeQuery, model: ResolvedLogicalModel): void {
  for (const { field, kind } of model.references) {
    const list = kind === 'object' ? definition.object_relationships : definition.array_relationships;
    if (list?.some((relationship) => relationship.name === field)) continue;
    refuse(
      `native query "${definition.root_field_name}" has no ${kind} relationship "${field}" ` +
        `for the field of logical model "${model.name}"`,
    );
  }
}

function refuse(text: string, options: { readonly behind?: string } = {}): never {
  fail('invalidConfiguration', { text }, options);
}

type Tables = PartialSource['tables'];

/** Adds the logical models and the rows of native queries to a source, both without relationships and permissions. */
export function trackNativeQueries(
  at: PartialSource,
  names: TakenNames,
  { options, found }: Pick<ResolveContext, 'options' | 'found'>,
): PartialSource {
  const { source, catalog } = at;
  const declared = source.logical_models ?? [];
  const scope = { catalog, options, models: new Set(declared.map(({ name }) => name)) };
  const models = new Map<string, ResolvedLogicalModel>();
  for (const definition of declared) {
    const subject = logicalModelSubject(source.name, definition);
    const model = found.attempt(subject, () => resolveLogicalModel(definition, scope));
    if (model) models.set(model.name, model);
  }
  const nativeQueries = new Map<string, NativeTable>();
  for (const definition of source.native_queries ?? []) {
    const rows = found.attempt(nativeQuerySubject(source.name, definition), () => {
      const resolved = resolveNativeQuery(at, definition, models);
      const reason = catalog.preparedQueries.get(signatureOf(resolved));
      if (reason) fail('nativeQueryInvalid', { reason });
      const conflict = names.addNativeQuery(resolved, definition.returns, hasRelationships(definition));
      if (conflict) throw conflict;
      return resolved;
    });
    if (rows) nativeQueries.set(qualifiedKey(rows.table), rows);
  }
  return { ...at, models, nativeQueries };
}

/** Returns the native queries of a source that fit its metadata and catalog, for Postgres to check (database/native-query.ts). */
export function nativeQueriesOf(
  source: Source,
  catalog: Catalog,
  options: ResolveOptions,
): readonly NativeTable[] {
  const naming = namingOf(source.customization, options.namingConvention);
  const at = { ...emptySource(source, catalog), naming };
  const names = new TakenNames(new Set(options.features), new Memo());
  const { nativeQueries } = trackNativeQueries(at, names, { options, found: new Inconsistencies() });
  return [...nativeQueries.values()] as readonly NativeTable[];
}

/** Returns the rows of native queries with their relationships. A query whose relationship does not fit is left out, and so are
 *  the queries with a relationship to it. */
export function relateNativeQueries(at: PartialSource, found: Inconsistencies): Tables {
  const definitions = new Map(
    (at.source.native_queries ?? []).map((query) => [qualifiedKey(nativeName(query.root_field_name)), query]),
  );
  let left = at.nativeQueries;
  for (;;) {
    const targets = { source: at.name, tables: at.tables, nativeQueries: left, catalog: at.catalog };
    const related = new Map<string, ResolvedTable>();
    for (const [key, rows] of left) {
      const definition = definitions.get(key)!;
      const whole = found.attempt(nativeQuerySubject(at.name, definition), () => {
        return { ...rows, relationships: relationshipsOf(definition, rows, targets) };
      });
      if (whole) related.set(key, whole);
    }
    if (related.size === left.size) return related;
    left = new Map([...left].filter(([key]) => related.has(key)));
  }
}

function relationshipsOf(
  definition: NativeQuery,
  rows: ResolvedTable,
  targets: RelationshipTargets,
): ReadonlyMap<string, ResolvedRelationship> {
  const relationships = new Map<string, ResolvedRelationship>();
  for (const kind of ['object', 'array'] as const) {
    for (const relationship of definition[`${kind}_relationships`] ?? []) {
      const { name } = relationship;
      if (relationships.has(name))
        fail('fieldConflict', { table: rows.table.name, with: `relationship "${name}"` });
      relationships.set(name, resolveRelationship(kind, asManual(relationship), rows, targets));
    }
  }
  return relationships;
}

/** Returns the permissions of logical models, by model and role. */
export function modelPermissions(
  at: PartialSource,
  prefix: string | undefined,
  found: Inconsistencies,
): ReadonlyMap<string, ReadonlyMap<string, TableAccess>> {
  const { logical_models: definitions = [] } = at.source;
  return new Map(
    definitions.map(({ name, select_permissions: permissions = [] }) => {
      const model = at.models.get(name);
      const accesses = permissions.flatMap((permission): [string, TableAccess][] => {
        if (!model) return [];
        const subject = logicalModelPermissionSubject(at.name, name, permission);
        const select = found.attempt(subject, () => {
          const scope = { table: rowsOf(at, model), tables: at.tables, prefix, columnSets: new Map() };
          return resolveModelPermission(permission.permission, model, scope);
        });
        return select ? [[permission.role, { select, insert: null, update: null, delete: null }]] : [];
      });
      return [name, new Map(accesses)];
    }),
  );
}

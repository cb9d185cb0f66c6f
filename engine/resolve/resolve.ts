/** Metadata + catalogs → Model, in stages: sources, tables, names, native queries, relationships, permissions, roles, REST
 *  endpoints. Each stage sees only what the one before it kept. Never fails: what does not fit becomes an Inconsistency and is left out of the model, with
 *  everything that hangs on it.
 *  Not here yet, and neither in the model nor reported: remote relationships, remote schemas,
 *  actions, event triggers. */
import type { Catalog } from '../catalog/types.ts';
import { EngineError, fail } from '../errors/engine-error.ts';
import { cycleAmong, orderRoles } from '../metadata/inherited-roles.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { InheritedRole } from '../metadata/schema/policy.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import { NameSpace } from './conflicts.ts';
import { resolveEnum, withEnums } from './enum.ts';
import { resolveComputedField, resolveFunction } from './function.ts';
import { resolveGuards } from './guard.ts';
import {
  computedFieldSubject,
  functionSubject,
  Inconsistencies,
  inheritedConflict,
  inheritedRoleSubject,
  type PermissionKind,
  permissionSubject,
  relationshipSubject,
  sourceSubject,
  tableSubject,
} from './inconsistency.ts';
import type { ResolvedLogicalModel } from './logical-model.ts';
import { type Naming, namingOf } from './naming.ts';
import { modelPermissions, relateNativeQueries, trackNativeQueries } from './native-queries.ts';
import {
  type PermissionScope,
  resolveDelete,
  resolveInsert,
  resolveSelect,
  resolveUpdate,
} from './permission.ts';
import { resolveRelationship } from './relationship.ts';
import { resolveEndpoints } from './rest-endpoint.ts';
import { inheritAccess, withHeirs } from './role.ts';
import { ADMIN_ROLE } from './session.ts';
import { resolveTable, withFreeScalars } from './table.ts';
import type {
  Inconsistency,
  Model,
  ResolvedComputedField,
  ResolvedFunction,
  ResolvedRelationship,
  ResolvedTable,
  ResolveOptions,
  TableAccess,
} from './types.ts';

export type { ResolveOptions };

export type Resolution = { readonly model: Model; readonly inconsistencies: readonly Inconsistency[] };

/** `catalogs` by source name; `{error}` says why a source could not be asked. */
export function resolve(
  metadata: Metadata,
  catalogs: ReadonlyMap<string, Catalog | { readonly error: string }>,
  options: ResolveOptions,
): Resolution {
  const found = new Inconsistencies();
  const features = new Set(options.features);
  const names = new NameSpace(features);
  const roles = rolesOf(metadata);
  const reached = reachedSources(metadata.sources, catalogs, options, found);
  const tracked = reached.map((source) => trackTables(source, options, found));
  const distinct = tracked.flatMap((source) => withDistinctNames(source, names, found));
  const queried = distinct.map((source) => {
    return { ...source, ...trackNativeQueries(source, names, options, found) };
  });
  const typeNames = new Set(
    queried.flatMap(({ tables, nativeQueries }) =>
      [...tables.values(), ...nativeQueries.values()].map((table) => table.typeName),
    ),
  );
  const named = queried.map((source) => ({
    ...source,
    tables: mapValues(source.tables, (table) => withFreeScalars(table, typeNames)),
    nativeQueries: mapValues<ResolvedTable>(source.nativeQueries, (rows) => withFreeScalars(rows, typeNames)),
  }));
  const typed = named.map((source) => withEnumColumns(source, found));
  const related = typed.map((source) => withRelationships(source, found));
  const computed = related.map((source) => withComputedFields(source, options, found));
  const permitted = computed.map((source) => withPermissions(source, found));
  const heirs = heirsOf(metadata, roles, found);
  const inherited = permitted.map((source) => withInherited(source, heirs, found));
  const sources = inherited.map((source) => {
    const { name, naming, tables, nativeQueries } = source;
    const functions = mapValues(functionsOf(source, names, options, found), (fn) => {
      return { ...fn, roles: withHeirs(fn.roles, heirs) };
    });
    return [name, { name, naming, tables, nativeQueries, functions }] as const;
  });
  const guards = resolveGuards(metadata, options.enforcesAllowList ?? false);
  const routes = resolveEndpoints(metadata, (inconsistency) => found.all.push(inconsistency));
  return {
    model: { sources: new Map(sources), roles, features, guards, routes },
    inconsistencies: found.all,
  };
}

/** A source half-way: the tables that fitted so far, with what the metadata says of each. */
type PartialSource = {
  readonly name: string;
  readonly naming: Naming;
  readonly source: Source;
  readonly catalog: Catalog;
  /** By qualifiedKey. */
  readonly definitions: ReadonlyMap<string, Table>;
  readonly tables: ReadonlyMap<string, ResolvedTable>;
  /** By name. */
  readonly models: ReadonlyMap<string, ResolvedLogicalModel>;
  /** By qualifiedKey. */
  readonly nativeQueries: ReadonlyMap<string, ResolvedTable>;
};

const NOTHING_YET = {
  definitions: new Map(),
  tables: new Map(),
  models: new Map(),
  nativeQueries: new Map(),
};

function reachedSources(
  sources: readonly Source[],
  catalogs: ReadonlyMap<string, Catalog | { readonly error: string }>,
  { namingConvention }: ResolveOptions,
  found: Inconsistencies,
): readonly PartialSource[] {
  return sources.flatMap((source) => {
    const catalog = catalogs.get(source.name) ?? { error: 'not introspected' };
    if (!('error' in catalog)) {
      const naming = namingOf(source.customization, namingConvention);
      return [{ name: source.name, naming, source, catalog, ...NOTHING_YET }];
    }
    const error = new EngineError('sourceUnreachable', { source: source.name, reason: catalog.error });
    found.add(sourceSubject(source.name), error);
    return [];
  });
}

function trackTables(at: PartialSource, options: ResolveOptions, found: Inconsistencies): PartialSource {
  const definitions = new Map<string, Table>();
  const tables = new Map<string, ResolvedTable>();
  for (const definition of at.source.tables) {
    const key = qualifiedKey(definition.table);
    const name = printQualified(definition.table);
    const table = found.attempt(tableSubject(at.source.name, definition.table), () => {
      if (definitions.has(key)) fail('alreadyTracked', { table: name });
      const catalog = at.catalog.tables.get(key) ?? fail('tableNotInDatabase', { table: name });
      const table = resolveTable(at, definition, catalog, options);
      if (!definition.is_enum) return table;
      return { ...table, enum: resolveEnum(catalog, at.catalog.enumRows.get(key), table) };
    });
    if (!table) continue;
    definitions.set(key, definition);
    tables.set(key, table);
  }
  return { ...at, definitions, tables };
}

/** Of two that would define the same field or type, the later one gives way: a table, or a source with its namespace. */
function withDistinctNames(at: PartialSource, names: NameSpace, found: Inconsistencies): PartialSource[] {
  const { tables: listed, native_queries: queries = [] } = at.source;
  const taken = listed.length + queries.length > 0 ? names.addSource(at.name, at.naming) : null;
  if (taken) {
    found.add(sourceSubject(at.name), taken);
    return [];
  }
  const tables = new Map(
    [...at.tables].filter(([, table]) => {
      const conflict = names.addTable(table);
      if (conflict) found.add(tableSubject(table.source, table.table), conflict);
      return conflict === null;
    }),
  );
  return [{ ...at, tables }];
}

function withEnumColumns(at: PartialSource, found: Inconsistencies): PartialSource {
  const tables = new Map<string, ResolvedTable>();
  for (const [key, table] of at.tables) {
    const subject = tableSubject(table.source, table.table);
    const typed = found.attempt(subject, () => withEnums(table, at.tables, at.catalog));
    if (typed) tables.set(key, typed);
  }
  return { ...at, tables };
}

function withRelationships(at: PartialSource, found: Inconsistencies): PartialSource {
  const nativeQueries = relateNativeQueries(at, found);
  const around = { source: at.source.name, tables: at.tables, nativeQueries, catalog: at.catalog };
  const tables = new Map<string, ResolvedTable>();
  for (const [key, table] of at.tables) {
    const definition = at.definitions.get(key)!;
    const relationships = new Map<string, ResolvedRelationship>();
    for (const kind of ['object', 'array'] as const) {
      for (const relationship of definition[`${kind}_relationships`] ?? []) {
        const subject = relationshipSubject(kind, table.source, table.table, relationship);
        const resolved = found.attempt(subject, () => {
          if (relationships.has(relationship.name)) {
            const other = `relationship "${relationship.name}"`;
            fail('fieldConflict', { table: printQualified(table.table), with: other });
          }
          return resolveRelationship(kind, relationship, table, around);
        });
        if (resolved) relationships.set(relationship.name, resolved);
      }
    }
    tables.set(key, { ...table, relationships });
  }
  return { ...at, tables, nativeQueries };
}

function withComputedFields(
  at: PartialSource,
  options: ResolveOptions,
  found: Inconsistencies,
): PartialSource {
  const around = { catalog: at.catalog, tables: at.tables, options };
  const tables = new Map(at.tables);
  for (const [key, table] of at.tables) {
    const declared = at.definitions.get(key)!.computed_fields ?? [];
    if (declared.length === 0) continue;
    const computedFields = new Map<string, ResolvedComputedField>();
    for (const field of declared) {
      const resolved = found.attempt(computedFieldSubject(table.source, table.table, field), () => {
        if (table.relationships.has(field.name)) {
          const other = `relationship "${field.name}"`;
          fail('fieldConflict', { table: printQualified(table.table), with: other });
        }
        return resolveComputedField(table, field, around);
      });
      if (resolved) computedFields.set(field.name, resolved);
    }
    tables.set(key, { ...table, computedFields });
  }
  return { ...at, tables };
}

/** By qualifiedKey. */
function functionsOf(
  at: PartialSource,
  names: NameSpace,
  options: ResolveOptions,
  found: Inconsistencies,
): ReadonlyMap<string, ResolvedFunction> {
  const around = { catalog: at.catalog, tables: at.tables, options };
  const functions = new Map<string, ResolvedFunction>();
  for (const definition of at.source.functions ?? []) {
    const subject = functionSubject(at.source.name, definition);
    const resolved = found.attempt(subject, () => resolveFunction(at.source.name, definition, around));
    if (!resolved) continue;
    const conflict = names.addFunction(resolved, at.naming);
    if (conflict) found.add(subject, conflict);
    else functions.set(qualifiedKey(definition.function), resolved);
  }
  return functions;
}

function withPermissions(at: PartialSource, found: Inconsistencies): PartialSource {
  const namesOf = ({ remote_relationships: all = [] }: Table) => new Set(all.map(({ name }) => name));
  const around = { tables: at.tables, remote: mapValues(at.definitions, namesOf) };
  const tables = new Map<string, ResolvedTable>();
  for (const [key, table] of at.tables) {
    const definition = at.definitions.get(key)!;
    tables.set(key, { ...table, permissions: permissionsOf(definition, table, around, found) });
  }
  const ofModels = modelPermissions(at, found);
  const nativeQueries = mapValues(at.nativeQueries, (rows) => {
    return { ...rows, permissions: ofModels.get(rows.native!.model) ?? rows.permissions };
  });
  return { ...at, tables, nativeQueries };
}

function permissionsOf(
  definition: Table,
  table: ResolvedTable,
  around: Omit<PermissionScope, 'table'>,
  found: Inconsistencies,
): ReadonlyMap<string, TableAccess> {
  const scope: PermissionScope = { table, ...around };
  /** By role; a role's first permission of a kind counts. */
  const every = <P extends Permission, A>(
    kind: PermissionKind,
    permissions: readonly P[] | undefined,
    resolveRule: (rule: P['permission'], scope: PermissionScope) => A,
  ): ReadonlyMap<string, A> => {
    const accesses = new Map<string, A>();
    for (const permission of permissions ?? []) {
      const subject = permissionSubject(kind, table.source, table.table, permission);
      const access = found.attempt(subject, () => resolveRule(permission.permission, scope));
      if (access && !accesses.has(permission.role)) accesses.set(permission.role, access);
    }
    return accesses;
  };
  const select = every('select', definition.select_permissions, resolveSelect);
  const insert = every('insert', definition.insert_permissions, resolveInsert);
  const update = every('update', definition.update_permissions, resolveUpdate);
  const remove = every('delete', definition.delete_permissions, resolveDelete);
  const roles = new Set([...select.keys(), ...insert.keys(), ...update.keys(), ...remove.keys()]);
  return new Map(
    [...roles].map((role): [string, TableAccess] => [
      role,
      {
        select: select.get(role) ?? null,
        insert: (table.isInsertable && insert.get(role)) || null,
        update: (table.isUpdatable && update.get(role)) || null,
        delete: (table.isDeletable && remove.get(role)) || null,
      },
    ]),
  );
}

/** Roles that inherit, parents first; not those with a parent nobody knows, nor those in a cycle. */
function heirsOf(
  metadata: Metadata,
  roles: ReadonlySet<string>,
  found: Inconsistencies,
): readonly InheritedRole[] {
  const { ordered, stuck } = orderRoles(metadata.inherited_roles ?? []);
  for (const role of stuck) {
    found.add(inheritedRoleSubject(role), new EngineError('cyclicRoles', { roles: cycleAmong(stuck) }));
  }
  return ordered.filter((role) => {
    const missing = role.role_set.filter((parent) => !roles.has(parent) || parent === ADMIN_ROLE);
    if (missing.length === 0) return true;
    const error = new EngineError('parentRolesNotFound', { roles: missing, role: role.role_name });
    found.add(inheritedRoleSubject(role), error);
    return false;
  });
}

function withInherited(
  at: PartialSource,
  heirs: readonly InheritedRole[],
  found: Inconsistencies,
): PartialSource {
  if (heirs.length === 0) return at;
  const tables = mapValues(at.tables, (table) => {
    const definition = at.definitions.get(qualifiedKey(table.table))!;
    const permissions = inheritAccess(table.permissions, {
      heirs,
      hasOwn: (role, kind) => definition[`${kind}_permissions`]?.some((own) => own.role === role) ?? false,
      onConflict: (role, permission_type) => {
        const entity = { permission_type, source: at.name, table: printQualified(table.table) };
        found.all.push(inheritedConflict(role, entity));
      },
    });
    return { ...table, permissions };
  });
  const models = at.source.logical_models ?? [];
  const nativeQueries = mapValues(at.nativeQueries, (rows) => {
    const own = models.find(({ name }) => name === rows.native!.model)?.select_permissions ?? [];
    const hasOwn = (role: string) => own.some((permission) => permission.role === role);
    return { ...rows, permissions: inheritAccess(rows.permissions, { heirs, hasOwn, onConflict: () => {} }) };
  });
  return { ...at, tables, nativeQueries };
}

type Permission = {
  readonly role: string;
  readonly permission: object;
  readonly comment?: string | null;
};

/** Also of objects that do not resolve: such a role exists, with an empty schema. */
function rolesOf(metadata: Metadata): ReadonlySet<string> {
  const roles = new Set([ADMIN_ROLE, ...(metadata.inherited_roles ?? []).map(({ role_name }) => role_name)]);
  for (const { permissions } of [...(metadata.actions ?? []), ...(metadata.remote_schemas ?? [])])
    for (const { role } of permissions ?? []) roles.add(role);
  for (const source of metadata.sources) {
    for (const model of source.logical_models ?? [])
      for (const { role } of model.select_permissions ?? []) roles.add(role);
    for (const fn of source.functions ?? []) for (const { role } of fn.permissions ?? []) roles.add(role);
    for (const table of source.tables) {
      for (const kind of ['select', 'insert', 'update', 'delete'] as const) {
        for (const permission of table[`${kind}_permissions`] ?? []) roles.add(permission.role);
      }
    }
  }
  return roles;
}

function mapValues<T, U = T>(map: ReadonlyMap<string, T>, change: (value: T) => U): ReadonlyMap<string, U> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}

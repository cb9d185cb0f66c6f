/** What of one source fits, stage by stage: its tables, their names, enums, relationships, computed fields, permissions; its
 *  functions. In and out: a PartialSource; what does not fit becomes an Inconsistency and is left out.
 *  Not here: the order of the stages (resolve.ts), one object (table.ts, relationship.ts, …), native queries
 *  (native-queries.ts), what roles inherit (heirs.ts). */
import type { Catalog } from '../catalog/types.ts';
import { EngineError, fail } from '../errors/engine-error.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import { TakenNames } from './conflicts.ts';
import { resolveEnum, withEnums } from './enum.ts';
import { resolveComputedField, resolveFunction } from './function.ts';
import {
  computedFieldSubject,
  functionSubject,
  type Inconsistencies,
  type PermissionKind,
  permissionSubject,
  relationshipSubject,
  sourceSubject,
  tableSubject,
} from './inconsistency.ts';
import type { ResolvedLogicalModel } from './logical-model.ts';
import { mapValues } from './map-values.ts';
import { Memo } from './memo.ts';
import { type Naming, namingOf } from './naming.ts';
import { modelPermissions, relateNativeQueries } from './native-queries.ts';
import {
  type PermissionScope,
  resolveDelete,
  resolveInsert,
  resolveSelect,
  resolveUpdate,
} from './permission.ts';
import { resolveRelationship, type Surroundings } from './relationship.ts';
import { resolveTable } from './table.ts';
import { takeTableNames } from './table-names.ts';
import type {
  ResolvedComputedField,
  ResolvedFunction,
  ResolvedRelationship,
  ResolvedTable,
  ResolveOptions,
  TableAccess,
  Unreached,
} from './types.ts';
import type { VariableRules } from './variables.ts';

/** A source half-way: the tables that fitted so far, with what the metadata says of each. */
export type PartialSource = {
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

export function reachedSources(
  sources: readonly Source[],
  catalogs: ReadonlyMap<string, Catalog | Unreached>,
  { namingConvention }: ResolveOptions,
  found: Inconsistencies,
): readonly PartialSource[] {
  return sources.flatMap((source) => {
    const catalog: Catalog | Unreached = catalogs.get(source.name) ?? { error: 'not introspected' };
    if (!('error' in catalog)) {
      if (catalog.lost !== undefined) {
        const error = new EngineError('sourceUnreachable', { source: source.name, reason: catalog.lost });
        found.add(sourceSubject(source.name), error);
      }
      const naming = namingOf(source.customization, namingConvention);
      return [{ name: source.name, naming, source, catalog, ...NOTHING_YET }];
    }
    const { error: reason, fault } = catalog;
    const error = fault ?? new EngineError('sourceUnreachable', { source: source.name, reason });
    found.add(sourceSubject(source.name), error);
    return [];
  });
}

/** Its qualifiedKey, made once. */
function keyOf(definition: Table): string {
  const key = keys.get(definition) ?? qualifiedKey(definition.table);
  keys.set(definition, key);
  return key;
}

const keys = new WeakMap<Table, string>();

export function trackTables(
  at: PartialSource,
  options: ResolveOptions,
  found: Inconsistencies,
): PartialSource {
  const definitions = new Map<string, Table>();
  const tables = new Map<string, ResolvedTable>();
  for (const definition of at.source.tables) {
    const key = keyOf(definition);
    const name = () => printQualified(definition.table);
    const subject = () => tableSubject(at.source.name, definition.table);
    const table = found.attempt(subject, () => {
      if (definitions.has(key)) fail('alreadyTracked', { table: name() });
      const catalog = at.catalog.tables.get(key) ?? fail('tableNotInDatabase', { table: name() });
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
export function withDistinctNames(
  sources: readonly PartialSource[],
  options: ResolveOptions,
  found: Inconsistencies,
): { readonly names: TakenNames; readonly sources: readonly PartialSource[] } {
  const together = takeTableNames(
    sources.flatMap(({ tables }) => [...tables.values()]),
    options,
  );
  if (together && sources.every((at) => !takeNamespace(at, together))) return { names: together, sources };
  const names = new TakenNames(new Set(options.features));
  return { names, sources: sources.flatMap((at) => withNamesLeft(at, names, found)) };
}

function takeNamespace({ name, naming, source }: PartialSource, names: TakenNames): EngineError | null {
  const isEmpty = source.tables.length + (source.native_queries ?? []).length === 0;
  return isEmpty ? null : names.addSource(name, naming);
}

function withNamesLeft(at: PartialSource, names: TakenNames, found: Inconsistencies): PartialSource[] {
  const taken = takeNamespace(at, names);
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

export function withEnumColumns(at: PartialSource, found: Inconsistencies): PartialSource {
  if (![...at.tables.values()].some((table) => table.enum)) return at;
  const tables = new Map<string, ResolvedTable>();
  for (const [key, table] of at.tables) {
    const subject = tableSubject(table.source, table.table);
    const typed = found.attempt(subject, () => withEnums(table, at.tables, at.catalog));
    if (typed) tables.set(key, typed);
  }
  return { ...at, tables };
}

const relatedBefore = new Memo<ResolvedTable, ResolvedTable, ResolvedTable>();

export function withRelationships(at: PartialSource, found: Inconsistencies): PartialSource {
  const nativeQueries = relateNativeQueries(at, found);
  const { catalog } = at;
  const tables = new Map<string, ResolvedTable>();
  for (const [key, table] of at.tables) {
    const definition = at.definitions.get(key)!;
    const maps = [at.tables, nativeQueries];
    const related = relatedBefore.of(table, [definition, catalog], maps, found, (tables, nativeQueries) => {
      const around = { source: at.source.name, tables: tables!, nativeQueries: nativeQueries!, catalog };
      return { ...table, relationships: relationshipsOf(definition, table, around, found) };
    });
    tables.set(key, related);
  }
  return { ...at, tables, nativeQueries };
}

function relationshipsOf(
  definition: Table,
  table: ResolvedTable,
  around: Surroundings,
  found: Inconsistencies,
): ResolvedTable['relationships'] {
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
  return relationships;
}

export function withComputedFields(
  at: PartialSource,
  names: TakenNames,
  options: ResolveOptions,
  found: Inconsistencies,
): PartialSource {
  const isDeclared = ({ computed_fields: all = [] }: Table) => all.length > 0;
  if (!at.source.tables.some(isDeclared)) return at;
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
        const made = resolveComputedField(table, field, around);
        const conflict = names.addComputedField(table, made);
        if (conflict) throw conflict;
        return made;
      });
      if (resolved) computedFields.set(field.name, resolved);
    }
    tables.set(key, { ...table, computedFields });
  }
  return { ...at, tables };
}

/** By qualifiedKey. */
export function functionsOf(
  at: PartialSource,
  names: TakenNames,
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

const permittedBefore = new Memo<ResolvedTable, ResolvedTable, ResolvedTable>();

export function withPermissions(
  at: PartialSource,
  { variables, prefix }: { readonly variables: VariableRules; readonly prefix: string | undefined },
  found: Inconsistencies,
): PartialSource {
  const remote = {
    get: (key: string) => new Set(at.definitions.get(key)?.remote_relationships?.map(({ name }) => name)),
  };
  const tables = new Map<string, ResolvedTable>();
  for (const [key, table] of at.tables) {
    const definition = at.definitions.get(key)!;
    const permitted = permittedBefore.of(
      table,
      [definition, variables.identity],
      [at.tables],
      found,
      (tables) => {
        const around = { tables: tables!, remote, prefix };
        return { ...table, permissions: permissionsOf(definition, table, { ...around, variables }, found) };
      },
    );
    tables.set(key, permitted);
  }
  const ofModels = modelPermissions({ ...at, prefix }, found);
  const nativeQueries = mapValues(at.nativeQueries, (rows) => {
    return { ...rows, permissions: ofModels.get(rows.native!.model) ?? rows.permissions };
  });
  return { ...at, tables, nativeQueries };
}

type Permission = {
  readonly role: string;
  readonly permission: object;
  readonly comment?: string | null;
};

function permissionsOf(
  definition: Table,
  table: ResolvedTable,
  { variables, ...around }: Omit<PermissionScope, 'table'> & { readonly variables: VariableRules },
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
      const access = found.attempt(subject, () => {
        variables.require(`${kind}_permission`, permission);
        return resolveRule(permission.permission, scope);
      });
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

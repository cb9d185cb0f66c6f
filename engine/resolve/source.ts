/** The steps that resolve one source: its tables, their names, enums, relationships, computed fields and permissions, and its
 *  functions. In and out: a PartialSource. What does not fit is reported as an inconsistency and left out. The long ones yield after each table.
 *  Not here: the order of the steps (resolve.ts), one object (table.ts, relationship.ts, …), native queries (native-query.ts),
 *  inherited permissions (inherited-roles.ts). */
import type { Catalog } from '../catalog/types.ts';
import { EngineError, fail } from '../errors/engine-error.ts';
import { printQualified, type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { RemoteRelationship } from '../metadata/schema/relationship.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import type { Steps } from '../metadata/steps.ts';
import { refuseAggregateName, refuseAggregateOf } from './aggregate-fields.ts';
import { TakenNames, takeTableNames } from './conflicts.ts';
import { emptySource, mapValues, type PartialSource, type ResolveContext } from './context.ts';
import { resolveEnum, withEnums } from './enum.ts';
import type { VariableRules } from './environment-variables.ts';
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
import type { Lookup } from './memo.ts';
import type { TableAccess } from './model/access.ts';
import type { ResolvedComputedField, ResolvedFunction } from './model/function.ts';
import type { Unreached } from './model/inconsistency.ts';
import type { ResolvedRelationship } from './model/relationship.ts';
import type { ResolvedTable } from './model/table.ts';
import { namingOf } from './naming.ts';
import { modelPermissions, relateNativeQueries } from './native-query.ts';
import {
  type PermissionScope,
  resolveDelete,
  resolveInsert,
  resolveSelect,
  resolveUpdate,
} from './permission.ts';
import { and } from './predicate.ts';
import { resolveRelationship } from './relationship.ts';
import { resolveTable } from './table.ts';

const NO_CUSTOMIZATION = {};

/** Returns the sources that have a catalog; each of the others is an inconsistency. */
export function reachedSources(
  sources: readonly Source[],
  catalogs: ReadonlyMap<string, Catalog | Unreached>,
  { options, memo, found }: ResolveContext,
): readonly PartialSource[] {
  return sources.flatMap((source) => {
    const { name } = source;
    const catalog: Catalog | Unreached = catalogs.get(name) ?? { error: 'not introspected' };
    const reason = 'error' in catalog ? catalog.error : catalog.lost;
    const { fault, lacks }: Partial<Unreached> = 'error' in catalog ? catalog : {};
    if (reason !== undefined) {
      const unreachable = new EngineError('sourceUnreachable', { reason }, [], undefined, { lacks });
      found.add(sourceSubject(name), fault ?? unreachable);
    }
    if ('error' in catalog) return [];
    const naming = memo.of(namingOf, source.customization ?? NO_CUSTOMIZATION, options.namingConvention);
    return [{ ...emptySource(source, catalog), naming }];
  });
}

function notInDatabase(table: QualifiedName, { tables }: Catalog): never {
  const name = printQualified(table);
  const known = () => [...tables.values()].map(printQualified);
  return fail('tableNotInDatabase', { table: name }, { misnamed: { name, known } });
}

const keyOf = ({ table }: Table): string => qualifiedKey(table);

export function* trackTables(
  at: PartialSource,
  { options, memo, found }: ResolveContext,
): Steps<PartialSource> {
  const definitions = new Map<string, Table>();
  const tables = new Map<string, ResolvedTable>();
  for (const definition of at.source.tables) {
    const key = memo.of(keyOf, definition);
    const name = () => printQualified(definition.table);
    const subject = () => tableSubject({ source: at.name, table: definition.table });
    const table = found.attempt(subject, () => {
      if (definitions.has(key)) fail('alreadyTracked', { table: name() });
      const catalog = at.catalog.tables.get(key) ?? notInDatabase(definition.table, at.catalog);
      const table = memo.of(resolveTable, definition, catalog, at.name, at.naming, options);
      if (!definition.is_enum) return table;
      if (table.isUnnameable) {
        const text = `"${table.typeName}" is not a valid GraphQL identifier, so the table "${name()}" cannot be an enum`;
        fail('invalidConfiguration', { text });
      }
      return { ...table, enum: resolveEnum(catalog, at.catalog.enumRows.get(key), table) };
    });
    if (!table) continue;
    definitions.set(key, definition);
    tables.set(key, table);
    yield;
  }
  return { ...at, definitions, tables };
}

/** Removes each table and each source with a namespace whose field or type an earlier one defines already. */
export function* withDistinctNames(
  sources: readonly PartialSource[],
  { features, memo, found }: ResolveContext,
): Steps<{ readonly names: TakenNames; readonly sources: readonly PartialSource[] }> {
  const tables = sources.flatMap((at) => [...at.tables.values()]);
  const together = yield* takeTableNames(tables, features, memo);
  if (together && sources.every((at) => !takeNamespace(at, together))) return { names: together, sources };
  const names = new TakenNames(features, memo);
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
      if (conflict) found.add(tableSubject(table), conflict);
      return conflict === null;
    }),
  );
  return [{ ...at, tables }];
}

export function withEnumColumns(at: PartialSource, { found }: ResolveContext): PartialSource {
  if (![...at.tables.values()].some((table) => table.enum)) return at;
  const tables = new Map<string, ResolvedTable>();
  for (const [key, table] of at.tables) {
    const subject = tableSubject(table);
    const typed = found.attempt(subject, () => withEnums(table, at.tables, at.catalog));
    if (typed) tables.set(key, typed);
  }
  return { ...at, tables };
}

export function* withRelationships(at: PartialSource, { memo, found }: ResolveContext): Steps<PartialSource> {
  const nativeQueries = relateNativeQueries(at, found);
  const maps = [at.tables, nativeQueries] as const;
  const tables = new Map<string, ResolvedTable>();
  for (const [key, table] of at.tables) {
    const inputs = [at.definitions.get(key)!, at.catalog] as const;
    tables.set(key, memo.ofLookups(relateTable, table, inputs, maps, found));
    yield;
  }
  return { ...at, tables, nativeQueries };
}

type Tables = Lookup<ResolvedTable>;

function relateTable(
  table: ResolvedTable,
  [definition, catalog]: readonly [Table, Catalog],
  [tables, nativeQueries]: readonly [Tables, Tables],
  found: Inconsistencies,
): ResolvedTable {
  const targets = { source: table.source, tables, nativeQueries, catalog };
  const relationships = new Map<string, ResolvedRelationship>();
  const related = { ...table, relationships };
  for (const kind of ['object', 'array'] as const) {
    for (const relationship of definition[`${kind}_relationships`] ?? []) {
      const subject = relationshipSubject(kind, table, relationship);
      const resolved = found.attempt(subject, () => {
        refuseRelationshipName(relationship.name, table, relationships);
        refuseAggregateName(relationship.name, related);
        const resolved = resolveRelationship(kind, relationship, table, targets);
        // Rows of native queries have no aggregates.
        const isAggregated = kind === 'array' && tables.get(qualifiedKey(resolved.join.table)) !== undefined;
        if (isAggregated) refuseAggregateOf(relationship.name, related);
        return resolved;
      });
      if (resolved) relationships.set(relationship.name, resolved);
    }
  }
  return related;
}

/** Raises `fieldConflict` when a relationship of the table has the name. */
function refuseRelationshipName(
  name: string,
  { table }: ResolvedTable,
  relationships: ResolvedTable['relationships'],
): void {
  if (!relationships.has(name)) return;
  fail('fieldConflict', { table: printQualified(table), with: `relationship "${name}"` });
}

export function withComputedFields(
  at: PartialSource,
  names: TakenNames,
  { options, found }: ResolveContext,
): PartialSource {
  const isDeclared = ({ computed_fields: all = [] }: Table) => all.length > 0;
  if (!at.source.tables.some(isDeclared)) return at;
  const tables = new Map(at.tables);
  for (const [key, table] of at.tables) {
    const declared = at.definitions.get(key)!.computed_fields ?? [];
    if (declared.length === 0) continue;
    const computedFields = new Map<string, ResolvedComputedField>();
    for (const definition of declared) {
      const field = found.attempt(computedFieldSubject(table, definition), () => {
        refuseRelationshipName(definition.name, table, table.relationships);
        refuseAggregateName(definition.name, table);
        const resolved = resolveComputedField(table, definition, at, options);
        const conflict = names.addComputedField(table, resolved);
        if (conflict) throw conflict;
        return resolved;
      });
      if (field) computedFields.set(definition.name, field);
    }
    tables.set(key, { ...table, computedFields });
  }
  return { ...at, tables };
}

/** Returns the tracked functions, by qualifiedKey. */
export function functionsOf(
  at: PartialSource,
  names: TakenNames,
  { options, found }: ResolveContext,
): ReadonlyMap<string, ResolvedFunction> {
  const functions = new Map<string, ResolvedFunction>();
  for (const definition of at.source.functions ?? []) {
    const subject = functionSubject(at.name, definition);
    const resolved = found.attempt(subject, () => resolveFunction(at.name, definition, at, options));
    if (!resolved) continue;
    const conflict = names.addFunction(resolved, at.naming);
    if (conflict) found.add(subject, conflict);
    else functions.set(qualifiedKey(definition.function), resolved);
  }
  return functions;
}

/** `sources` are all sources, which rules with remote relationships read. */
export function* withPermissions(
  at: PartialSource,
  sources: readonly PartialSource[],
  { variables, options, memo, found }: ResolveContext,
): Steps<PartialSource> {
  const prefix = options.headerPrefix;
  const remote = { get: (key: string) => at.definitions.get(key)?.remote_relationships };
  const everywhere = {
    get: (key: string) => {
      const [source, table] = JSON.parse(key) as [string, string];
      return sources.find(({ name }) => name === source)?.tables.get(table);
    },
  };
  const tables = new Map<string, ResolvedTable>();
  for (const [key, table] of at.tables) {
    const inputs = [at.definitions.get(key)!, variables, prefix] as const;
    tables.set(
      key,
      memo.ofLookups(permitTable, table, inputs, [at.tables, remote, everywhere] as const, found),
    );
    yield;
  }
  const ofModels = modelPermissions(at, prefix, found);
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

function permitTable(
  table: ResolvedTable,
  [definition, variables, prefix]: readonly [Table, VariableRules, string | undefined],
  [tables, remote, everywhere]: readonly [Tables, Lookup<readonly RemoteRelationship[]>, Tables],
  found: Inconsistencies,
): ResolvedTable {
  const scope: PermissionScope = { table, tables, remote, everywhere, prefix, columnSets: new Map() };
  /** Returns the accesses by role; a role's first permission of a kind counts. */
  const every = <P extends Permission, A>(
    kind: PermissionKind,
    permissions: readonly P[] | undefined,
    resolveRule: (rule: P['permission'], scope: PermissionScope) => A,
  ): ReadonlyMap<string, A> => {
    const accesses = new Map<string, A>();
    for (const permission of permissions ?? []) {
      const subject = permissionSubject(kind, table, permission);
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
  const permissions = [...roles].map((role): [string, TableAccess] => [
    role,
    {
      select: select.get(role) ?? null,
      insert: (table.isInsertable && insert.get(role)) || null,
      update: (table.isUpdatable && update.get(role)) || null,
      delete: (table.isDeletable && remove.get(role)) || null,
    },
  ]);
  return { ...table, permissions: new Map(permissions) };
}

/** Applies --strict-writes: updates and deletions of a role reach only rows that it may read. Without the option, a role whose
 *  filter for writing is wider than its filter for reading learns about hidden rows from `affected_rows`. Row-level security of
 *  Postgres does the same: policies for SELECT also apply to the WHERE of UPDATE and DELETE. A role without a select permission
 *  cannot name a column in a condition, so its filter is kept. */
export function withStrictWrites(at: PartialSource, { options, memo }: ResolveContext): PartialSource {
  if (!options.strictWrites) return at;
  return { ...at, tables: mapValues(at.tables, (table) => memo.of(strictTable, table)) };
}

function strictTable(table: ResolvedTable): ResolvedTable {
  return { ...table, permissions: mapValues(table.permissions, strictAccess) };
}

function strictAccess(access: TableAccess): TableAccess {
  const { select, update, delete: remove } = access;
  if (!select) return access;
  const narrowed = <A extends NonNullable<TableAccess['update' | 'delete']>>(write: A): A => ({
    ...write,
    filter: and(write.filter, select.filter),
  });
  return { ...access, update: update && narrowed(update), delete: remove && narrowed(remove) };
}

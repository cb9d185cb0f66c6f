/** The document after tables and columns of one source were renamed in the database: every reference is replaced by the new name. Pure
 *  and total: references that cannot be interpreted are kept, and resolve reports them.
 *  Not here: finding renames (catalog/changes.ts), boolean expressions (rename-bool-exp.ts). */
import { isRecord } from '../json/value.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type {
  ArrayRelationship,
  ObjectRelationship,
  RemoteRelationship,
} from '../metadata/schema/relationship.ts';
import { mapTypeRelationships } from '../metadata/schema/remote-schema.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import { type Renames, renameInBoolExp } from './rename-bool-exp.ts';

export function followRenames(metadata: Metadata, renames: Renames): Metadata {
  return {
    ...metadata,
    sources: metadata.sources.map((source) => renameInSource(source, renames)),
    ...present('remote_schemas', metadata.remote_schemas, (remotes) =>
      remotes.map((remote) =>
        mapTypeRelationships(remote, (list) => list.map((each) => renameInRemote(each, undefined, renames))),
      ),
    ),
  };
}

function renameInSource(source: Source, renames: Renames): Source {
  const isOwn = source.name === renames.source;
  return {
    ...source,
    tables: source.tables.map((table) =>
      isOwn ? renameInTable(table, renames) : { ...table, ...remoteRelationships(table, undefined, renames) },
    ),
  };
}

function renameInTable(table: Table, renames: Renames): Table {
  const column = (name: string) => renames.column(table.table, name);
  return {
    ...table,
    table: renames.table(table.table),
    ...present('configuration', table.configuration, (configuration) => ({
      ...configuration,
      ...present('column_config', configuration.column_config, (map) => renameKeys(map, column)),
      ...present('custom_column_names', configuration.custom_column_names, (map) => renameKeys(map, column)),
    })),
    ...present('object_relationships', table.object_relationships, (list) =>
      list.map((relationship) => renameInObjectRelationship(relationship, table.table, renames)),
    ),
    ...present('array_relationships', table.array_relationships, (list) =>
      list.map((relationship) => renameInArrayRelationship(relationship, table.table, renames)),
    ),
    ...remoteRelationships(table, table.table, renames),
    ...permissions(table, renames),
    ...present('event_triggers', table.event_triggers, (list) =>
      list.map((trigger) => ({
        ...trigger,
        definition: renameInOperations(trigger.definition, column),
      })),
    ),
  };
}

function renameInObjectRelationship(
  relationship: ObjectRelationship,
  table: QualifiedName,
  renames: Renames,
): ObjectRelationship {
  const on = relationship.using.foreign_key_constraint_on;
  if (!on) return { ...relationship, using: renameInManual(relationship.using, table, renames) };
  const renamed = 'table' in on ? renameForeign(on, renames) : on.map((name) => renames.column(table, name));
  return { ...relationship, using: { foreign_key_constraint_on: renamed } };
}

function renameInArrayRelationship(
  relationship: ArrayRelationship,
  table: QualifiedName,
  renames: Renames,
): ArrayRelationship {
  const on = relationship.using.foreign_key_constraint_on;
  const using = on
    ? { foreign_key_constraint_on: renameForeign(on, renames) }
    : renameInManual(relationship.using, table, renames);
  return { ...relationship, using };
}

type Foreign = { readonly table: QualifiedName; readonly columns: readonly string[] };

function renameForeign(on: Foreign, renames: Renames): { table: QualifiedName; columns: string[] } {
  return {
    table: renames.table(on.table),
    columns: on.columns.map((name) => renames.column(on.table, name)),
  };
}

type ManualUsing = Pick<ArrayRelationship['using'], 'manual_configuration'>;

function renameInManual(using: ManualUsing, table: QualifiedName, renames: Renames): ManualUsing {
  const manual = using.manual_configuration;
  if (!manual) return using;
  const remote = manual.remote_table;
  return {
    manual_configuration: {
      ...manual,
      ...(remote ? { remote_table: renames.table(remote) } : {}),
      column_mapping: Object.fromEntries(
        Object.entries(manual.column_mapping).map(([ours, theirs]) => [
          renames.column(table, ours),
          remote ? renames.column(remote, theirs) : theirs,
        ]),
      ),
    },
  };
}

/** Renames in the remote relationships of a table. `own` is undefined for a table of another source, where only references to the
 *  renamed source change. */
function remoteRelationships(
  table: Table,
  own: QualifiedName | undefined,
  renames: Renames,
): Pick<Table, 'remote_relationships'> {
  return present('remote_relationships', table.remote_relationships, (list) =>
    list.map((relationship) => renameInRemote(relationship, own, renames)),
  );
}

function renameInRemote(
  relationship: RemoteRelationship,
  own: QualifiedName | undefined,
  renames: Renames,
): RemoteRelationship {
  const ours = (name: string) => (own ? renames.column(own, name) : name);
  const { to_source, to_remote_schema } = relationship.definition;
  if (to_remote_schema) {
    const fields = to_remote_schema.lhs_fields.map(ours);
    const remote_field = renameVariables(to_remote_schema.remote_field, ours);
    return {
      ...relationship,
      definition: { to_remote_schema: { ...to_remote_schema, lhs_fields: fields, remote_field } },
    };
  }
  if (!to_source) return relationship;
  const isTarget = to_source.source === renames.source;
  const theirs = (name: string) => (isTarget ? renames.column(to_source.table, name) : name);
  const field_mapping = Object.fromEntries(
    Object.entries(to_source.field_mapping).map(([left, right]) => [ours(left), theirs(right)]),
  );
  const target = isTarget ? renames.table(to_source.table) : to_source.table;
  return { ...relationship, definition: { to_source: { ...to_source, table: target, field_mapping } } };
}

/** Renames columns in the arguments of a remote field, where they are written `"$name"`. */
function renameVariables(
  field: Readonly<Record<string, unknown>>,
  column: (name: string) => string,
): Record<string, unknown> {
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return value.startsWith('$') ? `$${column(value.slice(1))}` : value;
    if (Array.isArray(value)) return value.map(visit);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)]));
  };
  return visit(field) as Record<string, unknown>;
}

type Permissions = Pick<
  Table,
  'insert_permissions' | 'select_permissions' | 'update_permissions' | 'delete_permissions'
>;

function permissions(table: Table, renames: Renames): Permissions {
  return {
    ...present('insert_permissions', table.insert_permissions, (l) =>
      l.map((p) => renameRule(p, table, renames)),
    ),
    ...present('select_permissions', table.select_permissions, (l) =>
      l.map((p) => renameRule(p, table, renames)),
    ),
    ...present('update_permissions', table.update_permissions, (l) =>
      l.map((p) => renameRule(p, table, renames)),
    ),
    ...present('delete_permissions', table.delete_permissions, (l) =>
      l.map((p) => renameRule(p, table, renames)),
    ),
  };
}

type Rule = {
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly check?: Readonly<Record<string, unknown>> | null;
  readonly columns?: '*' | string[];
  readonly set?: Record<string, unknown>;
};

function renameRule<P extends { permission: Rule }>(entry: P, table: Table, renames: Renames): P {
  const column = (name: string) => renames.column(table.table, name);
  const rule = entry.permission;
  return {
    ...entry,
    permission: {
      ...rule,
      ...present('columns', rule.columns, (columns) => (columns === '*' ? columns : columns.map(column))),
      ...present('filter', rule.filter, (filter) => renameInBoolExp(filter, table.table, renames)),
      ...present('check', rule.check, (check) => renameInBoolExp(check, table.table, renames)),
      ...present('set', rule.set, (set) => renameKeys(set, column)),
    },
  };
}

/** Renames columns in the definition of an event trigger, `{insert: {columns, payload}, …}`. */
function renameInOperations<D extends object>(definition: D, column: (name: string) => string): D {
  const visit = (value: unknown): unknown => (Array.isArray(value) ? value.map(column) : value);
  return Object.fromEntries(
    Object.entries(definition).map(([operation, spec]) => [
      operation,
      typeof spec === 'object' && spec !== null
        ? Object.fromEntries(Object.entries(spec).map(([key, value]) => [key, visit(value)]))
        : spec,
    ]),
  ) as D;
}

/** Returns `{[key]: change(value)}`, or an empty object if there is no value, so that an absent key stays absent. */
function present<K extends string, T, R>(
  key: K,
  value: T | null | undefined,
  change: (value: T) => R,
): { [P in K]?: R } {
  return (value === undefined || value === null ? {} : { [key]: change(value) }) as { [P in K]?: R };
}

function renameKeys<T>(map: Readonly<Record<string, T>>, name: (key: string) => string): Record<string, T> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [name(key), value]));
}

/** The document after tables and columns of one source were renamed in the database, or a relationship by an operation: every reference is
 *  replaced by the new name. Pure and total: references that cannot be interpreted are kept, and resolve reports them.
 *  Not here: finding renames (catalog/changes.ts), the meaning of conditions (resolve/). */
import { isRecord, type JsonRecord } from '../json/value.ts';
import { fieldOf, type Links, NO_TABLE, noLinks, qualifiedOf } from '../metadata/dependencies.ts';
import { objectsOf } from '../metadata/objects.ts';
import { mapObjectRelationships, type TypeRelationship } from '../metadata/schema/action.ts';
import type { BoolExp, QualifiedName } from '../metadata/schema/common.ts';
import type { TrackedFunction } from '../metadata/schema/function.ts';
import type { LogicalModel } from '../metadata/schema/logical-model.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { NativeRelationship } from '../metadata/schema/native-query.ts';
import type {
  ArrayRelationship,
  ObjectRelationship,
  RemoteRelationship,
} from '../metadata/schema/relationship.ts';
import { mapTypeRelationships } from '../metadata/schema/remote-schema.ts';
import { foreignKindOf, type Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import { isSameTable, type TableArgs } from './handlers/handler.ts';

export function followRenames(metadata: Metadata, renames: Renames): Metadata {
  return {
    ...metadata,
    sources: metadata.sources.map((source) => renameInSource(source, renames)),
    ...present('remote_schemas', metadata.remote_schemas, (remotes) =>
      remotes.map((remote) =>
        mapTypeRelationships(remote, (list) => list.map((each) => renameInRemote(each, undefined, renames))),
      ),
    ),
    ...present('custom_types', metadata.custom_types, (types) =>
      mapObjectRelationships(types, (each) => renameInObject(each, renames)),
    ),
  };
}

/** Returns the document after a relationship was renamed, with its new name in every permission of the source, those of logical models included. The relationship itself
 *  still has the old name. */
export function followRelationship(
  metadata: Metadata,
  { source: name, table, ...names }: TableArgs & { readonly name: string; readonly new_name: string },
  links: Links = noLinks,
): Metadata {
  const scope = { objects: objectsOf(metadata), links, source: name };
  const renames: Renames = {
    source: name,
    table: (each) => each,
    column: (_, column) => column,
    target: (at, key) => fieldOf(scope, at, key)?.target,
    relationship: (at, key) => (key === names.name && isSameTable(at, table) ? names.new_name : undefined),
  };
  return {
    ...metadata,
    sources: metadata.sources.map((source) =>
      source.name === name
        ? {
            ...source,
            tables: source.tables.map((each) => ({ ...each, ...permissions(each, renames) })),
            ...present('logical_models', source.logical_models, (models) =>
              models.map((model) => renameInModel(model, renames)),
            ),
          }
        : source,
    ),
  };
}

function renameInSource(source: Source, renames: Renames): Source {
  if (foreignKindOf(source)) return source;
  const remote = remoteTargets(source, renames);
  if (source.name === renames.source) {
    const own = { ...renames, remote };
    const tables = source.tables.map((table) => renameInTable(table, own));
    return { ...source, tables, ...renameBesideTables(source, own) };
  }
  const other = { ...NOTHING_RENAMED, source: source.name, remote };
  return {
    ...source,
    tables: source.tables.map((table) =>
      table.remote_relationships?.length
        ? { ...table, ...remoteRelationships(table, undefined, renames), ...permissions(table, other) }
        : table,
    ),
  };
}

/** Returns the tables of the renamed source that remote relationships of a source lead to. */
function remoteTargets(source: Source, renames: Renames): NonNullable<Renames['remote']> {
  const targets = new Map<string, QualifiedName>();
  for (const { table, remote_relationships: related } of source.tables) {
    for (const { name, definition } of related ?? []) {
      const to = definition.to_source;
      if (to?.source === renames.source) targets.set(fieldKey(table, name), to.table);
    }
  }
  return (table, name) => {
    const target = targets.get(fieldKey(table, name));
    return target && { table: target, renames };
  };
}

function fieldKey({ schema, name }: QualifiedName, field: string): string {
  return JSON.stringify([schema, name, field]);
}

const NOTHING_RENAMED: Omit<Renames, 'source'> = {
  table: (table) => table,
  column: (_, column) => column,
  target: () => undefined,
};

/** Returns the functions, native queries and logical models of a source with the new names of the tables that they lead to. */
function renameBesideTables(source: Source, renames: Renames): Partial<Source> {
  return {
    ...present('functions', source.functions, (list) => list.map((each) => renameInFunction(each, renames))),
    ...present('native_queries', source.native_queries, (list) =>
      list.map((query) => ({
        ...query,
        ...present('object_relationships', query.object_relationships, (of) =>
          of.map((each) => renameInNative(each, renames)),
        ),
        ...present('array_relationships', query.array_relationships, (of) =>
          of.map((each) => renameInNative(each, renames)),
        ),
      })),
    ),
    ...present('logical_models', source.logical_models, (models) =>
      models.map((model) => renameInModel(model, renames)),
    ),
  };
}

/** Renames in the permissions of a logical model, from which only `_exists` leads to tables. */
function renameInModel(model: LogicalModel, renames: Renames): LogicalModel {
  return {
    ...model,
    ...present('select_permissions', model.select_permissions, (entries) =>
      entries.map((entry) => renameRule(entry, NO_TABLE, renames)),
    ),
  };
}

function renameInFunction(tracked: TrackedFunction, renames: Renames): TrackedFunction {
  const { configuration } = tracked;
  const table = configuration?.response?.table;
  if (!table) return tracked;
  const response = { ...configuration.response!, table: renames.table(table) };
  return { ...tracked, configuration: { ...configuration, response } };
}

function renameInNative(relationship: NativeRelationship, renames: Renames): NativeRelationship {
  const { remote_table: remote, column_mapping } = relationship.using;
  if (!remote) return relationship;
  const using = {
    ...relationship.using,
    remote_table: renames.table(remote),
    column_mapping: renameValues(column_mapping, (column) => renames.column(remote, column)),
  };
  return { ...relationship, using };
}

/** Renames in a relationship of a custom type, whose source is `default` unless it names one. */
function renameInObject(relationship: TypeRelationship, renames: Renames): TypeRelationship {
  const { source = 'default', remote_table: remote, field_mapping } = relationship;
  if (source !== renames.source) return relationship;
  return {
    ...relationship,
    remote_table: renames.table(remote),
    field_mapping: renameValues(field_mapping, (column) => renames.column(remote, column)),
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
      list.map((relationship) => renameInRelationship(relationship, table.table, renames)),
    ),
    ...present('array_relationships', table.array_relationships, (list) =>
      list.map((relationship) => renameInRelationship(relationship, table.table, renames)),
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

function renameInRelationship<R extends ObjectRelationship | ArrayRelationship>(
  relationship: R,
  table: QualifiedName,
  renames: Renames,
): R {
  const on = relationship.using.foreign_key_constraint_on;
  if (!on) return { ...relationship, using: renameInManual(relationship.using, table, renames) };
  const renamed = 'table' in on ? renameForeign(on, renames) : on.map((name) => renames.column(table, name));
  return { ...relationship, using: { foreign_key_constraint_on: renamed } };
}

type Foreign = { readonly table: QualifiedName; readonly columns: readonly string[] };

function renameForeign(on: Foreign, renames: Renames): { table: QualifiedName; columns: string[] } {
  return {
    ...on,
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
  if (!to_source) return renameInFlat(relationship, ours);
  const isTarget = to_source.source === renames.source;
  const theirs = (name: string) => (isTarget ? renames.column(to_source.table, name) : name);
  const field_mapping = Object.fromEntries(
    Object.entries(to_source.field_mapping).map(([left, right]) => [ours(left), theirs(right)]),
  );
  const target = isTarget ? renames.table(to_source.table) : to_source.table;
  return { ...relationship, definition: { to_source: { ...to_source, table: target, field_mapping } } };
}

/** Renames in the flat form of a relationship to a remote schema, in which a document may be kept. */
function renameInFlat(relationship: RemoteRelationship, ours: (name: string) => string): RemoteRelationship {
  const definition: JsonRecord = relationship.definition;
  const { hasura_fields: fields, remote_field } = definition;
  if (!Array.isArray(fields) || !isRecord(remote_field)) return relationship;
  const renamed = { hasura_fields: fields.map(ours), remote_field: renameVariables(remote_field, ours) };
  return { ...relationship, definition: { ...relationship.definition, ...(renamed as object) } };
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

const PERMISSIONS = [
  'insert_permissions',
  'select_permissions',
  'update_permissions',
  'delete_permissions',
] as const;

/** Returns a table's permissions with the new names in their conditions, columns and presets. */
function permissions(table: Table, renames: Renames): Partial<Table> {
  const renamed = PERMISSIONS.map((list) =>
    present(list, table[list] as readonly { permission: Rule }[] | undefined, (entries) =>
      entries.map((entry) => renameRule(entry, table.table, renames)),
    ),
  );
  return Object.assign({}, ...renamed) as Partial<Table>;
}

type Rule = {
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly check?: Readonly<Record<string, unknown>> | null;
  readonly columns?: '*' | string[];
  readonly set?: Record<string, unknown>;
};

function renameRule<P extends { permission: Rule }>(entry: P, table: QualifiedName, renames: Renames): P {
  const column = (name: string) => renames.column(table, name);
  const rule = entry.permission;
  return {
    ...entry,
    permission: {
      ...rule,
      ...present('columns', rule.columns, (columns) => (columns === '*' ? columns : columns.map(column))),
      ...present('filter', rule.filter, (filter) => renameInBoolExp(filter, table, renames)),
      ...present('check', rule.check, (check) => renameInBoolExp(check, table, renames)),
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

function renameValues(
  map: Readonly<Record<string, string>>,
  name: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, name(value)]));
}

/** The new names in one source, by old name. A name that has not changed maps to itself. */
export type Renames = {
  readonly source: string;
  readonly table: (table: QualifiedName) => QualifiedName;
  readonly column: (table: QualifiedName, column: string) => string;
  /** The table at the other end of a relationship; undefined when there is no such relationship. */
  readonly target: (table: QualifiedName, relationship: string) => QualifiedName | undefined;
  /** The table at the other end of a remote relationship to the renamed source, and the renames there. */
  readonly remote?: (
    table: QualifiedName,
    relationship: string,
  ) => { readonly table: QualifiedName; readonly renames: Renames } | undefined;
  /** The new name of a relationship; undefined when it keeps its name. */
  readonly relationship?: (table: QualifiedName, name: string) => string | undefined;
};

/** Operators such as `_ceq` compare with another column, which their value names. */
const COLUMN_OPERATOR = /^[_$]c(eq|ne|neq|gt|lt|gte|lte)$/;

/** Renames in an expression over `table`, which is raw metadata: a key is a column, a relationship or a connective, which the
 *  relationships of its table decide. In a column operand `["$", c]`, however deep, `c` is a column of that table. */
function renameInBoolExp(expression: BoolExp, table: QualifiedName, renames: Renames): BoolExp {
  return rename(expression, table, table, renames) as BoolExp;
}

function rename(expression: unknown, table: QualifiedName, root: QualifiedName, renames: Renames): unknown {
  if (Array.isArray(expression)) return expression.map((item) => rename(item, table, root, renames));
  if (!isRecord(expression)) return expression;
  return Object.fromEntries(
    Object.entries(expression).map(([key, value]) => renameEntry(key, value, table, root, renames)),
  );
}

function renameEntry(
  key: string,
  value: unknown,
  table: QualifiedName,
  root: QualifiedName,
  renames: Renames,
): [string, unknown] {
  if (/^[_$](and|or|not)$/.test(key)) return [key, rename(value, table, root, renames)];
  if (/^[_$]exists$/.test(key)) return [key, renameExists(value, root, renames)];
  const remote = renames.remote?.(table, key);
  if (remote) return [key, rename(value, remote.table, remote.table, remote.renames)];
  const [target, renamed] = [renames.target(table, key), renames.relationship?.(table, key)];
  if (target) return [renamed ?? key, rename(value, target, root, renames)];
  if (renamed !== undefined) return [renamed, value];
  return [renames.column(table, key), renameOperators(value, table, root, renames)];
}

function renameExists(value: unknown, root: QualifiedName, renames: Renames): unknown {
  if (!isRecord(value)) return value;
  const table = qualifiedOf(value['_table']);
  if (!table) return value;
  return {
    ...value,
    _table: renames.table(table),
    ...('_where' in value ? { _where: rename(value['_where'], table, root, renames) } : {}),
  };
}

/** Renames in the operators of a column: `{_eq: 1, _ceq: "other"}`, a list of such, or a bare value. */
function renameOperators(
  value: unknown,
  table: QualifiedName,
  root: QualifiedName,
  renames: Renames,
): unknown {
  if (Array.isArray(value)) return value.map((item) => renameOperators(item, table, root, renames));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([operator, operand]) => [
      operator,
      COLUMN_OPERATOR.test(operator) ? renameOperand(operand, table, root, renames) : operand,
    ]),
  );
}

function renameOperand(
  operand: unknown,
  table: QualifiedName,
  root: QualifiedName,
  renames: Renames,
): unknown {
  if (typeof operand === 'string') return renames.column(table, operand);
  if (!Array.isArray(operand)) return operand;
  const [first, second] = operand;
  if (typeof first === 'string' && first !== '$') return [renames.column(table, first)];
  return typeof second === 'string' ? [first, renames.column(root, second)] : operand;
}

/** The effects of a database change on the metadata. Pure. Called in this order: `refuseChanges` raises for changes
 *  that no document can follow, `followChanges` returns the document with renames followed and dropped tables and functions removed,
 *  `lostFields` lists the computed fields without their function.
 *  Not here: objects that still do not fit and are removed with `cascade` (admin/run-sql.ts). Spec: "run_sql" rules 1–5. */
import type { AlteredTable, CatalogChanges } from '../catalog/changes.ts';
import { fail } from '../errors/engine-error.ts';
import { removeObject } from '../metadata/edit.ts';
import { objectKey } from '../metadata/objects.ts';
import { printQualified, type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Table } from '../metadata/schema/table.ts';
import { targetOfField } from '../resolve/field-target.ts';
import type { TableAccess } from '../resolve/model/access.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { Leaf, Operand, Predicate } from '../resolve/predicate.ts';
import { printDependents } from './dependents.ts';
import type { Renames } from './follow-renames.ts';
import { followRenames } from './follow-renames.ts';

/** The changes of a database, the source they happened in, and the model before them. */
export type SourceChange = {
  readonly source: string;
  readonly changes: CatalogChanges;
  readonly model: Model;
};

/** Raises `functionsOverloaded`, `functionVolatile`, `fieldFunctionOverloaded`, `fieldFunctionVolatile`,
 *  `columnNamedLikeRelationship` and `cannotChangeType`. */
export function refuseChanges(change: SourceChange): void {
  refuseFunctionChanges(change);
  for (const altered of change.changes.alteredTables) {
    const table = change.model.sources.get(change.source)?.tables.get(qualifiedKey(altered.before));
    if (!table) continue;
    refuseClash(table, altered);
    for (const column of altered.retypedColumns) {
      const keys = columnTypeDependents(change, altered.before, column);
      if (keys.length > 0) {
        fail('cannotChangeType', {
          column,
          table: printQualified(altered.before),
          dependents: printDependents(keys),
        });
      }
    }
  }
}

/** Raises for functions that were overloaded or became volatile. Tracked functions come before those of computed fields. */
function refuseFunctionChanges({ source, changes, model }: SourceChange): void {
  const tracked = model.sources.get(source)?.functions;
  const changed = changes.changedFunctions.map((each) => ({ ...each, name: printQualified(each.function) }));
  const ofTracked = changed.filter((each) => tracked?.has(qualifiedKey(each.function)));
  const overloaded = ofTracked.filter(({ isOverloaded }) => isOverloaded).map(({ name }) => name);
  if (overloaded.length > 0) fail('functionsOverloaded', { names: overloaded.join(', ') });
  for (const { name, isNowVolatile } of ofTracked) if (isNowVolatile) fail('functionVolatile', { name });
  for (const { name, isOverloaded, isNowVolatile, function: called } of changed) {
    const [user] = fieldsOf(model, source, called);
    if (!user) continue;
    const about = { name, field: user.field, table: printQualified(user.table) };
    if (isOverloaded) fail('fieldFunctionOverloaded', about);
    if (isNowVolatile) fail('fieldFunctionVolatile', about);
  }
}

/** Returns the keys of computed fields whose function was dropped or renamed, even if there is a new function of its name. Fields of
 *  dropped tables are not among them. */
export function lostFields({ source, changes, model }: SourceChange): readonly string[] {
  const gone = new Set(changes.droppedTables.map(qualifiedKey));
  return changes.changedFunctions
    .filter(({ isGone }) => isGone)
    .flatMap((each) => fieldsOf(model, source, each.function))
    .filter(({ table }) => !gone.has(qualifiedKey(table)))
    .map(({ table, field }) => objectKey('computed_field', source, table.schema, table.name, field));
}

/** Returns the computed fields that call the function. */
function fieldsOf(
  model: Model,
  source: string,
  called: QualifiedName,
): readonly { readonly table: QualifiedName; readonly field: string }[] {
  return [...(model.sources.get(source)?.tables.values() ?? [])].flatMap(({ table, computedFields }) =>
    [...computedFields.values()]
      .filter((field) => qualifiedKey(field.function) === qualifiedKey(called))
      .map(({ name }) => ({ table, field: name })),
  );
}

export function followChanges(metadata: Metadata, change: SourceChange): Metadata {
  const { source, changes } = change;
  const dropped = [
    ...changes.droppedTables.map((table) => objectKey('table', source, table.schema, table.name)),
    ...changes.droppedFunctions.map((fn) => objectKey('function', source, fn.schema, fn.name)),
  ];
  const kept = dropped.reduce(removeObject, metadata);
  const hasRenames =
    changes.renamedTables.length > 0 ||
    changes.alteredTables.some((table) => table.renamedColumns.length > 0);
  const renamed = hasRenames ? followRenames(kept, renamesOf(change)) : kept;
  return changes.alteredTables.reduce((next, altered) => forgetColumns(next, source, altered), renamed);
}

/** Returns the key that a metadata object has after the renames. */
export function followKey(key: string, renames: Renames): string {
  const [kind = '', source = '', schema = '', name = '', ...rest] = key.split('/');
  if (decodeURIComponent(source) !== renames.source || name === '') return key;
  const table = { schema: decodeURIComponent(schema), name: decodeURIComponent(name) };
  const renamed = renames.table(table);
  return [kind, source, encodeURIComponent(renamed.schema), encodeURIComponent(renamed.name), ...rest].join(
    '/',
  );
}

/** Returns the permissions that compare the column with a fixed value or preset it to one, because that value has the old type. A
 *  session variable has no type of its own and adapts. Out: keys of metadata objects, sorted. */
function columnTypeDependents(change: SourceChange, table: QualifiedName, column: string): readonly string[] {
  const target = qualifiedKey(table);
  const tables = [...(change.model.sources.get(change.source)?.tables.values() ?? [])];
  const keys = tables.flatMap((owner) =>
    [...owner.permissions].flatMap(([role, access]) =>
      rulesOf(access)
        .filter((rule) => {
          const isPreset = qualifiedKey(owner.table) === target && isFixed(rule.presets?.get(column));
          return isPreset || rule.predicates.some((p) => fixes(p, owner.table, target, column));
        })
        .map((rule) => objectKey(rule.kind, change.source, owner.table.schema, owner.table.name, role)),
    ),
  );
  return keys.sort();
}

/** Returns the renames among the changes, as functions from old names to new ones. */
export function renamesOf(change: SourceChange): Renames {
  const { source, changes, model } = change;
  const tables = new Map(changes.renamedTables.map(({ from, to }) => [qualifiedKey(from), to]));
  const columns = new Map(
    changes.alteredTables.map((altered) => [
      qualifiedKey(altered.before),
      new Map(altered.renamedColumns.map(({ from, to }) => [from, to])),
    ]),
  );
  const resolved = model.sources.get(source)?.tables;
  return {
    source,
    texts: [
      ...changes.renamedTables.map(({ from }) => from.name),
      ...[...columns.values()].flatMap((renamed) => [...renamed.keys()]),
    ],
    // The keys of the name keep their order, which the export shows.
    table: (table) => ({ ...table, ...tables.get(qualifiedKey(table)) }),
    column: (table, column) => columns.get(qualifiedKey(table))?.get(column) ?? column,
    target: (table, name) => targetOfField(resolved?.get(qualifiedKey(table)), name),
  };
}

function refuseClash(table: ResolvedTable, altered: AlteredTable): void {
  const names = [...altered.addedColumns, ...altered.renamedColumns.map((renamed) => renamed.to)];
  const clash = names.find((name) => table.relationships.has(name));
  if (clash) fail('columnNamedLikeRelationship', { column: clash, table: printQualified(altered.after) });
}

/** Removes the settings of dropped columns. They are no dependents, so nothing is refused. */
function forgetColumns(metadata: Metadata, source: string, altered: AlteredTable): Metadata {
  if (altered.droppedColumns.length === 0) return metadata;
  const isGone = (column: string) => altered.droppedColumns.includes(column);
  const forget = (table: Table): Table => {
    const { configuration } = table;
    if (!configuration || qualifiedKey(table.table) !== qualifiedKey(altered.after)) return table;
    return {
      ...table,
      configuration: {
        ...configuration,
        ...withoutKeys('column_config', configuration.column_config, isGone),
        ...withoutKeys('custom_column_names', configuration.custom_column_names, isGone),
      },
    };
  };
  const sources = metadata.sources.map((entry) =>
    entry.name === source ? { ...entry, tables: entry.tables.map(forget) } : entry,
  );
  return { ...metadata, sources };
}

function withoutKeys<K extends string, T>(
  key: K,
  map: Readonly<Record<string, T>> | undefined,
  isGone: (name: string) => boolean,
): { [P in K]?: Record<string, T> } {
  if (!map) return {};
  const kept = Object.entries(map).filter(([name]) => !isGone(name));
  return { [key]: Object.fromEntries(kept) } as { [P in K]: Record<string, T> };
}

type PermissionRule = {
  readonly kind: 'select_permission' | 'insert_permission' | 'update_permission' | 'delete_permission';
  readonly predicates: readonly Predicate[];
  readonly presets?: ReadonlyMap<string, Leaf>;
};

function rulesOf(access: TableAccess): readonly PermissionRule[] {
  const { select, insert, update } = access;
  return [
    ...(select ? [{ kind: 'select_permission' as const, predicates: [select.filter] }] : []),
    ...(insert
      ? [{ kind: 'insert_permission' as const, predicates: [insert.check], presets: insert.presets }]
      : []),
    ...(update
      ? [
          {
            kind: 'update_permission' as const,
            predicates: [update.filter, update.check],
            presets: update.presets,
          },
        ]
      : []),
    ...(access.delete ? [{ kind: 'delete_permission' as const, predicates: [access.delete.filter] }] : []),
  ];
}

/** True when the predicate, over rows of `table`, compares `column` of `target` with a fixed value. */
function fixes(predicate: Predicate, table: QualifiedName, target: string, column: string): boolean {
  switch (predicate.kind) {
    case 'true':
    case 'false':
    case 'is-null':
    case 'called':
    // Only conditions of requests have barriers.
    case 'barrier':
      return false;
    case 'and':
      return predicate.all.some((p) => fixes(p, table, target, column));
    case 'or':
      return predicate.any.some((p) => fixes(p, table, target, column));
    case 'not':
      return fixes(predicate.not, table, target, column);
    case 'related':
      return fixes(predicate.where, predicate.join.table, target, column);
    case 'exists':
      return fixes(predicate.where, predicate.table, target, column);
    case 'compare':
      return (
        qualifiedKey(table) === target &&
        predicate.left.column === column &&
        leavesOf(predicate.right).some(isFixed)
      );
    default:
      return predicate satisfies never;
  }
}

function leavesOf(operand: Operand): readonly Leaf[] {
  if (operand.kind === 'column') return [];
  return operand.kind === 'arguments' ? operand.values : [operand];
}

function isFixed(leaf: Leaf | undefined): boolean {
  if (!leaf) return false;
  return leaf.kind === 'constant' || (leaf.kind === 'list' && leaf.items.some(isFixed));
}

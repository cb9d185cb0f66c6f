/** Inputs of an insert: the row with its columns, rows related to it, within the role's insert permissions, and `on_conflict`. Not here: the root fields (mutation.ts). Reference: docs/reference/behaviour/mutations.md. */
import {
  GraphQLEnumType,
  type GraphQLInputFieldConfigMap,
  type GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import { targetOf } from '../resolve/access.ts';
import { isPlannedByCitus, updatesConflicts } from '../resolve/cluster-writes.ts';
import { clusterOf } from '../resolve/distributions.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { derivedTypeName, isGraphqlName } from '../resolve/names.ts';
import { boolExp, ownBoolExp } from './bool-exp.ts';
import type { Related, SchemaBuilder } from './builder.ts';
import { columnEnum, columnInputs, writableColumns } from './columns.ts';
import { inputExtensions, nullRefused } from './origin.ts';

export function insertInput(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, 'insert_input'), {
    description: `input type for inserting data into table "${table.table.name}"`,
    fields: () => ({
      ...columnInputs(builder, writableColumns(table, builder.access(table).insert?.columns)),
      ...relatedInputs(builder, table),
    }),
  });
}

/** Returns inputs for related rows that are inserted with the row. */
function relatedInputs(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  const related = [...table.relationships.values()]
    .map((relationship) => {
      return { relationship, target: targetOf(builder.model, table.source, relationship.join.table) };
    })
    .filter(({ target }) => builder.access(target).insert !== null);
  return Object.fromEntries(
    related.map((each) => [
      each.relationship.name,
      { type: relatedInput(builder, each), extensions: inputExtensions({ kind: 'relationship', ...each }) },
    ]),
  );
}

function relatedInput(
  builder: SchemaBuilder,
  { relationship: { kind }, target }: Related,
): GraphQLInputObjectType {
  const suffix = kind === 'object' ? 'obj_rel_insert_input' : 'arr_rel_insert_input';
  return builder.input(derivedTypeName(target, suffix), {
    description: `input type for inserting ${kind} relation for remote table "${target.table.name}"`,
    fields: () => {
      const row = new GraphQLNonNull(insertInput(builder, target));
      const data = kind === 'object' ? row : new GraphQLNonNull(new GraphQLList(row));
      return { data: { type: data }, ...onConflictInput(builder, target) };
    },
  });
}

/** Returns the argument or field `on_conflict`, if the role has it. */
export function onConflictInput(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  const type = onConflict(builder, table);
  return type
    ? { [table.naming.names.on_conflict]: { type, description: 'upsert condition', extensions: nullRefused } }
    : {};
}

/** Returns the type of `on_conflict`; null unless there is a key to conflict on. A role that may update nothing, or nothing by an insert in a
 *  Citus cluster, can only name no column, so that conflicting rows are left alone. */
function onConflict(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType | null {
  const targets = conflictTargets(table);
  if (targets.length === 0) return null;
  const cluster = clusterOf(builder.model.sources.get(table.source));
  const condition = cluster && isPlannedByCitus(cluster, table) ? ownBoolExp : boolExp;
  return builder.input(derivedTypeName(table, 'on_conflict'), {
    description: `on_conflict condition type for table "${table.table.name}"`,
    fields: () => ({
      constraint: { type: new GraphQLNonNull(constraintEnum(builder, table, targets)) },
      [table.naming.names.update_columns]: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(updateColumnEnum(builder, table)))),
        default: { value: [] },
      },
      where: { type: condition(builder, table), extensions: nullRefused },
    }),
  });
}

type ConflictTarget = { readonly name: string; readonly description: string };

/** Returns the constraints, and the unique indexes listed in the metadata, that `on_conflict` can name. */
function conflictTargets({ uniqueKeys, conflictIndexes }: ResolvedTable): readonly ConflictTarget[] {
  const constraints = uniqueKeys.filter(({ isConstraint, name }) => isConstraint && isGraphqlName(name));
  return [
    ...constraints.map(({ name, columns }) => {
      const list = columns.map((column) => `"${column}"`).join(', ');
      return { name, description: `unique or primary key constraint on columns ${list}` };
    }),
    ...conflictIndexes.map(({ name, on, where }) => {
      const which = where === null ? '' : `, rows where ${where}`;
      return { name, description: `unique index on ${on.join(', ')}${which}` };
    }),
  ];
}

function constraintEnum(
  builder: SchemaBuilder,
  table: ResolvedTable,
  targets: readonly ConflictTarget[],
): GraphQLEnumType {
  return builder.named(derivedTypeName(table, 'constraint'), (name) => {
    return new GraphQLEnumType({
      name,
      description: `unique or primary key constraints on table "${table.table.name}"`,
      values: Object.fromEntries(targets.map(({ name: target, description }) => [target, { description }])),
    });
  });
}

function updateColumnEnum(builder: SchemaBuilder, table: ResolvedTable): GraphQLEnumType {
  const { update } = builder.access(table);
  const cluster = clusterOf(builder.model.sources.get(table.source));
  const mayUpdate = update && (!cluster || updatesConflicts(cluster, table, update.filter));
  const columns = mayUpdate ? writableColumns(table, update.columns) : [];
  const description = `update columns of table "${table.table.name}"`;
  return builder.named(derivedTypeName(table, 'update_column'), (name) =>
    columns.length === 0
      ? new GraphQLEnumType({ name, description, values: PLACEHOLDER })
      : columnEnum(name, description, columns),
  );
}

/** The only value of `T_update_column` for a role that may update nothing, since an enum needs one. No column has its value. */
export const NO_COLUMN = '';
const PLACEHOLDER = { _PLACEHOLDER: { value: NO_COLUMN, description: 'placeholder (do not use)' } };

/** `T_group_by`: rows grouped by columns, with aggregates over each group and conditions on them. It exists beside
 *  `T_aggregate` with the feature `group_by`, for roles that may aggregate the table. Why it looks like this: ADR 7. */
import {
  type GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLObjectType,
} from 'graphql';
import { hasOperatorClass } from '../catalog/scalars.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { derivedTypeName, groupByField } from '../resolve/names.ts';
import { aggregateFields } from './aggregate.ts';
import { boolExp, connectives, ofGroups, predicateFields } from './bool-exp.ts';
import type { SchemaBuilder } from './builder.ts';
import { columnEnum } from './columns.ts';
import { aggregateOrderBy, directionEnum } from './order-by.ts';
import {
  conditionExtensions,
  countExtensions,
  type FieldConfig,
  fieldExtensions,
  inputExtensions,
} from './origin.ts';

/** Returns the root field; none when the feature is off or no column can be a key. */
export function groupByRoot(builder: SchemaBuilder, table: ResolvedTable): [string, FieldConfig][] {
  if (!builder.model.features.has('group_by')) return [];
  const columns = builder.selectableColumns(table).filter(isGroupable);
  if (columns.length === 0) return [];
  const field: FieldConfig = {
    type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(groupType(builder, table, columns)))),
    description: `fetch groups of rows of the table: "${table.table.name}"`,
    args: groupArguments(builder, table, columns),
    extensions: fieldExtensions({ kind: 'rows-groups', table }),
  };
  return [[groupByField(table), field]];
}

/** True for columns that can be keys. Enum values have no `_gt`, but they are text and can be grouped. */
function isGroupable({ scalar, type, enum: values }: ResolvedColumn): boolean {
  return (scalar.comparison === 'order' || values !== undefined) && hasOperatorClass(type);
}

function groupType(
  builder: SchemaBuilder,
  table: ResolvedTable,
  columns: readonly ResolvedColumn[],
): GraphQLObjectType {
  return builder.object(derivedTypeName(table, 'group'), {
    description: `a group of rows of "${table.table.name}"`,
    fields: () => ({
      keys: {
        type: new GraphQLNonNull(keysType(builder, table, columns)),
        extensions: fieldExtensions({ kind: 'group-keys' }),
      },
      aggregate: {
        type: new GraphQLNonNull(aggregateFields(builder, table)),
        extensions: fieldExtensions({ kind: 'aggregate' }),
      },
    }),
  });
}

function keysType(
  builder: SchemaBuilder,
  table: ResolvedTable,
  columns: readonly ResolvedColumn[],
): GraphQLObjectType {
  return builder.object(derivedTypeName(table, 'group_keys'), {
    description: `what the rows of a group of "${table.table.name}" have in common`,
    fields: () =>
      Object.fromEntries(
        columns.map((column) => {
          const type = builder.valueType(column);
          const extensions = fieldExtensions({ kind: 'column', column });
          return [column.graphqlName, { type, description: column.description, extensions }];
        }),
      ),
  });
}

function groupArguments(
  builder: SchemaBuilder,
  table: ResolvedTable,
  columns: readonly ResolvedColumn[],
): GraphQLFieldConfigArgumentMap {
  const key = groupColumn(builder, table, columns);
  const order = groupOrderBy(builder, table, columns);
  return {
    keys: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(key))),
      description: 'the columns whose values make a group',
    },
    where: { type: boolExp(builder, table), description: 'filter the rows that are grouped' },
    having: { type: groupBoolExp(builder, table), description: 'filter the groups' },
    [table.naming.names.order_by]: {
      type: new GraphQLList(new GraphQLNonNull(order)),
      description: 'sort the groups',
    },
    limit: {
      type: GraphQLInt,
      description: 'limit the number of groups returned',
      extensions: countExtensions,
    },
    offset: { type: GraphQLInt, description: 'skip the first n groups', extensions: countExtensions },
  };
}

function groupColumn(
  builder: SchemaBuilder,
  table: ResolvedTable,
  columns: readonly ResolvedColumn[],
): GraphQLEnumType {
  return builder.named(derivedTypeName(table, 'group_column'), (name) =>
    columnEnum(name, `columns rows of table "${table.table.name}" can be grouped by`, columns),
  );
}

/** Returns conditions on aggregates. Conditions on keys are conditions on rows, so `where` has them. */
function groupBoolExp(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, 'group_bool_exp'), {
    description: `Boolean expression to filter groups of rows of the table "${table.table.name}". All fields are combined with a logical 'AND'.`,
    extensions: conditionExtensions,
    fields: () => ({
      ...connectives(groupBoolExp(builder, table)),
      ...predicateFields(builder, table, ofGroups),
    }),
  });
}

function groupOrderBy(
  builder: SchemaBuilder,
  table: ResolvedTable,
  columns: readonly ResolvedColumn[],
): GraphQLInputObjectType {
  const keys = builder.named(derivedTypeName(table, 'group_keys_order_by'), (name) => {
    const type = directionEnum(builder, table.naming);
    const fields = columns.map((column) => {
      return [column.graphqlName, { type, extensions: inputExtensions({ kind: 'column', column }) }] as const;
    });
    return new GraphQLInputObjectType({ name, fields: Object.fromEntries(fields) });
  });
  return builder.input(derivedTypeName(table, 'group_order_by'), {
    description: `Ordering options when selecting groups of "${table.table.name}".`,
    fields: () => ({
      keys: { type: keys, extensions: inputExtensions({ kind: 'group-keys' }) },
      aggregate: {
        type: aggregateOrderBy(builder, table),
        extensions: inputExtensions({ kind: 'group-aggregate' }),
      },
    }),
  });
}

/** `T_aggregate_bool_exp`: conditions on values over the rows of an array relationship, `{count: {predicate: {_gt: 3}}}`, from
 *  AGGREGATE_PREDICATES. Only where the role may aggregate the other table, over columns it may read.
 *  Not here: values that are answered or ordered by (aggregate.ts). Source: docs/reference/behaviour/operators.md. */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import {
  AGGREGATE_PREDICATES,
  PREDICATE_FUNCTIONS,
  type PredicateFunction,
  type PredicateRow,
} from '../catalog/aggregates.ts';
import { scalarOf } from '../catalog/scalars.ts';
import { builtinType } from '../catalog/types.ts';
import { derivedTypeName } from '../resolve/names.ts';
import { fieldName, typeName } from '../resolve/naming.ts';
import type { ResolvedColumn, ResolvedTable } from '../resolve/types.ts';
import { aggregatedRelationships } from './aggregate.ts';
import { boolExp, comparison } from './bool-exp.ts';
import type { SchemaBuilder } from './builder.ts';
import { selectColumn } from './order-by.ts';
import { conditionExtensions, inputExtensions } from './origin.ts';

/** In `T_bool_exp`: `<rel>_aggregate`. */
export function aggregatePredicates(
  builder: SchemaBuilder,
  table: ResolvedTable,
): GraphQLInputFieldConfigMap {
  if (builder.model.features.has('hide_aggregation_predicates')) return {};
  return Object.fromEntries(
    aggregatedRelationships(builder, table).map(({ relationship, target }) => [
      fieldName(target.naming, { verbatim: relationship.name }, 'aggregate'),
      {
        type: aggregateBoolExp(builder, target),
        extensions: inputExtensions({ kind: 'aggregate-predicates', relationship, target }),
      },
    ]),
  );
}

function aggregateBoolExp(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.named(derivedTypeName(table, 'aggregate_bool_exp'), (name) => {
    return new GraphQLInputObjectType({
      name,
      extensions: conditionExtensions,
      fields: () => predicateFields(builder, table),
    });
  });
}

/** A condition a function, where the role may read columns it takes. */
export function predicateFields(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  return Object.fromEntries(
    PREDICATE_FUNCTIONS.flatMap((fn) => {
      const columns = builder.selectableColumns(table).filter(TAKES[AGGREGATE_PREDICATES[fn].over]);
      if (columns.length === 0 && fn !== 'count') return [];
      const type = predicateInput(builder, table, fn, columns);
      const extensions = inputExtensions({ kind: 'aggregate-predicate', fn });
      return [[fieldName(table.naming, fn), { type, extensions }]];
    }),
  );
}

const TAKES: Readonly<Record<PredicateRow['over'], (column: ResolvedColumn) => boolean>> = {
  all: () => true,
  booleans: ({ scalar }) => scalar.family === 'boolean',
  numbers: ({ scalar }) => scalar.family === 'number',
};

function predicateInput(
  builder: SchemaBuilder,
  table: ResolvedTable,
  fn: PredicateFunction,
  columns: readonly ResolvedColumn[],
): GraphQLInputObjectType {
  return builder.named(derivedTypeName(table, `aggregate_bool_exp_${fn}`), (name) => {
    const given = builtinType(AGGREGATE_PREDICATES[fn].gives);
    const compared = { scalar: scalarOf(given), type: given };
    return new GraphQLInputObjectType({
      name,
      extensions: conditionExtensions,
      fields: () => ({
        ...argumentsField(builder, table, fn, columns),
        distinct: { type: GraphQLBoolean },
        filter: { type: boolExp(builder, table) },
        predicate: { type: new GraphQLNonNull(comparison(builder, compared, table.naming)) },
      }),
    });
  });
}

function argumentsField(
  builder: SchemaBuilder,
  table: ResolvedTable,
  fn: PredicateFunction,
  columns: readonly ResolvedColumn[],
): GraphQLInputFieldConfigMap {
  const form = AGGREGATE_PREDICATES[fn].arguments;
  if (form === 'any') {
    const column = selectColumn(builder, table);
    return column ? { arguments: { type: new GraphQLList(new GraphQLNonNull(column)) } } : {};
  }
  const column = columnEnum(builder, table, fn, columns);
  const type = form === 'one' ? column : pair(builder, table, fn, column);
  return { arguments: { type: new GraphQLNonNull(type) } };
}

function pair(
  builder: SchemaBuilder,
  table: ResolvedTable,
  fn: PredicateFunction,
  column: GraphQLEnumType,
): GraphQLInputObjectType {
  return builder.named(derivedTypeName(table, `aggregate_bool_exp_${fn}_arguments`), (name) => {
    const type = new GraphQLNonNull(column);
    return new GraphQLInputObjectType({ name, fields: { X: { type }, Y: { type } } });
  });
}

function columnEnum(
  builder: SchemaBuilder,
  table: ResolvedTable,
  fn: PredicateFunction,
  columns: readonly ResolvedColumn[],
): GraphQLEnumType {
  const use = `aggregate_bool_exp_${fn}_arguments_columns`;
  const own = typeName(table.naming, table.base, 'select_column', table.base, use);
  return builder.named(own, (name) => {
    return new GraphQLEnumType({
      name,
      description: `select "${use}" columns of table "${table.table.name}"`,
      values: Object.fromEntries(
        columns.map((column) => [column.graphqlName, { value: column.name, description: 'column name' }]),
      ),
    });
  });
}

/** Boolean expressions in a role's schema: `T_bool_exp`, `<Scalar>_comparison_exp` from OPERATORS × SCALARS, and
 *  `T_aggregate_bool_exp` from AGGREGATE_PREDICATES, which compares a value over the rows of an array relationship:
 *  `{count: {predicate: {_gt: 3}}}`. Conditions on aggregates exist only where the role may aggregate the other table, and only
 *  over columns it may read. Spec: BoolExp; docs/reference/behaviour/operators.md. */
import {
  GraphQLBoolean,
  type GraphQLEnumType,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  getNamedType,
} from 'graphql';
import {
  AGGREGATE_PREDICATES,
  PREDICATE_FUNCTIONS,
  type PredicateFunction,
  type PredicateRow,
} from '../catalog/aggregates.ts';
import {
  castOf,
  OPERATORS,
  type OperandField,
  type OperandFields,
  type OperandForm,
  operandFieldType,
  operandOf,
  operandType,
  operatorsOf,
} from '../catalog/operators.ts';
import { scalarOf } from '../catalog/scalars.ts';
import { builtinType, type PgType } from '../catalog/types.ts';
import { targetOf } from '../resolve/access.ts';
import { aggregateFieldName } from '../resolve/aggregate-fields.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import { NULL_COLLAPSE } from '../resolve/model/features.ts';
import type { ResolvedComputedField } from '../resolve/model/function.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { computedTypeName, derivedTypeName } from '../resolve/names.ts';
import { fieldName, type Naming, sharedTypeName, typeName } from '../resolve/naming.ts';
import type { SchemaBuilder, Typed } from './builder.ts';
import { columnEnum, selectColumn } from './columns.ts';
import { computedArguments, needsArguments } from './computed-field.ts';
import { conditionExtensions, inputExtensions, nullRefused, nullTaken } from './origin.ts';

/** Returns the fields that combine boolean expressions of a type. */
export function connectives(type: GraphQLInputObjectType): GraphQLInputFieldConfigMap {
  const list = new GraphQLList(new GraphQLNonNull(type));
  return {
    _and: { type: list, extensions: inputExtensions({ kind: 'and' }) },
    _not: { type, extensions: inputExtensions({ kind: 'not' }) },
    _or: { type: list, extensions: inputExtensions({ kind: 'or' }) },
  };
}

/** Returns the condition on existing rows of an upsert in a Citus cluster, which is about columns of the row only. */
export function ownBoolExp(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, 'on_conflict_bool_exp'), {
    description: `Boolean expression on the columns of the table "${table.table.name}". All fields are combined with a logical 'AND'.`,
    extensions: conditionExtensions,
    fields: () => ({ ...connectives(ownBoolExp(builder, table)), ...columnConditions(builder, table) }),
  });
}

export function boolExp(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, 'bool_exp'), {
    description: `Boolean expression to filter rows from the table "${table.table.name}". All fields are combined with a logical 'AND'.`,
    extensions: conditionExtensions,
    fields: () => ({
      ...connectives(boolExp(builder, table)),
      ...columnConditions(builder, table),
      ...computedConditions(builder, table),
      ...aggregatePredicates(builder, table),
      ...Object.fromEntries(
        builder.comparableRelationships(table).map((related) => [
          related.relationship.name,
          {
            type: boolExp(builder, related.target),
            extensions: inputExtensions({ kind: 'relationship', ...related }),
          },
        ]),
      ),
    }),
  });
}

function columnConditions(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  return Object.fromEntries(
    builder.selectableColumns(table).map((column) => [
      column.graphqlName,
      {
        type: comparison(builder, column, table.naming),
        extensions: inputExtensions({ kind: 'column', column }),
      },
    ]),
  );
}

/** Returns conditions on computed fields: operators for scalars, and for rows a condition that at least one of them satisfies. */
function computedConditions(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  const fields = builder.visibleComputedFields(table).flatMap((field) => {
    const { returns, name } = field;
    if (returns.kind === 'scalar') {
      const type = computedComparison(builder, table, field, returns);
      return [[name, { type, extensions: inputExtensions({ kind: 'computed', table, field }) }] as const];
    }
    if (needsArguments(field)) return [];
    const target = targetOf(builder.model, table.source, returns.table);
    const extensions = inputExtensions({ kind: 'computed-rows', table, field, target });
    return [[name, { type: boolExp(builder, target), extensions }] as const];
  });
  return Object.fromEntries(fields);
}

/** Returns the operators of a computed scalar, with `args` beside them when the client gives arguments. */
function computedComparison(
  builder: SchemaBuilder,
  table: ResolvedTable,
  field: ResolvedComputedField,
  returns: Compared,
): GraphQLInputObjectType {
  const args = computedArguments(builder, table, field);
  if (!args) return comparison(builder, returns, table.naming);
  return builder.input(computedTypeName(table, field, 'comparison_exp'), {
    extensions: conditionExtensions,
    fields: () => ({ args, ...comparisonFields(builder, returns, table.naming) }),
  });
}

/** A scalar to compare; `type` is its Postgres type. Functions and types of an extension are in the same schema. */
type Compared = Typed & { readonly type: PgType };

export function comparison(
  builder: SchemaBuilder,
  compared: Compared,
  naming: Naming,
): GraphQLInputObjectType {
  const type = getNamedType(builder.valueType(compared));
  return builder.input(comparisonName(builder, compared, naming), {
    description: `Boolean expression to compare columns of type "${type.name}". All fields are combined with logical 'AND'.`,
    extensions: conditionExtensions,
    fields: () => comparisonFields(builder, compared, naming),
  });
}

function comparisonName(
  builder: SchemaBuilder,
  { scalar, enum: resolved }: Compared,
  naming: Naming,
): string {
  return resolved?.comparisonName ?? sharedTypeName(naming, `${builder.valueName(scalar)}_comparison_exp`);
}

function comparisonFields(
  builder: SchemaBuilder,
  compared: Compared,
  naming: Naming,
): GraphQLInputFieldConfigMap {
  return { ...operatorFields(builder, compared, naming), ...castField(builder, compared, naming) };
}

function operatorFields(
  builder: SchemaBuilder,
  compared: Compared,
  naming: Naming,
): GraphQLInputFieldConfigMap {
  const { scalar, type: own } = compared;
  const isCollapsed = builder.model.features.has(NULL_COLLAPSE);
  return Object.fromEntries(
    operatorsOf(scalar).map((operator) => {
      const operand = operandOf(operator, scalar.family);
      return [
        fieldName(naming, operator),
        {
          type:
            typeof operand === 'object'
              ? operandInput(builder, operand, own)
              : operandInputType(builder, operand, compared),
          description: OPERATORS[operator].description,
          extensions: {
            ...inputExtensions({ kind: 'operator', operator }),
            ...(isCollapsed || operator === '_has_key' ? nullTaken : {}),
          },
        },
      ];
    }),
  );
}

function operandInputType(builder: SchemaBuilder, form: OperandForm, compared: Compared): GraphQLInputType {
  if (form === 'boolean') return GraphQLBoolean;
  const own = builder.valueType(compared);
  if (form === 'same') return own;
  if (form === 'list') return new GraphQLList(new GraphQLNonNull(own));
  const type = operandType(form, compared.type);
  if (!type.element) return builder.valueType({ scalar: scalarOf(type) });
  return new GraphQLList(new GraphQLNonNull(builder.valueType({ scalar: scalarOf(type.element) })));
}

function castField(
  builder: SchemaBuilder,
  { scalar, type: own }: Compared,
  naming: Naming,
): GraphQLInputFieldConfigMap {
  const to = castOf(scalar.family, own);
  if (!to) return {};
  const target = scalarOf(to);
  const type = builder.named(sharedTypeName(naming, `${builder.scalarName(scalar)}_cast_exp`), (name) => {
    const extensions = inputExtensions({ kind: 'cast', to });
    return new GraphQLInputObjectType({
      name,
      extensions: conditionExtensions,
      fields: () => ({
        [target.name]: { type: comparison(builder, { scalar: target, type: to }, naming), extensions },
      }),
    });
  });
  return { _cast: { type, extensions: inputExtensions({ kind: 'casts' }) } };
}

function operandInput(
  builder: SchemaBuilder,
  { input, fields }: OperandFields,
  own: PgType,
): GraphQLInputObjectType {
  return builder.input(input, {
    fields: () =>
      Object.fromEntries(
        Object.entries(fields).map(([field, row]) => {
          const type = builder.scalar(row.scalar ?? scalarOf(operandFieldType(row, own)));
          const extensions = row.standard === undefined ? nullRefused : {};
          return [
            field,
            { type: row.isRequired ? new GraphQLNonNull(type) : type, ...standardOf(row), extensions },
          ];
        }),
      ),
  });
}

const standardOf = ({ standard }: OperandField) =>
  standard === undefined ? {} : { default: { value: standard } };

/** Returns `<rel>_aggregate` conditions of `T_bool_exp`. */
function aggregatePredicates(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  if (builder.model.features.has('hide_aggregation_predicates')) return {};
  return Object.fromEntries(
    builder.aggregatedRelationships(table).map(({ relationship, target }) => [
      aggregateFieldName(target.naming, relationship.name),
      {
        type: aggregateBoolExp(builder, target),
        extensions: inputExtensions({ kind: 'aggregate-predicates', relationship, target }),
      },
    ]),
  );
}

function aggregateBoolExp(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.input(derivedTypeName(table, 'aggregate_bool_exp'), {
    extensions: conditionExtensions,
    fields: () => predicateFields(builder, table, ofRelated),
  });
}

/** The type that conditions on aggregates belong to, and the numbers they take. */
type Aggregated = {
  readonly type: 'aggregate_bool_exp' | 'group_bool_exp';
  readonly isNumber: (column: ResolvedColumn) => boolean;
};

/** Related rows are compared as in the reference, by aggregates of `double precision`; groups by aggregates of any number. */
const ofRelated: Aggregated = {
  type: 'aggregate_bool_exp',
  isNumber: ({ scalar }) => scalar.name === 'float8',
};
export const ofGroups: Aggregated = {
  type: 'group_bool_exp',
  isNumber: ({ scalar }) => scalar.family === 'number',
};

/** Returns one condition per function that applies to columns the role may read. */
export function predicateFields(
  builder: SchemaBuilder,
  table: ResolvedTable,
  of: Aggregated,
): GraphQLInputFieldConfigMap {
  const takes: Readonly<Record<PredicateRow['over'], (column: ResolvedColumn) => boolean>> = {
    all: () => true,
    booleans: ({ scalar }) => scalar.family === 'boolean',
    numbers: of.isNumber,
  };
  return Object.fromEntries(
    PREDICATE_FUNCTIONS.flatMap((fn) => {
      const columns = builder.selectableColumns(table).filter(takes[AGGREGATE_PREDICATES[fn].over]);
      if (columns.length === 0 && fn !== 'count') return [];
      const type = predicateInput(builder, { table, fn, columns, of: of.type });
      const extensions = inputExtensions({ kind: 'aggregate-predicate', fn });
      return [[fieldName(table.naming, fn), { type, extensions }]];
    }),
  );
}

/** A condition on a function of the columns of a table's rows. */
type AggregatePredicate = {
  readonly table: ResolvedTable;
  readonly fn: PredicateFunction;
  readonly columns: readonly ResolvedColumn[];
  readonly of: Aggregated['type'];
};

function predicateInput(builder: SchemaBuilder, predicate: AggregatePredicate): GraphQLInputObjectType {
  const { table, fn, of } = predicate;
  return builder.named(derivedTypeName(table, `${of}_${fn}`), (name) => {
    const given = builtinType(AGGREGATE_PREDICATES[fn].gives);
    const compared = { scalar: scalarOf(given), type: given };
    return new GraphQLInputObjectType({
      name,
      extensions: conditionExtensions,
      fields: () => ({
        ...argumentsField(builder, predicate),
        distinct: { type: GraphQLBoolean },
        filter: { type: boolExp(builder, table) },
        predicate: { type: new GraphQLNonNull(comparison(builder, compared, table.naming)) },
      }),
    });
  });
}

function argumentsField(builder: SchemaBuilder, predicate: AggregatePredicate): GraphQLInputFieldConfigMap {
  const { table, fn } = predicate;
  const form = AGGREGATE_PREDICATES[fn].arguments;
  if (form === 'any') {
    const column = selectColumn(builder, table);
    return column ? { arguments: { type: new GraphQLList(new GraphQLNonNull(column)) } } : {};
  }
  const column = argumentColumn(builder, predicate);
  const type = form === 'one' ? column : pair(builder, predicate, column);
  return { arguments: { type: new GraphQLNonNull(type) } };
}

function pair(
  builder: SchemaBuilder,
  { table, fn, of }: AggregatePredicate,
  column: GraphQLEnumType,
): GraphQLInputObjectType {
  return builder.named(derivedTypeName(table, `${of}_${fn}_arguments`), (name) => {
    const type = new GraphQLNonNull(column);
    return new GraphQLInputObjectType({ name, fields: { X: { type }, Y: { type } } });
  });
}

function argumentColumn(
  builder: SchemaBuilder,
  { table, fn, columns, of }: AggregatePredicate,
): GraphQLEnumType {
  const use = `${of}_${fn}_arguments_columns`;
  const own = typeName(table.naming, table.base, 'select_column', table.base, use);
  return builder.named(own, (name) =>
    columnEnum(name, `select "${use}" columns of table "${table.table.name}"`, columns),
  );
}

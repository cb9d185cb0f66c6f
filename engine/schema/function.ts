/** Functions in a role's schema: tracked ones as root fields, computed fields in their tables, and the `<name>_args` inputs of
 *  both. Reference: docs/reference/behaviour/functions.md. Not here: which functions fit (resolve/function.ts). */
import {
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';
import { targetOf } from '../resolve/access.ts';
import { computedTypeName } from '../resolve/names.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type {
  ResolvedArgument,
  ResolvedComputedField,
  ResolvedFunction,
  ResolvedSource,
  ResolvedTable,
} from '../resolve/types.ts';
import { aggregateType, mayAggregate } from './aggregate.ts';
import type { SchemaBuilder } from './builder.ts';
import { type FieldConfig, type FieldMap, fieldExtensions, inputExtensions } from './origin.ts';
import { objectType, rowArguments } from './table.ts';

/** Root fields of the functions the role may call there. */
export function functionRoots(
  builder: SchemaBuilder,
  source: ResolvedSource,
  exposedAs: ResolvedFunction['exposedAs'],
): FieldMap {
  return Object.fromEntries(
    [...source.functions.values()]
      .filter((fn) => fn.exposedAs === exposedAs && mayCall(builder, fn))
      .flatMap((fn) => [
        [fn.rootField, functionField(builder, fn)] as const,
        ...functionAggregate(builder, fn),
      ]),
  );
}

/** Nobody calls a function who may not read what it returns. */
export function mayCall(builder: SchemaBuilder, fn: ResolvedFunction): boolean {
  const table = targetOf(builder.model, fn.source, fn.returns);
  if (!builder.select(table)) return false;
  return builder.role === ADMIN_ROLE || fn.isForReaders || fn.roles.has(builder.role);
}

function functionField(builder: SchemaBuilder, fn: ResolvedFunction): FieldConfig {
  const table = targetOf(builder.model, fn.source, fn.returns);
  const type = objectType(builder, table);
  return {
    type: fn.returnsSet ? new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type))) : type,
    description: fn.description,
    args: functionArguments(builder, fn, table),
    extensions: fieldExtensions({ kind: 'function', fn, table }),
  };
}

/** `<fn>_aggregate`, of a function that answers a query with any number of rows. */
function functionAggregate(builder: SchemaBuilder, fn: ResolvedFunction): [string, FieldConfig][] {
  const table = targetOf(builder.model, fn.source, fn.returns);
  if (!fn.returnsSet || fn.exposedAs !== 'query' || !mayAggregate(builder, table)) return [];
  const field: FieldConfig = {
    type: new GraphQLNonNull(aggregateType(builder, table)),
    description: `execute function "${fn.function.name}" and query aggregates on result of table type "${table.table.name}"`,
    args: functionArguments(builder, fn, table),
    extensions: fieldExtensions({ kind: 'function-aggregate', fn, table }),
  };
  return [[fn.aggregateRootField, field]];
}

/** `args` of a tracked function. */
export function callArgumentsOf(builder: SchemaBuilder, fn: ResolvedFunction): GraphQLFieldConfigArgumentMap {
  const description = `input parameters for function "${fn.function.name}"`;
  return callArguments(builder, fn.argsTypeName, description, fn.arguments);
}

function functionArguments(
  builder: SchemaBuilder,
  fn: ResolvedFunction,
  table: ResolvedTable,
): GraphQLFieldConfigArgumentMap {
  return {
    ...callArgumentsOf(builder, fn),
    ...(fn.returnsSet ? rowArguments(builder, table) : {}),
  };
}

/** Computed fields of a table as far as the role may see them: listed values, and rows of tables it may read. */
export function visibleComputedFields(builder: SchemaBuilder, table: ResolvedTable): ResolvedComputedField[] {
  const access = builder.select(table);
  if (!access) return [];
  const visible = [...table.computedFields.values()].filter((field) => {
    if (field.returns.kind === 'scalar')
      return access.computedFields === null || access.computedFields.has(field.name);
    return builder.select(targetOf(builder.model, table.source, field.returns.table)) !== null;
  });
  const cells = access.cells.computedFields;
  if (cells.size === 0) return visible;
  return visible.map((field) => {
    const visibleIf = cells.get(field.name);
    return visibleIf ? { ...field, visibleIf } : field;
  });
}

/** Is there something the client must give? */
export function needsArguments(field: ResolvedComputedField): boolean {
  return field.arguments.some((argument) => argument.kind === 'user' && !argument.hasDefault);
}

/** `args` of a computed field in a condition or an order; null where the client gives nothing. */
export function computedArguments(
  builder: SchemaBuilder,
  table: ResolvedTable,
  field: ResolvedComputedField,
): GraphQLInputFieldConfig | null {
  const { args } = argumentsOf(builder, table, field);
  return args ? { ...args, extensions: inputExtensions({ kind: 'call-arguments' }) } : null;
}

function argumentsOf(
  builder: SchemaBuilder,
  table: ResolvedTable,
  field: ResolvedComputedField,
): GraphQLFieldConfigArgumentMap {
  return callArguments(
    builder,
    computedTypeName(table, field, 'args'),
    `input parameters for computed field "${field.name}" of table "${table.table.name}"`,
    field.arguments,
  );
}

export function computedField(
  builder: SchemaBuilder,
  table: ResolvedTable,
  field: ResolvedComputedField,
): FieldConfig {
  const args = argumentsOf(builder, table, field);
  const extensions = fieldExtensions({ kind: 'computed', table, field });
  const { returns, description } = field;
  if (returns.kind === 'scalar') {
    const isJson = returns.scalar.family === 'json' || returns.scalar.family === 'jsonb';
    const path = isJson ? { path: { type: GraphQLString, description: 'JSON select path' } } : {};
    return { type: builder.valueType(returns), description, args: { ...args, ...path }, extensions };
  }
  const target = targetOf(builder.model, table.source, returns.table);
  const type = objectType(builder, target);
  if (!returns.isSet) return { type, description, args, extensions };
  const list = new GraphQLList(new GraphQLNonNull(type));
  return { type: list, description, args: { ...args, ...rowArguments(builder, target) }, extensions };
}

/** `args`, when there is anything for the client to give. */
function callArguments(
  builder: SchemaBuilder,
  name: string,
  description: string,
  declared: readonly ResolvedArgument[],
): GraphQLFieldConfigArgumentMap {
  const own = declared.filter((argument) => argument.kind === 'user');
  if (own.length === 0) return {};
  const input = builder.named(name, () => {
    return new GraphQLInputObjectType({
      name,
      fields: () =>
        Object.fromEntries(
          own.map((argument) => [
            argument.graphqlName,
            {
              type: builder.valueType(argument),
              extensions: inputExtensions({ kind: 'argument', argument }),
            },
          ]),
        ),
    });
  });
  const isOptional = own.every((argument) => argument.hasDefault);
  return { args: { type: isOptional ? input : new GraphQLNonNull(input), description } };
}

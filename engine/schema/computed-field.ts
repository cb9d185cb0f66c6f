/** Computed fields in a role's schema: scalar values as fields, and the `args` of computed fields and functions.
 *  Not here: computed fields that return rows (table.ts), tracked functions (function.ts), which computed fields a role sees
 *  (builder.ts). Reference: docs/reference/behaviour/functions.md. */
import {
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';
import type { ResolvedArgument, ResolvedComputedField } from '../resolve/model/function.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { computedTypeName } from '../resolve/names.ts';
import type { SchemaBuilder } from './builder.ts';
import { type FieldConfig, fieldExtensions, inputExtensions, nullRefused } from './origin.ts';

/** The argument of a field with a JSON value. */
export const jsonPathArgument = {
  path: { type: GraphQLString, description: 'JSON select path', extensions: nullRefused },
};

/** Returns the field of a computed field that is a scalar value. */
export function computedValue(
  builder: SchemaBuilder,
  table: ResolvedTable,
  field: ResolvedComputedField,
): FieldConfig {
  const returned = scalarReturn(field);
  const { family } = returned.scalar;
  const isJson = family === 'json' || family === 'jsonb';
  const path = isJson ? jsonPathArgument : {};
  return {
    type: builder.valueType(returned),
    description: field.description,
    args: { ...computedFieldArguments(builder, table, field), ...path },
    extensions: fieldExtensions({ kind: 'computed', table, field }),
  };
}

type ScalarReturn = Extract<ResolvedComputedField['returns'], { kind: 'scalar' }>;

/** Returns the type of a computed field that is a scalar value. */
export function scalarReturn({ name, returns }: ResolvedComputedField): ScalarReturn {
  if (returns.kind !== 'scalar') throw new Error(`${name} returns rows`);
  return returns;
}

/** True when a client must give at least one argument. */
export function needsArguments(field: ResolvedComputedField): boolean {
  return field.arguments.some((argument) => argument.kind === 'user' && !argument.hasDefault);
}

/** Returns `args` of a computed field in a condition or an order; null when it takes none. */
export function computedArguments(
  builder: SchemaBuilder,
  table: ResolvedTable,
  field: ResolvedComputedField,
): GraphQLInputFieldConfig | null {
  const { args } = computedFieldArguments(builder, table, field);
  return args
    ? { ...args, extensions: { ...inputExtensions({ kind: 'call-arguments' }), ...nullRefused } }
    : null;
}

/** Returns `args` of a computed field that is selected. */
export function computedFieldArguments(
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

/** Returns the argument `args`, or nothing for a function that takes no arguments from clients. */
export function callArguments(
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
  const type = isOptional ? input : new GraphQLNonNull(input);
  return { args: { type, description, extensions: nullRefused } };
}

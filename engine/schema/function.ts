/** Tracked functions in a role's schema: their root fields, and aggregates over the rows they return.
 *  Not here: computed fields (computed-field.ts), which functions fit (resolve/function.ts).
 *  Reference: docs/reference/behaviour/functions.md. */
import { type GraphQLFieldConfigArgumentMap, GraphQLList, GraphQLNonNull } from 'graphql';
import { targetOf } from '../resolve/access.ts';
import type { ResolvedFunction } from '../resolve/model/function.ts';
import type { ResolvedSource } from '../resolve/model/source.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { aggregateType } from './aggregate.ts';
import type { SchemaBuilder } from './builder.ts';
import { callArguments } from './computed-field.ts';
import { type FieldConfig, type FieldMap, fieldExtensions } from './origin.ts';
import { rowArguments } from './rows.ts';

/** Returns the root fields of the functions the role may call. */
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

/** True when the role may call the function. Calling requires a select permission on the returned table. */
export function mayCall(builder: SchemaBuilder, fn: ResolvedFunction): boolean {
  const table = targetOf(builder.model, fn.source, fn.returns);
  if (!builder.select(table)) return false;
  return builder.role === ADMIN_ROLE || fn.isForReaders || fn.roles.has(builder.role);
}

function functionField(builder: SchemaBuilder, fn: ResolvedFunction): FieldConfig {
  const table = targetOf(builder.model, fn.source, fn.returns);
  const type = builder.objectType(table);
  return {
    type: fn.returnsSet ? new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type))) : type,
    description: fn.description,
    args: functionArguments(builder, fn, table),
    extensions: fieldExtensions({ kind: 'function', fn, table }),
  };
}

/** Returns `<fn>_aggregate` for a query function. */
function functionAggregate(builder: SchemaBuilder, fn: ResolvedFunction): [string, FieldConfig][] {
  const table = targetOf(builder.model, fn.source, fn.returns);
  if (fn.exposedAs !== 'query' || !builder.mayAggregate(table)) return [];
  const field: FieldConfig = {
    type: new GraphQLNonNull(aggregateType(builder, table)),
    description: `execute function "${fn.function.name}" and query aggregates on result of table type "${table.table.name}"`,
    args: functionArguments(builder, fn, table),
    extensions: fieldExtensions({ kind: 'function-aggregate', fn, table }),
  };
  return [[fn.aggregateRootField, field]];
}

/** Returns `args` of a tracked function. */
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
    ...rowArguments(builder, table),
  };
}

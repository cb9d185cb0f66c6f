/** One field selected in a row of a table → Field: a column, a computed field, related rows, an aggregate or a connection of
 *  them, or a join. Raises validation errors under the name of the field. Not here: which rows (table.ts), root fields (plan.ts).
 *  Reference: docs/reference/behaviour/queries.md, docs/reference/behaviour/relationships.md, docs/reference/behaviour/permissions.md. */
import type { GraphQLObjectType } from 'graphql';
import { arrayOf, baseType, builtinType } from '../catalog/types.ts';
import { type EngineError, fail, withPath } from '../errors/engine-error.ts';
import { targetOf } from '../resolve/access.ts';
import { callBeside } from '../resolve/function-call.ts';
import { jsonPath } from '../resolve/json-path.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { JoinKey } from '../resolve/model/table.ts';
import { type Leaf, visibleIfOf } from '../resolve/predicate.ts';
import { type FieldOrigin, fieldOrigin } from '../schema/origin.ts';
import { planAggregate } from './aggregate.ts';
import { readArguments } from './arguments.ts';
import { planConnection } from './connection.ts';
import type { PlanContext, SelectedField, SelectedNodes } from './context.ts';
import { planCall } from './function.ts';
import { type Arguments, type Input, valueByValue } from './input.ts';
import { planNativeRows } from './native-query.ts';
import type { Field } from './query-types.ts';
import { objectTypeOf, planCalled, planRows, planSelection, printedAs } from './table.ts';

/** Plans one field selected in a row of a table. */
export function planField(
  { alias, name, nodes, field }: SelectedField,
  type: GraphQLObjectType,
  context: PlanContext,
): Field {
  if (!field) return { kind: 'constant', alias, json: JSON.stringify(type.name) };
  return withPath(name, () => {
    const origin = fieldOrigin(field);
    if (origin.kind === 'column')
      return columnField(alias, origin.column, readArguments({ field, nodes }, context), context);
    if (origin.kind === 'computed') return computedField(alias, origin, { field, nodes }, context);
    if (origin.kind === 'relationship-connection') {
      const { relationship, target } = origin;
      const connection = planConnection(target, { field, nodes }, context);
      return { kind: 'connection', alias, join: relationship.join, ...connection };
    }
    if (origin.kind === 'joined') {
      const join = context.planners.join(origin.to, { field, nodes }, context);
      return {
        kind: 'joined',
        alias,
        keys: origin.keys.map((key) => keyField(key, origin.to.kind === 'rows')),
        join,
      };
    }
    if (origin.kind === 'node-id') {
      const key = origin.key.map(({ name: column, type: own }) => ({ column, type: own }));
      return { kind: 'node-id', alias, table: origin.table.table, key };
    }
    if (origin.kind !== 'relationship' && origin.kind !== 'relationship-aggregate')
      throw new Error(`${origin.kind} is not part of a row`);
    return planRelated({ alias, field, nodes, origin }, context);
  });
}

/** A selected field that leads to rows of another table, or to their aggregate. */
type RelatedField = SelectedNodes & {
  readonly alias: string;
  readonly origin: Extract<FieldOrigin, { kind: 'relationship' | 'relationship-aggregate' }>;
};

export function planRelated({ alias, field, nodes, origin }: RelatedField, context: PlanContext): Field {
  const { relationship, target } = origin;
  if (origin.kind === 'relationship-aggregate') {
    const { join } = relationship;
    return { kind: 'aggregate', alias, join, ...planAggregate(target, { field, nodes }, context) };
  }
  if (relationship.kind === 'array') {
    const { join } = relationship;
    return { kind: 'array', alias, join, select: planRows(target, { field, nodes }, context) };
  }
  const given = readArguments({ field, nodes }, context);
  const select = {
    ...planSelection(target, objectTypeOf(field), nodes, context),
    where: context.filterOf(target),
  };
  const join = { ...relationship.join, ...withPath('args', () => planNativeRows(target, given)) };
  return { kind: 'object', alias, join, select };
}

type ComputedOrigin = Extract<FieldOrigin, { kind: 'computed' }>;

function computedField(
  alias: string,
  { field: computed, table }: ComputedOrigin,
  at: SelectedNodes,
  context: PlanContext,
): Field {
  const given = readArguments(at, context);
  const call = withPath('args', () => planCall(computed, given, table));
  const { returns } = computed;
  if (returns.kind === 'scalar') {
    const path = withPath('args', () => pathLeaf(given.get('path'), context));
    const { type, json } = returns;
    return { kind: 'computed', alias, call, type, json, path, ...visibleIfOf(computed) };
  }
  const target = targetOf(context.document.role.model, table.source, returns.table);
  return {
    kind: 'called',
    alias,
    isList: returns.isSet,
    select: planCalled(target, call, at, context),
  };
}

function columnField(alias: string, column: ResolvedColumn, given: Arguments, context: PlanContext): Field {
  const path = withPath('args', () => pathLeaf(given.get('path'), context));
  return {
    kind: 'column',
    alias,
    column: column.name,
    ...printedAs(column),
    path,
    ...visibleIfOf(column),
  };
}

function pathLeaf(input: Input | undefined, context: PlanContext): Leaf | null {
  if (input?.kind !== 'leaf') return null;
  const steps = stepsOf(String(valueByValue(input, context)));
  return steps.length === 0 ? null : { kind: 'constant', value: steps, type: arrayOf(builtinType('text')) };
}

/** Returns the steps of a path. Raises `validationFailed`. */
function stepsOf(path: string): string[] {
  try {
    return jsonPath(path);
  } catch (error) {
    return fail('validationFailed', { text: (error as EngineError).message });
  }
}

function keyField(key: JoinKey, isOfRows: boolean): Field {
  if (key.kind === 'column') {
    const { column } = key;
    const isFilled = isOfRows && baseType(column.type).name === 'bpchar';
    const printed = {
      ...printedAs(column),
      ...visibleIfOf(column),
      ...(isFilled ? { isKey: true as const } : {}),
    };
    return { kind: 'column', alias: column.name, column: column.name, path: null, ...printed };
  }
  if (key.kind === 'upstream') throw new Error('a row has no value of a remote schema');
  const { type, json } = key.returns;
  const call = callBeside(key.field, key.table);
  return { kind: 'computed', alias: key.field.name, call, type, json, path: null };
}

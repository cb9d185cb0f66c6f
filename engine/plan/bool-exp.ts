/** Boolean expressions, the `where` and `having` arguments → Predicate. A relationship conjoins the role's filter on the other
 *  table, so a condition cannot reveal rows the role may not read. A condition on an aggregate,
 *  `{count: {arguments, distinct, filter, predicate}}`, is about the rows of an array relationship or of one group.
 *  Raises `validationFailed` unless there is exactly one such condition. Not here: permission filters (resolve/bool-exp.ts),
 *  aggregates that are selected (aggregate.ts). Source: docs/reference/behaviour/operators.md; spec: BoolExp. */
import { AGGREGATE_PREDICATES, type PredicateFunction } from '../catalog/aggregates.ts';
import {
  OPERATORS,
  type OperandFields,
  type OperatorName,
  type OperatorRow,
  operandFieldType,
  operandOf,
  operandType,
} from '../catalog/operators.ts';
import { scalarOf } from '../catalog/scalars.ts';
import { builtinType } from '../catalog/types.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { callBeside } from '../resolve/function-call.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import { NULL_COLLAPSE } from '../resolve/model/features.ts';
import type { ResolvedComputedField } from '../resolve/model/function.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { patternCost } from '../resolve/pattern-cost.ts';
import {
  type AggregateRef,
  allOf,
  and,
  anyOf,
  type ColumnRef,
  comparison,
  type Leaf,
  not,
  type Operand,
  type Predicate,
  TRUE,
  visibleIfOf,
} from '../resolve/predicate.ts';
import { inputOrigin } from '../schema/origin.ts';
import type { PlanContext } from './context.ts';
import { planCallBeside } from './function.ts';
import { type Input, leafOf, listLeafOf, refuseNull, valueByValue } from './input.ts';
import { CONDITION_WEIGHT } from './selection-size.ts';

export function planBoolExp(input: Input, context: PlanContext): Predicate {
  const object = objectOf(input);
  context.inputs.count(CONDITION_WEIGHT);
  const parts = [...object.fields].map(([name, value]) =>
    withPath(name, () => {
      const origin = inputOrigin(object.type.getFields()[name]!);
      switch (origin.kind) {
        case 'and':
          return allOf(each(value, context));
        case 'or':
          return anyOf(each(value, context));
        case 'not':
          return not(planBoolExp(value, context));
        case 'column':
          return comparisons(columnRef(origin.column), value, context);
        case 'computed':
          return comparisons(computedRef(origin.field, origin.table, value), value, context);
        case 'computed-rows':
          return {
            kind: 'called',
            call: callBeside(origin.field, origin.table),
            where: planBoolExp(value, context),
            ...filterOn(origin.target, context),
          } as const;
        case 'aggregate-predicates': {
          const { relationship, target } = origin;
          const rows = { join: relationship.join, table: target, ...filterOn(target, context) };
          return planAggregatePredicates(value, rows, context);
        }
        case 'relationship': {
          const { join } = origin.relationship;
          const where = planBoolExp(value, context);
          return { kind: 'related', join, where, ...filterOn(origin.target, context) } as const;
        }
        default:
          throw new Error(`${origin.kind} is not part of a boolean expression`);
      }
    }),
  );
  return and(...parts);
}

/** Returns the role's filter on a table that a condition reaches; nothing when the role reads all rows. */
function filterOn(table: ResolvedTable, context: PlanContext): { readonly filter?: Predicate } {
  const filter = context.filterOf(table);
  return filter.kind === 'true' ? {} : { filter };
}

function each(value: Input, context: PlanContext): Predicate[] {
  if (value.kind !== 'list') return refuseNull(value);
  return value.items.map((item, i) => withPath(i, () => planBoolExp(item, context)));
}

/** Plans the condition of an argument; null and an absent argument admit every row. */
export function planOptional(input: Input | undefined, context: PlanContext): Predicate {
  return input && input.kind !== 'null' ? planBoolExp(input, context) : TRUE;
}

/** Plans all operators of one column, joined by AND. */
export function comparisons(left: ColumnRef, value: Input, context: PlanContext): Predicate {
  const object = objectOf(value);
  context.inputs.count(CONDITION_WEIGHT);
  return and(
    ...[...object.fields].map(([name, operand]) =>
      withPath(name, () => {
        const origin = inputOrigin(object.type.getFields()[name]!);
        switch (origin.kind) {
          case 'operator':
            return compare(left, origin.operator, operand, context);
          case 'call-arguments':
            return TRUE;
          case 'casts':
            return comparisons(left, operand, context);
          case 'cast':
            return comparisons({ ...left, type: origin.to, cast: origin.to }, operand, context);
          default:
            throw new Error(`${name} is no operator`);
        }
      }),
    ),
  );
}

function compare(left: ColumnRef, operator: OperatorName, operand: Input, context: PlanContext): Predicate {
  if (operand.kind === 'null' && context.document.role.model.features.has(NULL_COLLAPSE)) return TRUE;
  if (operator === '_is_null') {
    if (operand.kind !== 'leaf') throw new Error('_is_null takes a Boolean');
    return { kind: 'is-null', left, isNull: valueByValue(operand, context) === true };
  }
  const form = operandOf(operator, scalarOf(left.type).family);
  if (typeof form === 'object') return comparison(left, operator, argumentsOf(form, operand, left));
  const type = operandType(form, left.type);
  const right = operand.kind === 'list' ? listLeafOf(operand, type) : leafOf(operand, type);
  refuseCostlyPattern(operator, right);
  return comparison(left, operator, right);
}

/** Raises for a pattern in the document. Those of variables are counted with it when the statement is bound (execute/bind.ts). */
function refuseCostlyPattern(operator: OperatorName, right: Leaf): void {
  const { pattern }: OperatorRow = OPERATORS[operator];
  if (pattern === undefined || right.kind !== 'constant' || typeof right.value !== 'string') return;
  if (patternCost(right.value, pattern) > 1) fail('patternTooComplex', {});
}

function argumentsOf({ fields }: OperandFields, input: Input, left: ColumnRef): Operand {
  const given = objectOf(input).fields;
  const values = Object.entries(fields).map(([name, row]): Leaf => {
    const type = operandFieldType(row, left.type);
    const value = given.get(name);
    if (value) return withPath(name, () => leafOf(value, type));
    return { kind: 'constant', value: row.standard === undefined ? null : String(row.standard), type };
  });
  return { kind: 'arguments', values };
}

/** Returns a reference to a column, with the condition under which the role sees its value. */
export function columnRef(column: ResolvedColumn): ColumnRef {
  const { name, type, isComputed } = column;
  return { column: name, type, ...(isComputed ? { isComputed } : {}), ...visibleIfOf(column) };
}

function computedRef(field: ResolvedComputedField, table: ResolvedTable, given: Input): ColumnRef {
  if (field.returns.kind !== 'scalar') throw new Error(`${field.name} is no value`);
  const call = planCallBeside(given, field, table);
  return { column: field.name, type: field.returns.type, call, ...visibleIfOf(field) };
}

type InputObject = Extract<Input, { kind: 'object' }>;

export function objectOf(input: Input): InputObject {
  return input.kind === 'object' ? input : refuseNull(input);
}

/** The rows that a condition on an aggregate is about. */
type Rows = Pick<AggregateRef, 'join' | 'filter'> & { readonly table: ResolvedTable };

/** Plans the condition on related rows; there must be exactly one. */
function planAggregatePredicates(value: Input, rows: Rows, context: PlanContext): Predicate {
  const object = objectOf(value);
  const [only, ...others] = object.fields;
  if (!only || others.length > 0) {
    return fail('validationFailed', { text: 'exactly one predicate should be specified' });
  }
  return planAggregatePredicate(only[0], object, rows, context);
}

/** Plans one of the conditions in `object`. */
export function planAggregatePredicate(
  name: string,
  object: InputObject,
  rows: Rows,
  context: PlanContext,
): Predicate {
  const origin = inputOrigin(object.type.getFields()[name]!);
  if (origin.kind !== 'aggregate-predicate') throw new Error(`${name} is no condition on an aggregate`);
  return withPath(name, () => condition(origin.fn, object.fields.get(name)!, rows, context));
}

function condition(
  fn: PredicateFunction,
  value: Input,
  { table, ...rows }: Rows,
  context: PlanContext,
): Predicate {
  const { fields } = objectOf(value);
  const filter = fields.get('filter');
  const distinct = fields.get('distinct');
  const columns = columnsOf(fields.get('arguments'));
  const aggregate: AggregateRef = {
    ...rows,
    fn,
    columns,
    ...context.visibleIf(table, columns),
    isDistinct: distinct?.kind === 'leaf' && valueByValue(distinct, context) === true,
    where: filter ? withPath('filter', () => planBoolExp(filter, context)) : TRUE,
  };
  const type = builtinType(AGGREGATE_PREDICATES[fn].gives);
  const cast = type.name === 'float8' ? { cast: type } : {};
  return withPath('predicate', () =>
    comparisons({ column: fn, type, aggregate, ...cast }, fields.get('predicate')!, context),
  );
}

/** Returns the column names in an argument: one column, a list, or `{X, Y}`. */
function columnsOf(input: Input | undefined): string[] {
  switch (input?.kind) {
    case 'enum':
      return [input.value];
    case 'list':
      return input.items.flatMap(columnsOf);
    case 'object':
      return ['X', 'Y'].flatMap((name) => columnsOf(input.fields.get(name)));
    default:
      return [];
  }
}

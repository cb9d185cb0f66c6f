/** A `where` argument → Predicate. Relationships conjoin what the role may see of the other table, so a filter cannot be
 *  used to learn about hidden rows. Not here: permission filters (resolve/bool-exp.ts). Spec: BoolExp. */
import {
  type OperandFields,
  type OperatorName,
  operandFieldType,
  operandOf,
  operandType,
} from '../catalog/operators.ts';
import { scalarOf } from '../catalog/scalars.ts';
import { withPath } from '../errors/engine-error.ts';
import { callBeside } from '../resolve/function-call.ts';
import {
  and,
  type ColumnRef,
  comparison,
  type Leaf,
  not,
  type Operand,
  or,
  type Predicate,
  TRUE,
  visibleIfOf,
} from '../resolve/predicate.ts';
import type { ResolvedColumn, ResolvedComputedField, ResolvedTable } from '../resolve/types.ts';
import { inputOrigin } from '../schema/origin.ts';
import { planAggregatePredicates } from './aggregate-predicate.ts';
import type { PlanContext } from './context.ts';
import { planCallBeside } from './function.ts';
import { type Input, leafOf, listLeafOf, refuseNull, valueByValue } from './input.ts';

export function planBoolExp(input: Input, context: PlanContext): Predicate {
  const object = objectOf(input);
  const parts = [...object.fields].map(([name, value]) =>
    withPath(name, () => {
      const origin = inputOrigin(object.type.getFields()[name]!);
      switch (origin.kind) {
        case 'and':
          return and(...each(value, context));
        case 'or':
          return value.kind === 'list' && value.items.length === 0 ? or() : or(...each(value, context));
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

/** The role's own filter on rows it reaches, where it has one. */
function filterOn(table: ResolvedTable, context: PlanContext): { readonly filter?: Predicate } {
  const filter = context.filterOf(table);
  return filter.kind === 'true' ? {} : { filter };
}

function each(value: Input, context: PlanContext): Predicate[] {
  if (value.kind !== 'list') return refuseNull(value);
  return value.items.map((item, i) => withPath(i, () => planBoolExp(item, context)));
}

/** All operators given for one column, conjoined. */
export function comparisons(left: ColumnRef, value: Input, context: PlanContext): Predicate {
  const object = objectOf(value);
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
  if (operand.kind === 'null') return refuseNull(operand);
  if (operator === '_is_null') {
    if (operand.kind !== 'leaf') throw new Error('_is_null takes a Boolean');
    return { kind: 'is-null', left, isNull: valueByValue(operand, context) === true };
  }
  const form = operandOf(operator, scalarOf(left.type).family);
  if (typeof form === 'object') return comparison(left, operator, argumentsOf(form, operand, left));
  const type = operandType(form, left.type);
  const right = operand.kind === 'list' ? listLeafOf(operand, type) : leafOf(operand, type);
  return comparison(left, operator, right);
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

/** A column as the role sees it. */
export function columnRef(column: ResolvedColumn): ColumnRef {
  const { name, type, isComputed } = column;
  return { column: name, type, ...(isComputed ? { isComputed } : {}), ...visibleIfOf(column) };
}

function computedRef(field: ResolvedComputedField, table: ResolvedTable, given: Input): ColumnRef {
  if (field.returns.kind !== 'scalar') throw new Error(`${field.name} is no value`);
  const call = planCallBeside(given, field, table);
  return { column: field.name, type: field.returns.type, call, ...visibleIfOf(field) };
}

export type InputObject = Extract<Input, { kind: 'object' }>;

export function objectOf(input: Input): InputObject {
  return input.kind === 'object' ? input : refuseNull(input);
}

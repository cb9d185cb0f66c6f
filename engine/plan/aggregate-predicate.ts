/** `{count: {arguments, distinct, filter, predicate}}` → a condition on a value over many rows: those of an array relationship,
 *  as far as the role may see them, or those of one group. Raises `validationFailed` where it is not exactly one condition.
 *  Not here: values that are answered (aggregate.ts). Source: docs/reference/behaviour/operators.md. */
import { AGGREGATE_PREDICATES, type PredicateFunction } from '../catalog/aggregates.ts';
import { builtinType } from '../catalog/types.ts';
import { fail, withPath } from '../errors/engine-error.ts';
import { type AggregateRef, type Predicate, TRUE } from '../resolve/predicate.ts';
import type { ResolvedTable } from '../resolve/types.ts';
import { inputOrigin } from '../schema/origin.ts';
import { comparisons, type InputObject, objectOf, planBoolExp } from './bool-exp.ts';
import type { PlanContext } from './context.ts';
import { type Input, valueByValue } from './input.ts';

type Rows = Pick<AggregateRef, 'join' | 'filter'> & { readonly table: ResolvedTable };

/** Exactly one condition, on related rows. */
export function planAggregatePredicates(value: Input, rows: Rows, context: PlanContext): Predicate {
  const object = objectOf(value);
  const [only, ...others] = object.fields;
  if (!only || others.length > 0) {
    return fail('validationFailed', { text: 'exactly one predicate should be specified' });
  }
  return planAggregatePredicate(only[0], object, rows, context);
}

/** One of the conditions in `object`. */
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

/** A column, a list of them, or `{X, Y}`. */
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

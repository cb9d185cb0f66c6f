/** The rows an update or delete writes and, in a nested update, the writes to related rows: steps, each within the rows the
 *  role may write there and read through the relationship. The order is fixed and independent of the client's order: the row,
 *  then relationship by relationship deletes before updates. Raises `validationFailed` for an update without assignments. Why:
 *  ADR 8. Reference: docs/reference/behaviour/mutations.md; spec: "Permission arguments". */
import { arrayOf } from '../catalog/types.ts';
import { fail, type PathStep, withPath, withSteps } from '../errors/engine-error.ts';
import type { ResolvedRelationship } from '../resolve/model/relationship.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { fieldName } from '../resolve/naming.ts';
import { and, type Predicate, TRUE } from '../resolve/predicate.ts';
import { filtered } from '../resolve/row-barrier.ts';
import { inputOrigin } from '../schema/origin.ts';
import { RELATED, UPDATE_OPERATORS } from '../schema/update.ts';
import { assignments, presetAssignments, refuseRepeated } from './assignment.ts';
import { planBoolExp } from './bool-exp.ts';
import { notPermitted, type PlanContext } from './context.ts';
import { type Arguments, fieldsOf, type Input, itemsOf } from './input.ts';
import type { Delete, NestedUpdate, Reached, Update, UpdateStep } from './mutation-types.ts';
import { refuseUnknown } from './on-cluster.ts';

type Path = readonly PathStep[];

/** Plans an update. `path` leads from the root field's arguments to `given`. Returns null when the operators name no column,
 *  so there is nothing to write. */
export function planUpdate(
  table: ResolvedTable,
  given: Arguments,
  where: Predicate,
  context: PlanContext,
  path: Path = [],
): Update | NestedUpdate | null {
  const update = updateOf(table, given, where, context);
  if (!update) return null;
  const related = relatedIn(table, given);
  if (related.length === 0) return update;
  const steps: UpdateStep[] = [{ write: update, keepsRows: true, isAnswered: true, path }];
  addRelated(steps, table, related, path, context);
  return { kind: 'nested-update', table: table.table, steps };
}

/** Plans a delete. `visible` is an additional condition on the rows. */
export function planDelete(
  table: ResolvedTable,
  where: Predicate,
  context: PlanContext,
  visible: Predicate = TRUE,
): Delete {
  const access = context.access(table).delete ?? notPermitted();
  const reached = filtered(and(access.filter, visible), where);
  refuseUnknown(table, reached, context);
  return { kind: 'delete', table: table.table, where: reached };
}

export function whereOf(given: Arguments, context: PlanContext): Predicate {
  const where = given.get('where');
  return where ? withPath('where', () => planBoolExp(where, context)) : TRUE;
}

/** Returns the update; null when the operators name no column and no related rows are written. */
function updateOf(
  table: ResolvedTable,
  given: Arguments,
  where: Predicate,
  context: PlanContext,
  visible: Predicate = TRUE,
): Update | null {
  const access = context.access(table).update ?? notPermitted();
  const operators = UPDATE_OPERATORS.map(({ name }) => ({ name, spelled: fieldName(table.naming, name) }));
  const assignmentLists = operators.flatMap(({ name, spelled }) => {
    const input = given.get(spelled);
    return input?.kind === 'object' ? [withPath(spelled, () => assignments(name, input))] : [];
  });
  const assigned = assignmentLists.flat();
  refuseRepeated(assigned);
  const taken = new Set(assigned.map(({ column }) => column));
  const set = [...assigned, ...presetAssignments(table, access, taken)];
  if (set.length > 0) {
    const reached = filtered(and(access.filter, visible), where);
    refuseUnknown(table, reached, context);
    return { kind: 'update', table: table.table, set, where: reached, check: access.check };
  }
  if (assignmentLists.length > 0 && relatedIn(table, given).length === 0) return null;
  return fail('validationFailed', {
    text: `at least any one of ${operators.map(({ spelled }) => spelled).join(', ')} is expected`,
  });
}

/** The writes through one relationship. */
export type RelatedWrites = {
  readonly relationship: ResolvedRelationship;
  readonly target: ResolvedTable;
  readonly deletes: readonly Input[];
  readonly updates: readonly Input[];
};

/** Returns the writes to related rows in the schema's order, without those that write nothing. */
export function relatedIn(table: ResolvedTable, given: Arguments): readonly RelatedWrites[] {
  const related = given.get(fieldName(table.naming, RELATED));
  if (related?.kind !== 'object') return [];
  return Object.values(related.type.getFields()).flatMap((field) => {
    const writes = fieldsOf(related.fields.get(field.name));
    const [deletes, updates] = [itemsOf(writes.get('delete')), itemsOf(writes.get('update'))];
    if (deletes.length + updates.length === 0) return [];
    const origin = inputOrigin(field);
    if (origin.kind !== 'relationship') throw new Error(`${origin.kind} is no relationship`);
    return [{ relationship: origin.relationship, target: origin.target, deletes, updates }];
  });
}

/** Adds the writes to rows related to the rows of the last step, which are in `table`. */
function addRelated(
  steps: UpdateStep[],
  table: ResolvedTable,
  related: readonly RelatedWrites[],
  path: Path,
  context: PlanContext,
): void {
  const parent = steps.length - 1;
  const spelled = fieldName(table.naming, RELATED);
  for (const { relationship, target, deletes, updates } of related) {
    const reached = reachedFrom(table, parent, relationship, context);
    const visible = context.filterOf(target);
    context.countWrites(deletes.length + updates.length);
    const at = (write: 'delete' | 'update', i: number) => [spelled, relationship.name, write, i];
    deletes.forEach((each, i) => {
      withSteps(at('delete', i), () => {
        const where = whereOf(fieldsOf(each), context);
        const write = { ...planDelete(target, where, context, visible), reached };
        steps.push({ write, keepsRows: false, isAnswered: false, path: [...path, ...at('delete', i)] });
      });
    });
    updates.forEach((each, i) => {
      withSteps(at('update', i), () => {
        const fields = fieldsOf(each);
        const where = whereOf(fields, context);
        const update = updateOf(target, fields, where, context, visible);
        if (!update) return;
        const write = { ...update, reached };
        const inner = relatedIn(target, fields);
        const here = [...path, ...at('update', i)];
        steps.push({ write, keepsRows: inner.length > 0, isAnswered: false, path: here });
        addRelated(steps, target, inner, here, context);
      });
    });
  }
}

/** Returns the restriction to rows that the relationship reaches from the rows of `step` and that the role may read. */
function reachedFrom(
  table: ResolvedTable,
  step: number,
  { join }: ResolvedRelationship,
  context: PlanContext,
): Reached {
  const row = { ...table.table, kind: 'composite', element: null, base: null } as const;
  return {
    rows: { kind: 'inserted', step, kept: 0, type: arrayOf(row) },
    join,
    where: context.filterOf(table),
  };
}

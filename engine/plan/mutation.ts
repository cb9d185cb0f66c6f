/** A mutation root field → the rows to write, the conditions, and the response. Merges in the permission's filters, checks and
 *  presets. Reference: docs/reference/behaviour/mutations.md, docs/reference/behaviour/permissions.md; spec: "Permission
 *  arguments". */
import { withPath } from '../errors/engine-error.ts';
import { STRICT_RETURNING } from '../resolve/model/features.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { type Predicate, TRUE } from '../resolve/predicate.ts';
import { type FieldOrigin, fieldOrigin, type MutationKind } from '../schema/origin.ts';
import { readArguments } from './arguments.ts';
import type { PlanContext, SelectedNodes } from './context.ts';
import { fieldsOf, itemsOf } from './input.ts';
import { planInsert } from './insert.ts';
import type { MutationField, MutationOutput, MutationRoot, Nothing } from './mutation-types.ts';
import { selectedFields, subselections } from './selection.ts';
import { keyPredicate, objectTypeOf, planSelection } from './table.ts';
import type { Root } from './types.ts';
import { planDelete, planUpdate, whereOf } from './update.ts';
import { planValidations } from './validate-input.ts';

/** Returns the condition on the rows that a mutation returns; `filter` is the role's filter for reading. */
export function returnedRows({ features }: Model, filter: Predicate): Predicate {
  return features.has(STRICT_RETURNING) ? filter : TRUE;
}

type MutationOrigin = Extract<FieldOrigin, { kind: MutationKind }>;
type MutationRootField = SelectedNodes & {
  readonly alias: string;
  readonly origin: MutationOrigin;
};

export function planMutation(root: MutationRootField, context: PlanContext): Root {
  const { alias, field, nodes, origin } = root;
  const { table } = origin;
  const { names } = table.naming;
  const given = readArguments({ field, nodes }, context);
  context.validations.push(...planValidations(origin, nodes[0]!, given, context));
  const output = outputOf(root, context);
  const at = { alias, source: table.source };
  const nothing = (): Nothing => ({ kind: 'nothing', json: emptyResponse(output) });
  const one = (action: MutationRoot['action'] | Nothing): Root =>
    action.kind === 'nothing'
      ? { kind: 'local', alias, json: action.json }
      : { kind: 'mutation', ...at, mutation: { action, output } };
  return withPath('args', (): Root => {
    switch (origin.kind) {
      case 'insert': {
        const isEmpty = itemsOf(given.get('objects')).length === 0;
        return one(isEmpty ? nothing() : planInsert(table, 'objects', given, context));
      }
      case 'insert-one':
        return one(planInsert(table, 'object', given, context));
      case 'update':
        return one(planUpdate(table, given, whereOf(given, context), context) ?? nothing());
      case 'update-by-pk': {
        const where = keyPredicate(table, fieldsOf(given.get(names.pk_columns)), context);
        return one(planUpdate(table, given, where, context) ?? nothing());
      }
      case 'update-many': {
        const updates = itemsOf(given.get('updates'));
        context.countWrites(updates.length);
        return one({
          kind: 'update-many',
          updates: updates.map((update, i) =>
            withPath('updates', () =>
              withPath(i, () => {
                const fields = fieldsOf(update);
                const where = whereOf(fields, context);
                return planUpdate(table, fields, where, context, ['updates', i]) ?? nothing();
              }),
            ),
          ),
        });
      }
      case 'delete':
        return one(planDelete(table, whereOf(given, context), context));
      case 'delete-by-pk':
        return one(planDelete(table, keyPredicate(table, given, context), context));
      default:
        return origin.kind satisfies never;
    }
  });
}

function outputOf({ field, nodes, origin }: MutationRootField, context: PlanContext): MutationOutput {
  const type = objectTypeOf(field);
  if (['insert-one', 'update-by-pk', 'delete-by-pk'].includes(origin.kind)) {
    return {
      kind: 'row',
      select: returned(planSelection(origin.table, type, nodes, context), origin.table, context),
    };
  }
  const fields = withPath('selectionSet', () =>
    selectedFields(subselections(nodes), type, context).map((selected): MutationField => {
      if (!selected.field)
        return { kind: 'constant', alias: selected.alias, json: JSON.stringify(type.name) };
      const { alias, name, field: inner } = selected;
      return withPath(name, (): MutationField => {
        const about = fieldOrigin(inner);
        if (about.kind === 'affected-rows') return { kind: 'affected-rows', alias };
        if (about.kind !== 'returning') throw new Error(`${about.kind} is not part of a mutation's response`);
        const select = planSelection(about.table, objectTypeOf(inner), selected.nodes, context);
        return { kind: 'returning', alias, select: returned(select, about.table, context) };
      });
    }),
  );
  return { kind: 'response', fields };
}

/** Returns the selection of the rows that were written: all of them, or with --strict-returning those the role may read. */
function returned<T extends { readonly where: Predicate }>(
  select: T,
  table: ResolvedTable,
  context: PlanContext,
): T {
  return { ...select, where: returnedRows(context.document.role.model, context.filterOf(table)) };
}

/** Returns the response of a mutation that writes nothing. */
function emptyResponse(output: MutationOutput): string {
  if (output.kind === 'row') return 'null';
  const members = output.fields.map((field) => {
    const json = field.kind === 'affected-rows' ? '0' : field.kind === 'returning' ? '[]' : field.json;
    return `${JSON.stringify(field.alias)}:${json}`;
  });
  return `{${members.join(',')}}`;
}

/** The validation webhooks that a mutation root calls before anything is written, and their input: the arguments as the client
 *  wrote them, by reference, so that a plan holds no values. Nested writes are validated by the webhook of their own table, upserts
 *  only by the webhook of inserts, as in the reference: the rows contain the values of the update.
 *  Reference: docs/reference/behaviour/permissions.md. Not here: calling webhooks (webhook/input-validation.ts). */
import { type FieldNode, Kind, type ObjectFieldNode, type ValueNode } from 'graphql';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { InputValidation } from '../resolve/model/webhook.ts';
import { fieldName } from '../resolve/naming.ts';
import { inputOrigin, type MutationKind } from '../schema/origin.ts';
import { RELATED } from '../schema/update.ts';
import type { PlanContext } from './context.ts';
import { type Arguments, fieldsOf, type Input, itemsOf } from './input.ts';
import type { Validation } from './types.ts';
import { relatedIn } from './update.ts';

type Mutation = { readonly kind: MutationKind; readonly table: ResolvedTable };

export function planValidations(
  { kind, table }: Mutation,
  node: FieldNode,
  given: Arguments,
  context: PlanContext,
): readonly Validation[] {
  const access = context.access(table);
  switch (kind) {
    case 'insert':
    case 'insert-one': {
      const name = kind === 'insert' ? 'objects' : 'object';
      const value = argumentOf(node, name);
      return value ? insertValidations(value, itemsOf(given.get(name)), table, [], context) : [];
    }
    case 'update':
    case 'update-by-pk':
      return [
        ...validation(access.update?.validation, allArguments(node)),
        ...relatedValidations(allArguments(node), [given], table, [], context),
      ];
    case 'update-many': {
      const value = argumentOf(node, 'updates');
      if (!value) return [];
      const updates = itemsOf(given.get('updates')).map(fieldsOf);
      return [
        ...validation(access.update?.validation, value),
        ...relatedValidations(value, updates, table, [], context),
      ];
    }
    case 'delete':
      return validation(access.delete?.validation, allArguments(node));
    case 'delete-by-pk': {
      const key = objectField(table.naming.names.pk_columns, allArguments(node));
      return validation(access.delete?.validation, { kind: Kind.OBJECT, fields: [key] });
    }
    default:
      return kind satisfies never;
  }
}

function validation(
  webhook: InputValidation | undefined,
  value: ValueNode | undefined,
): readonly Validation[] {
  return webhook && value ? [{ webhook, value, steps: [] }] : [];
}

/** The rows of a table first, then those nested in them. */
function insertValidations(
  value: ValueNode,
  rows: readonly Input[],
  table: ResolvedTable,
  steps: readonly string[],
  context: PlanContext,
): readonly Validation[] {
  const webhook = context.access(table).insert?.validation;
  const own = webhook && rows.length > 0 ? [{ webhook, value, steps }] : [];
  const nested = relatedRows(rows).flatMap(([name, { target, inputs }]) =>
    insertValidations(value, inputs, target, [...steps, name, 'data'], context),
  );
  return [...own, ...nested];
}

/** Returns the validations of writes nested in updates of a table, under the fields `steps`. */
function relatedValidations(
  value: ValueNode,
  updates: readonly Arguments[],
  table: ResolvedTable,
  steps: readonly string[],
  context: PlanContext,
): readonly Validation[] {
  const all = updates.flatMap((given) => relatedIn(table, given));
  return [...new Set(all.map(({ relationship }) => relationship))].flatMap((relationship) => {
    const writes = all.filter((each) => each.relationship === relationship);
    const { target } = writes[0]!;
    const access = context.access(target);
    const here = [...steps, fieldName(table.naming, RELATED), relationship.name];
    const validationsOf = (write: 'delete' | 'update', inputs: readonly Input[]) => {
      const webhook = access[write]?.validation;
      return webhook && inputs.length > 0 ? [{ webhook, value, steps: [...here, write] }] : [];
    };
    const nested = writes.flatMap((each) => each.updates);
    const inner = [...here, 'update'];
    return [
      ...validationsOf(
        'delete',
        writes.flatMap((each) => each.deletes),
      ),
      ...validationsOf('update', nested),
      ...relatedValidations(value, nested.map(fieldsOf), target, inner, context),
    ];
  });
}

type Related = { readonly target: ResolvedTable; readonly inputs: Input[] };

/** Returns the nested rows, by the name of the relationship. */
function relatedRows(rows: readonly Input[]): readonly (readonly [string, Related])[] {
  const related = new Map<string, Related>();
  for (const row of rows) {
    if (row.kind !== 'object') continue;
    for (const [name, value] of row.fields) {
      const origin = inputOrigin(row.type.getFields()[name]!);
      if (origin.kind !== 'relationship' || value.kind !== 'object') continue;
      const known = related.get(name) ?? { target: origin.target, inputs: [] };
      known.inputs.push(...itemsOf(value.fields.get('data')));
      related.set(name, known);
    }
  }
  return [...related];
}

function argumentOf(node: FieldNode, name: string): ValueNode | undefined {
  return node.arguments?.find((argument) => argument.name.value === name)?.value;
}

/** Several arguments as one object of them. */
function allArguments(node: FieldNode): ValueNode {
  const fields = (node.arguments ?? []).map(({ name, value }) => objectField(name.value, value));
  return { kind: Kind.OBJECT, fields };
}

function objectField(name: string, value: ValueNode): ObjectFieldNode {
  return { kind: Kind.OBJECT_FIELD, name: { kind: Kind.NAME, value: name }, value };
}

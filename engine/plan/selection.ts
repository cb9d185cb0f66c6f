/** A selection set as the fields it asks for: fragments spread, `@include` and `@skip` decided, fields of one response name
 *  merged, each with its definition. In response order. Source: GraphQL specification, "Field Collection".
 *  Raises `notFoundInType` and directive errors with their paths. Not here: what a field means (plan.ts, table.ts). */
import {
  type FieldNode,
  GraphQLBoolean,
  type GraphQLField,
  GraphQLNonNull,
  type GraphQLObjectType,
  getNamedType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { fail, withPath } from '../errors/engine-error.ts';
import type { PlanContext } from './context.ts';
import { readInput, valueByValue } from './input.ts';

export type SelectedField = {
  /** Response name. */
  readonly alias: string;
  readonly name: string;
  /** All nodes of this response name; their arguments are equal (checked when the document was prepared). */
  readonly nodes: readonly FieldNode[];
  /** Null for `__typename`. */
  readonly field: GraphQLField<unknown, unknown> | null;
};

/** `sets` are merged: the selection sets of the nodes of one field. */
export function selectedFields(
  sets: readonly SelectionSetNode[],
  type: GraphQLObjectType,
  context: PlanContext,
): readonly SelectedField[] {
  const found = new Map<string, { name: string; nodes: FieldNode[] }>();
  for (const set of sets) collect(set, context, found);
  return [...found].map(([alias, { name, nodes }]) => {
    if (name === '__typename') return { alias, name, nodes, field: null };
    const field =
      type.getFields()[name] ??
      withPath(name, () => fail('notFoundInType', { field: name, type: type.name }));
    requireSubselection(field, nodes, type);
    return { alias, name, nodes, field };
  });
}

/** The selection sets under a field's nodes. */
export function subselections(nodes: readonly FieldNode[]): SelectionSetNode[] {
  return nodes.flatMap((node) => (node.selectionSet ? [node.selectionSet] : []));
}

function collect(
  set: SelectionSetNode,
  context: PlanContext,
  found: Map<string, { name: string; nodes: FieldNode[] }>,
): void {
  for (const selection of set.selections) {
    if (!isIncluded(selection, context)) continue;
    if (selection.kind === Kind.FIELD) {
      const alias = selection.alias?.value ?? selection.name.value;
      const entry = found.get(alias);
      if (entry) entry.nodes.push(selection);
      else found.set(alias, { name: selection.name.value, nodes: [selection] });
      continue;
    }
    const inner =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection.selectionSet
        : context.document.fragments.get(selection.name.value)!.selectionSet;
    collect(inner, context, found);
  }
}

function isIncluded(selection: SelectionNode, context: PlanContext): boolean {
  return (selection.directives ?? []).every((directive) => {
    const name = directive.name.value;
    if (name !== 'include' && name !== 'skip') {
      return fail('validationFailed', { text: `directive '${name}' is not defined in the schema` });
    }
    const argument = directive.arguments?.find((each) => each.name.value === 'if');
    if (!argument) return fail('missingValue', { name: 'if' });
    const input = withPath(name, () => withPath('if', () => readInput(argument.value, CONDITION, context)));
    const holds = input?.kind === 'leaf' && valueByValue(input, context) === true;
    return name === 'include' ? holds : !holds;
  });
}

const CONDITION = new GraphQLNonNull(GraphQLBoolean);

function requireSubselection(
  field: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
  parent: GraphQLObjectType,
): void {
  const isObject = isObjectType(getNamedType(field.type));
  const hasSelection = nodes.every((node) => node.selectionSet !== undefined);
  if (isObject && !hasSelection) {
    withPath(field.name, () =>
      fail('validationFailed', { text: `missing selection set for '${field.name}'` }),
    );
  }
  if (!isObject && nodes.some((node) => node.selectionSet)) {
    withPath(field.name, () =>
      fail('validationFailed', {
        text: `unexpected subselection set for non-object field of '${parent.name}'`,
      }),
    );
  }
}

/** A selection set → its fields, in response order: fragments are spread, `@include` and `@skip` are evaluated, and fields of
 *  one response name are merged, each with its definition. Source: GraphQL specification, "Field Collection". Raises
 *  `notFoundInType`, and `ambiguousAlias` or `inconsistentArguments` for fields of one response name that cannot be merged. Not here: the meaning of a
 *  field (plan.ts, field.ts). */
import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  isInterfaceType,
  isUnionType,
  Kind,
  type NamedTypeNode,
  type ObjectFieldNode,
  print,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValueNode,
} from 'graphql';
import { fail, type PathStep, withPath } from '../errors/engine-error.ts';
import { own } from '../metadata/own.ts';
import { findNodeType, type RemoteTypeOrigin, remoteTypeOrigin } from '../schema/origin.ts';
import type { Conditions } from './conditions.ts';
import type { PlanContext, SelectedField } from './context.ts';
import { CONDITION } from './directives.ts';
import { readInput, valueByValue } from './input.ts';

/** The number of fields that a selection counts as besides its fields: a relationship takes as long to plan and print as five columns. */
const SELECTION_WEIGHT = 4;

type Found = { readonly name: string; readonly nodes: FieldNode[] };

/** Returns the fields of the merged `sets`, the selection sets of the nodes of one field. */
export function selectedFields(
  sets: readonly SelectionSetNode[],
  type: GraphQLObjectType,
  context: PlanContext,
): readonly SelectedField[] {
  const found = new Map<string, Found>();
  const spread = new Set<string>();
  for (const set of sets) collect(set, type, context, found, spread);
  context.countFields(found.size);
  for (const { nodes } of found.values()) if (nodes[0]!.selectionSet) context.countFields(SELECTION_WEIGHT);
  return [...found].map(([alias, { name, nodes }]) => {
    return { alias, name, nodes, field: definitionOf(type, name) };
  });
}

/** Returns the definition of a field; null for `__typename`. The roots of introspection are fields of the query root. */
export function definitionOf(
  type: GraphQLCompositeType,
  name: string,
  path: readonly PathStep[] = [],
): GraphQLField<unknown, unknown> | null {
  if (name === '__typename') return null;
  const declared = isUnionType(type) ? undefined : type.getFields()[name];
  const field = declared ?? (type.name === 'query_root' ? own(META_FIELDS, name) : undefined);
  return field ?? fail('notFoundInType', { field: name, type: type.name }, { path: [...path, name] });
}

const META_FIELDS: Readonly<Record<string, GraphQLField<unknown, unknown>>> = {
  __schema: SchemaMetaFieldDef,
  __type: TypeMetaFieldDef,
};

/** Returns the type of a fragment on `on` inside a selection on `type`: the type itself, an interface it implements, or an
 *  object that implements it; in a remote schema, any type that overlaps. Returns null when the fragment cannot apply: it is
 *  skipped. */
export function spreadType(on: string, type: GraphQLCompositeType): GraphQLCompositeType | null {
  if (on === type.name) return type;
  const remote = remoteTypeOrigin(type);
  const other = remote
    ? remoteSpread(on, remote)
    : isInterfaceType(type)
      ? findNodeType(type)(on)
      : isUnionType(type)
        ? type.getTypes().find(({ name }) => name === on)
        : interfaceOf(type, on);
  return other ?? null;
}

function remoteSpread(on: string, own: RemoteTypeOrigin): GraphQLCompositeType | undefined {
  const other = own.find(on);
  const possible = other && remoteTypeOrigin(other)?.possible;
  return [...own.possible].some((name) => possible?.has(name)) ? other : undefined;
}

function interfaceOf(type: GraphQLCompositeType, name: string) {
  return isUnionType(type) ? undefined : type.getInterfaces().find((each) => each.name === name);
}

/** True when a fragment on `on` applies to objects of the type. */
function applies(on: NamedTypeNode | undefined, type: GraphQLObjectType): boolean {
  return !on || on.name.value === type.name || interfaceOf(type, on.name.value) !== undefined;
}

/** Returns the selection sets of a field's nodes. */
export function subselections(nodes: readonly FieldNode[]): SelectionSetNode[] {
  return nodes.flatMap((node) => (node.selectionSet ? [node.selectionSet] : []));
}

/** Collects the fields of a selection set. A fragment spread twice in one set counts once. */
function collect(
  set: SelectionSetNode,
  type: GraphQLObjectType,
  context: PlanContext,
  found: Map<string, Found>,
  spread: Set<string>,
): void {
  for (const selection of set.selections) {
    if (!isIncluded(selection, context)) continue;
    switch (selection.kind) {
      case Kind.FIELD:
        addField(selection, found);
        break;
      case Kind.INLINE_FRAGMENT:
        if (!applies(selection.typeCondition, type)) break;
        collect(selection.selectionSet, type, context, found, spread);
        break;
      case Kind.FRAGMENT_SPREAD: {
        const name = selection.name.value;
        if (spread.has(name)) break;
        spread.add(name);
        const fragment = context.document.fragments.get(name)!;
        if (!applies(fragment.typeCondition, type)) break;
        collect(fragment.selectionSet, type, context, found, spread);
        break;
      }
      default:
        selection satisfies never;
    }
  }
}

function addField(node: FieldNode, found: Map<string, Found>): void {
  const name = node.name.value;
  const alias = node.alias?.value ?? name;
  const known = found.get(alias);
  if (!known) {
    found.set(alias, { name, nodes: [node] });
    return;
  }
  refuseAmbiguous(alias, known.nodes[0]!, node);
  known.nodes.push(node);
}

/** Raises `ambiguousAlias` and `inconsistentArguments` unless both nodes select the same field with the same arguments. */
export function refuseAmbiguous(alias: string, first: FieldNode, other: FieldNode): void {
  const [one, another] = [first.name.value, other.name.value];
  if (one !== another) fail('ambiguousAlias', { alias, one, other: another });
  if (printedMembers(first.arguments) !== printedMembers(other.arguments)) {
    fail('inconsistentArguments', { field: one });
  }
}

/** Returns arguments, or the fields of an object, as text; their order makes no difference. */
function printedMembers(nodes: readonly (ArgumentNode | ObjectFieldNode)[] = []): string {
  return nodes
    .map(({ name, value }) => `${name.value}:${printedValue(value)}`)
    .sort()
    .join(',');
}

function printedValue(node: ValueNode): string {
  if (node.kind === Kind.OBJECT) return `{${printedMembers(node.fields)}}`;
  return node.kind === Kind.LIST ? `[${node.values.map(printedValue).join(',')}]` : print(node);
}

export function isIncluded(selection: SelectionNode, context: PlanContext): boolean {
  return (selection.directives ?? []).every((directive) => {
    const name = directive.name.value;
    const argument = directive.arguments?.find((each) => each.name.value === 'if');
    if (!argument) return true;
    const read = () => readInput(argument.value, CONDITION, context);
    const input = withPath(name, () => withPath('args', () => withPath('if', read)));
    const holds = input?.kind === 'leaf' && valueByValue(input, context) === true;
    return name === 'include' ? holds : !holds;
  });
}

/** True for a selection that a literal leaves out, `@skip(if: true)`, or one of the given variables. It is not validated. */
export function isLeftOut({ directives = [] }: SelectionNode, conditions: Conditions): boolean {
  return directives.some(({ name, arguments: given = [] }) => {
    const condition = given.find((each) => each.name.value === 'if')?.value;
    const value =
      condition?.kind === Kind.BOOLEAN
        ? condition.value
        : condition?.kind === Kind.VARIABLE && conditions.get(condition.name.value);
    return value === undefined ? false : value === (name.value === 'skip');
  });
}

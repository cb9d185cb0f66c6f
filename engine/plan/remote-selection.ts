/** The selection that is sent to a remote schema, in the remote's own names: fragments inlined, arguments with presets of
 *  permissions, keys in place of joined fields; and the variables that are sent with it. In: the client's nodes. Out: nodes of the
 *  sent document. Raises validation errors. Not here: whole documents (remote-schema.ts, remote-relationship.ts), keys
 *  (remote-keys.ts). Reference: docs/reference/behaviour/remote-schemas.md. */

import {
  type ArgumentNode,
  type DirectiveNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLNullableOutputType,
  type GraphQLOutputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  Kind,
  type NameNode,
  parseType,
  type SelectionNode,
  type SelectionSetNode,
  type VariableDefinitionNode,
} from 'graphql';
import { withPath } from '../errors/engine-error.ts';
import type { ResolvedRemoteSchema } from '../resolve/model/remote-schema.ts';
import { namedType, type Preset, type UpstreamField } from '../resolve/upstream.ts';
import { type FieldOrigin, fieldOrigin, remoteTypeOrigin } from '../schema/origin.ts';
import { readArguments } from './arguments.ts';
import type { PlanContext } from './context.ts';
import { RemoteArguments } from './remote-arguments.ts';
import { type PathField, RemoteKeys } from './remote-keys.ts';
import type { AnswerMembers, AnswerShape, RemoteVariable } from './remote-types.ts';
import { definitionOf, isLeftOut, refuseAmbiguous, spreadType, subselections } from './selection.ts';
import { printedType } from './variables.ts';

type RemoteOrigin = Extract<FieldOrigin, { kind: 'remote' }>;

/** The expected answer of a field, completed while the selection is walked. */
type Answer = {
  readonly members: MemberCollector;
  readonly keys: RemoteKeys;
  /** The fields that are always selected, by their path and the type they are selected on. */
  readonly selected: Map<string, Map<GraphQLCompositeType, FieldNode>>;
  /** The path from the root field of the document. */
  readonly way: readonly PathField[];
  /** The selections on the path that `@skip` or `@include` may leave out. */
  readonly conditions: readonly SelectionNode[];
  /** The type of the objects that the selection applies to. */
  readonly owner: GraphQLCompositeType | null;
};

/** Stands for a selection of which nothing is left: GraphQL has no empty selection sets. */
const NOTHING_SELECTED: FieldNode = {
  kind: Kind.FIELD,
  name: named('__typename'),
  directives: [
    {
      kind: Kind.DIRECTIVE,
      name: named('skip'),
      arguments: [{ kind: Kind.ARGUMENT, name: named('if'), value: { kind: Kind.BOOLEAN, value: true } }],
    },
  ],
};

/** Translates the selection of one document, and collects its variables. */
export class RemoteSelection {
  readonly arguments: RemoteArguments;
  readonly #remote: ResolvedRemoteSchema;
  readonly #context: PlanContext;

  constructor({ remote, part }: Pick<RemoteOrigin, 'remote' | 'part'>, context: PlanContext) {
    this.#remote = remote;
    this.#context = context;
    this.arguments = new RemoteArguments(remote, part, new Set(context.document.variables.keys()));
  }

  /** Returns the empty answer of a field. */
  answer(): Answer {
    return {
      members: new MemberCollector(),
      keys: new RemoteKeys(this.#context),
      selected: new Map(),
      way: [],
      conditions: [],
      owner: null,
    };
  }

  field(
    nodes: readonly FieldNode[],
    field: GraphQLField<unknown, unknown>,
    alias: string,
    answer: Answer,
  ): FieldNode {
    this.#context.countFields(1);
    readArguments({ field, nodes }, this.#context);
    const origin = fieldOrigin(field) as RemoteOrigin;
    const [node] = nodes;
    return {
      kind: Kind.FIELD,
      name: named(origin.field.name),
      alias: alias === origin.field.name ? undefined : named(alias),
      directives: this.#directives(node!.directives ?? []),
      arguments: this.#argumentsOf(node!.arguments ?? [], origin.field),
      selectionSet: this.inner(nodes, field, answer),
    };
  }

  /** Returns the selection set of a field; undefined for a type without fields. */
  inner(
    nodes: readonly FieldNode[],
    field: GraphQLField<unknown, unknown>,
    answer: Answer,
  ): SelectionSetNode | undefined {
    const type = getNamedType(field.type);
    if (!isCompositeType(type)) return undefined;
    const ofType = { ...answer, owner: type };
    return withPath('selectionSet', () => this.#selection(subselections(nodes), type, ofType));
  }

  #argumentsOf(given: readonly ArgumentNode[], field: UpstreamField): readonly ArgumentNode[] {
    return field.arguments.flatMap((argument) => {
      const written = given.find(({ name }) => name.value === argument.name);
      const value = this.arguments.value(argument, written?.value);
      return value ? [{ kind: Kind.ARGUMENT, name: named(argument.name), value } as const] : [];
    });
  }

  #directives(directives: readonly DirectiveNode[]): readonly DirectiveNode[] {
    for (const { arguments: given = [] } of directives) {
      for (const { value } of given) this.arguments.use(value, null);
    }
    return directives;
  }

  #selection(
    sets: readonly SelectionSetNode[],
    type: GraphQLCompositeType,
    answer: Answer,
  ): SelectionSetNode {
    const selections = sets.flatMap((set) =>
      set.selections.flatMap((selection) => this.#selected(selection, type, answer)),
    );
    return { kind: Kind.SELECTION_SET, selections: selections.length > 0 ? selections : [NOTHING_SELECTED] };
  }

  #selected(
    node: SelectionNode,
    type: GraphQLCompositeType,
    answer: Answer,
  ): SelectionNode | readonly SelectionNode[] {
    if (isLeftOut(node, this.#context.document.conditions)) return [];
    const directives = this.#directives(node.directives ?? []);
    const conditions = directives.length > 0 ? [...answer.conditions, node] : answer.conditions;
    const within = { ...answer, conditions };
    if (node.kind === Kind.FIELD) return this.#selectedField({ ...node, directives }, type, within);
    const fragment =
      node.kind === Kind.INLINE_FRAGMENT ? node : this.#context.document.fragments.get(node.name.value)!;
    const on = spreadType(fragment.typeCondition?.name.value ?? type.name, type);
    if (!on) return [];
    const owner = isObjectType(answer.owner) ? answer.owner : on;
    return {
      kind: Kind.INLINE_FRAGMENT,
      typeCondition: { kind: Kind.NAMED_TYPE, name: named(remoteTypeOrigin(on)!.name) },
      directives,
      selectionSet: this.#selection([fragment.selectionSet], on, { ...within, owner }),
    };
  }

  #selectedField(
    node: FieldNode,
    type: GraphQLCompositeType,
    answer: Answer,
  ): SelectionNode | readonly SelectionNode[] {
    const name = node.name.value;
    const alias = node.alias?.value ?? name;
    const field = definitionOf(type, name);
    const { owner, members, keys, conditions } = answer;
    const way = [...answer.way, { owner: owner?.name ?? '', name, alias }];
    if (conditions.length === 0) refuseConflict(answer, alias, node);
    if (!field) {
      this.#context.countFields(1);
      members.typeNames.add(alias);
      return node;
    }
    const origin = fieldOrigin(field);
    if (origin.kind !== 'joined') {
      const inside = { ...answer, members: members.under(alias, field), way };
      return withPath(name, () => this.field([node], field, alias, inside));
    }
    this.#context.countFields(1);
    return keys.add({ origin, field, node, way, conditions });
  }

  /** Returns the client's variables that the document uses, and a variable for each session variable. */
  variables(): {
    readonly definitions: readonly VariableDefinitionNode[];
    readonly variables: readonly RemoteVariable[];
  } {
    const { operation, variables } = this.#context.document;
    const { given, presets } = this.arguments;
    const definitions = (operation.variableDefinitions ?? [])
      .filter(({ variable }) => given.has(variable.name.value))
      .map((node) => ({
        ...node,
        directives: [],
        type: parseType(this.#upstreamType(printedType(node.type))),
      }));
    return {
      definitions: [...definitions, ...presets.map(presetDefinition)],
      variables: [
        ...[...variables.keys()].flatMap((name) => {
          const type = given.get(name);
          return type === undefined ? [] : [{ kind: 'given', name, type } as const];
        }),
        ...presets.map(({ name, preset }) => ({ kind: 'preset', name, preset }) as const),
      ],
    };
  }

  /** Returns a declared type in the remote's names. */
  #upstreamType(type: string): string {
    const ours = namedType(type);
    return type.replace(ours, this.#remote.names.upstreamTypes.get(ours) ?? ours);
  }
}

/** Raises `ambiguousAlias` or `inconsistentArguments` if another field is selected at the same path of an object. Only one of two fields
 *  that depend on variables may be selected, so the service validates those. */
function refuseConflict({ selected, owner, way }: Answer, alias: string, node: FieldNode): void {
  const path = JSON.stringify([...way.map((step) => [step.owner, step.alias]), alias]);
  const others = selected.get(path) ?? new Map<GraphQLCompositeType, FieldNode>();
  selected.set(path, others);
  for (const [type, other] of others) if (overlap(type, owner!)) refuseAmbiguous(alias, other, node);
  if (!others.has(owner!)) others.set(owner!, node);
}

/** True when an object can be of both types. */
function overlap(one: GraphQLCompositeType, other: GraphQLCompositeType): boolean {
  if (one === other) return true;
  // A type that a table has, too, is an object type of its own.
  const [mine, theirs] = [one, other].map((type) => remoteTypeOrigin(type)?.possible ?? new Set([type.name]));
  return [...mine!].some((name) => theirs!.has(name));
}

/** Returns the shape of a field's value. `renames` says whether object types of the service have other names here. */
export function shapeOf(
  { type }: Pick<GraphQLField<unknown, unknown>, 'type'>,
  { members }: Pick<Answer, 'members'>,
  renames: boolean,
): AnswerShape {
  if (!isNonNullType(type)) return shapeOfNullable(type, members, renames);
  return { ...shapeOfNullable(type.ofType, members, renames), isNullable: false };
}

function shapeOfNullable(
  type: GraphQLNullableOutputType,
  members: MemberCollector,
  renames: boolean,
): AnswerShape {
  const isNullable = true;
  const named = getNamedType(type);
  // A list of scalars of the service's own may be anything, too.
  if (!isCompositeType(named) && !isLeaf(named)) return { kind: 'any', isNullable };
  if (isListType(type)) {
    return { kind: 'list', isNullable, item: shapeOf({ type: type.ofType }, { members }, renames) };
  }
  if (!isCompositeType(type)) return { kind: 'leaf', isNullable };
  return { kind: 'object', isNullable, members: members.finished(renames) };
}

/** True for a type whose values are no objects and no lists. */
function isLeaf(type: GraphQLNamedType): boolean {
  return isEnumType(type) || isSpecifiedScalarType(type);
}

/** True when values of both types have the same shape, but for the members of objects. GraphQL demands it of fields with one response name, and the
 *  service judges it. */
function isSameShape(one: GraphQLOutputType, other: GraphQLOutputType): boolean {
  if (isNonNullType(one) || isNonNullType(other))
    return isNonNullType(one) && isNonNullType(other) && isSameShape(one.ofType, other.ofType);
  if (isListType(one) || isListType(other))
    return isListType(one) && isListType(other) && isSameShape(one.ofType, other.ofType);
  return isCompositeType(one) === isCompositeType(other) && isLeaf(one) === isLeaf(other);
}

type Member = { readonly type: GraphQLOutputType; readonly inner: MemberCollector; isAnything: boolean };

/** Collects what is known of the members of an answer, by response name. */
class MemberCollector {
  readonly typeNames = new Set<string>();
  readonly #members = new Map<string, Member>();

  under(alias: string, { type }: GraphQLField<unknown, unknown>): MemberCollector {
    const known = this.#members.get(alias);
    if (!known) {
      const member = { type, inner: new MemberCollector(), isAnything: false };
      this.#members.set(alias, member);
      return member.inner;
    }
    known.isAnything ||= !isSameShape(known.type, type);
    return known.inner;
  }

  finished(renames: boolean): AnswerMembers | null {
    const shapes = [...this.#members].flatMap(([alias, { type, inner, isAnything }]) => {
      const shape = shapeOf({ type }, { members: inner }, renames);
      const isKnown = !isAnything && (shape.kind !== 'any' || !shape.isNullable);
      return isKnown ? [[alias, shape] as const] : [];
    });
    const typeNames = renames ? this.typeNames : new Set<string>();
    return typeNames.size + shapes.length === 0 ? null : { typeNames, shapes: new Map(shapes) };
  }
}

type PresetVariable = { readonly name: string; readonly type: string; readonly preset: Preset };

function presetDefinition({ name, type }: PresetVariable): VariableDefinitionNode {
  return {
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name: named(name) },
    type: parseType(type),
  };
}

function named(value: string): NameNode {
  return { kind: Kind.NAME, value };
}

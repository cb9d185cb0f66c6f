/** Fields of remote schemas → the documents their services are asked: in the remote's own names, fragments spread in place, with
 *  the variables they use and what permissions preset. Fields of one remote schema at one level of the request are one
 *  document; in a mutation only those that stand side by side, for their order counts.
 *  In: selected fields whose origin is `remote`. Out: Roots of kind `called`, and RemoteCalls. Raises what validation raises.
 *  Not here: sending (execute/). Reference: features.md 1.8. */
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isNonNullType,
  Kind,
  type NameNode,
  parseType,
  print,
  type SelectionNode,
  type SelectionSetNode,
  stripIgnoredCharacters,
  type VariableDefinitionNode,
} from 'graphql';
import { withPath } from '../errors/engine-error.ts';
import type { Preset } from '../resolve/remote-preset.ts';
import type { ResolvedRemoteSchema } from '../resolve/types.ts';
import { namedType, type UpstreamField, type UpstreamSchema } from '../resolve/upstream.ts';
import { type FieldOrigin, fieldOrigin, remoteTypeOrigin } from '../schema/origin.ts';
import { readArguments } from './arguments.ts';
import type { PlanContext } from './context.ts';
import { RemoteArguments } from './remote-arguments.ts';
import type { RemoteField, TypeNamePlaces } from './remote-types.ts';
import { definitionOf, type SelectedField, spreadType, subselections } from './selection.ts';
import type { Call, Root } from './types.ts';
import { printedType } from './variables.ts';

type RemoteOrigin = Extract<FieldOrigin, { kind: 'remote' }>;

/** One level of the request: the roots, or those in one namespace. `path` is where it stands in the response. */
export class RemoteLevel {
  readonly #context: PlanContext;
  readonly #path: readonly string[];
  #documents = new Map<ResolvedRemoteSchema, RemoteDocument>();

  constructor(context: PlanContext, path: readonly string[]) {
    this.#context = context;
    this.#path = path;
  }

  add(selected: SelectedField, origin: RemoteOrigin): Root {
    const document = this.#documents.get(origin.remote) ?? new RemoteDocument(origin, this.#context);
    this.#documents.set(origin.remote, document);
    return document.add(selected, this.#path);
  }

  /** Something else stands here: what follows it in a mutation comes after it. */
  interrupt(): void {
    if (this.#context.document.operation.operation === 'mutation') this.#documents = new Map();
  }
}

class RemoteDocument {
  readonly #remote: ResolvedRemoteSchema;
  readonly #part: UpstreamSchema;
  readonly #context: PlanContext;
  readonly #call: number;
  readonly #arguments: RemoteArguments;
  readonly #nodes: FieldNode[] = [];
  readonly #fields: RemoteField[] = [];

  constructor({ remote, part }: RemoteOrigin, context: PlanContext) {
    this.#remote = remote;
    this.#part = part;
    this.#context = context;
    this.#arguments = new RemoteArguments(remote, part, new Set(context.document.variables.keys()));
    this.#call = context.calls.push(() => this.#finished()) - 1;
  }

  add({ alias, nodes, field }: SelectedField, path: readonly string[]): Root {
    const places = new Places();
    // Whether it is included has been decided.
    const plain = nodes.map((node) => ({ ...node, directives: [] }));
    this.#nodes.push(this.#field(plain, field!, alias, places));
    const type = getNullableType(field!.type);
    const isObject = isCompositeType(type);
    this.#fields.push({
      path: [...path, alias],
      shape: isListType(type) ? 'list' : isObject ? 'object' : 'any',
      isNullable: !isNonNullType(field!.type),
      typeNames: this.#remote.names.renamesObjects ? places.under(alias).finished() : null,
    });
    return { kind: 'called', alias, call: this.#call, field: this.#fields.length - 1 };
  }

  #field(
    nodes: readonly FieldNode[],
    field: GraphQLField<unknown, unknown>,
    alias: string,
    places: Places,
  ): FieldNode {
    this.#context.countFields(1);
    readArguments(field, nodes, this.#context);
    const origin = fieldOrigin(field) as RemoteOrigin;
    const inner = getNamedType(field.type);
    const set = isCompositeType(inner)
      ? withPath('selectionSet', () => this.#selection(subselections(nodes), inner, places.under(alias)))
      : undefined;
    const [node] = nodes;
    return {
      kind: Kind.FIELD,
      name: named(origin.field.name),
      alias: alias === origin.field.name ? undefined : named(alias),
      directives: this.#directives(node!.directives ?? []),
      arguments: this.#argumentsOf(node!.arguments ?? [], origin.field),
      selectionSet: set,
    };
  }

  #argumentsOf(given: readonly ArgumentNode[], field: UpstreamField): readonly ArgumentNode[] {
    return field.arguments.flatMap((argument) => {
      const written = given.find(({ name }) => name.value === argument.name);
      const value = this.#arguments.value(argument, written?.value);
      return value ? [{ kind: Kind.ARGUMENT, name: named(argument.name), value } as const] : [];
    });
  }

  #directives(directives: readonly DirectiveNode[]): readonly DirectiveNode[] {
    for (const { arguments: given = [] } of directives) {
      for (const { value } of given) this.#arguments.use(value, null);
    }
    return directives;
  }

  #selection(
    sets: readonly SelectionSetNode[],
    type: GraphQLCompositeType,
    places: Places,
  ): SelectionSetNode {
    const selections = sets.flatMap((set) =>
      set.selections.map((selection) => this.#selected(selection, type, places)),
    );
    return { kind: Kind.SELECTION_SET, selections };
  }

  #selected(node: SelectionNode, type: GraphQLCompositeType, places: Places): SelectionNode {
    if (node.kind === Kind.FIELD) {
      const name = node.name.value;
      const alias = node.alias?.value ?? name;
      const field = definitionOf(type, name);
      if (field) return withPath(name, () => this.#field([node], field, alias, places));
      this.#context.countFields(1);
      places.own.add(alias);
      return { ...node, directives: this.#directives(node.directives ?? []) };
    }
    const fragment =
      node.kind === Kind.INLINE_FRAGMENT ? node : this.#context.document.fragments.get(node.name.value)!;
    const on = spreadType(fragment.typeCondition?.name.value ?? type.name, type);
    return {
      kind: Kind.INLINE_FRAGMENT,
      typeCondition: { kind: Kind.NAMED_TYPE, name: named(remoteTypeOrigin(on)!.name) },
      directives: this.#directives(node.directives ?? []),
      selectionSet: this.#selection([fragment.selectionSet], on, places),
    };
  }

  #finished(): Call {
    const { operation, variables } = this.#context.document;
    const { given, presets } = this.#arguments;
    const definitions = (operation.variableDefinitions ?? [])
      .filter(({ variable }) => given.has(variable.name.value))
      .map((node) => ({
        ...node,
        directives: [],
        type: parseType(this.#upstreamType(printedType(node.type))),
      }));
    const document: DocumentNode = {
      kind: Kind.DOCUMENT,
      definitions: [
        {
          kind: Kind.OPERATION_DEFINITION,
          operation: operation.operation,
          name: operation.name,
          variableDefinitions: [...definitions, ...presets.map(presetDefinition)],
          selectionSet: { kind: Kind.SELECTION_SET, selections: this.#nodes },
        },
      ],
    };
    return {
      kind: 'remote',
      remote: this.#remote,
      part: this.#part,
      isRepeatable: operation.operation === 'query',
      operationName: operation.name?.value ?? null,
      query: stripIgnoredCharacters(print(document)),
      variables: [
        ...[...variables.keys()].flatMap((name) => {
          const type = given.get(name);
          return type === undefined ? [] : [{ kind: 'given', name, type } as const];
        }),
        ...presets.map(({ name, preset }) => ({ kind: 'preset', name, preset }) as const),
      ],
      fields: this.#fields,
    };
  }

  /** A declared type, in the remote's names. */
  #upstreamType(type: string): string {
    const ours = namedType(type);
    return type.replace(ours, this.#remote.names.upstreamTypes.get(ours) ?? ours);
  }
}

/** Where `__typename` is asked for, by response name. */
class Places {
  readonly own = new Set<string>();
  readonly #inner = new Map<string, Places>();

  under(alias: string): Places {
    const known = this.#inner.get(alias) ?? new Places();
    this.#inner.set(alias, known);
    return known;
  }

  finished(): TypeNamePlaces | null {
    const inner = [...this.#inner].flatMap(([alias, places]) => {
      const finished = places.finished();
      return finished ? [[alias, finished] as const] : [];
    });
    return this.own.size + inner.length > 0 ? { own: this.own, inner: new Map(inner) } : null;
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

/** Plans fields of remote schemas as documents for their services: in the remote's own names, fragments inlined, with the variables
 *  they use and presets of permissions. Fields of one remote schema at one level of the request share a document; in a mutation
 *  only adjacent fields do, because their order matters.
 *  In: selected fields whose origin is `remote`. Out: Roots of kind `called`, and RemoteCalls. Raises validation errors.
 *  Not here: sending (execute/). Reference: docs/reference/behaviour/remote-schemas.md. */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLOutputType,
  GraphQLString,
  isNonNullType,
  isScalarType,
  Kind,
  print,
  stripIgnoredCharacters,
} from 'graphql';
import type { ResolvedRemoteSchema } from '../resolve/model/remote-schema.ts';
import type { UpstreamSchema } from '../resolve/upstream.ts';
import type { FieldOrigin } from '../schema/origin.ts';
import type { PlanContext, SelectedField } from './context.ts';
import { RemoteSelection, shapeOf } from './remote-selection.ts';
import type { RemoteField } from './remote-types.ts';
import type { Call, Root } from './types.ts';

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

/** True for the type `String`, without `!`. */
function isText(type: GraphQLOutputType): boolean {
  return isScalarType(type) && type.name === GraphQLString.name;
}

class RemoteDocument {
  readonly #remote: ResolvedRemoteSchema;
  readonly #part: UpstreamSchema;
  readonly #context: PlanContext;
  readonly #call: number;
  readonly #selection: RemoteSelection;
  readonly #nodes: FieldNode[] = [];
  readonly #fields: RemoteField[] = [];

  constructor(origin: RemoteOrigin, context: PlanContext) {
    this.#remote = origin.remote;
    this.#part = origin.part;
    this.#context = context;
    this.#selection = new RemoteSelection(origin, context);
    this.#call = context.calls.push(() => this.#finished()) - 1;
  }

  add({ alias, nodes, field }: SelectedField, path: readonly string[]): Root {
    const answer = this.#selection.answer();
    // Whether it is included has been decided.
    const plain = nodes.map((node) => ({ ...node, directives: [] }));
    this.#nodes.push(this.#selection.field(plain, field!, alias, answer));
    const shape = shapeOf(field!, answer, this.#remote.names.renamesObjects);
    this.#fields.push({
      path: [...path, alias],
      // The reference passes on whatever a root field without fields is, and clients rely on objects in place of a text.
      shape: isText(field!.type) ? { kind: 'leaf', isNullable: true, mayBeObject: true } : shape,
      isNullable: !isNonNullType(field!.type),
      paths: answer.keys.finished(),
    });
    return { kind: 'called', alias, call: this.#call, field: this.#fields.length - 1 };
  }

  #finished(): Call {
    const { operation } = this.#context.document;
    const { definitions, variables } = this.#selection.variables();
    const document: DocumentNode = {
      kind: Kind.DOCUMENT,
      definitions: [
        {
          kind: Kind.OPERATION_DEFINITION,
          operation: operation.operation,
          name: operation.name,
          variableDefinitions: definitions,
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
      variables,
      fields: this.#fields,
    };
  }
}

/** GraphQL types → schemas of an OpenAPI 3.0 description, for the variables and the selection of a stored document. A document that
 *  does not fit the schema is described as far as it does, and its problems are collected. Pure. Not here: the description
 *  (openapi.ts). Sources: OpenAPI specification 3.0.0, "Schema Object"; docs/reference/behaviour/endpoints.md. */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type TypeNode,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromASTUntyped,
} from 'graphql';
import { own } from '../metadata/own.ts';
import type { Fragments } from './context.ts';
import { subselections } from './selection.ts';

export type OpenapiType = {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly pattern?: string;
  readonly enum?: readonly (string | null)[];
  readonly items?: OpenapiType;
  readonly properties?: Readonly<Record<string, OpenapiType>>;
  readonly nullable?: boolean;
  readonly default?: unknown;
};

/** A variable of a stored document. */
export type OpenapiVariable = {
  readonly name: string;
  /** The schema of its value in a JSON body. */
  readonly schema: OpenapiType;
  /** The schema of its value as a parameter, for scalars that OpenAPI has a type for; otherwise null. */
  readonly parameter: OpenapiType | null;
  /** True for a variable without a default that must not be null. */
  readonly isRequired: boolean;
};

/** A GraphQL scalar that OpenAPI has a type for, by its name in lower case. */
type KnownScalar = Pick<OpenapiType, 'type' | 'pattern'>;

const KNOWN_SCALARS: Readonly<Record<string, KnownScalar>> = {
  int: { type: 'integer' },
  float: { type: 'number' },
  double: { type: 'number' },
  bool: { type: 'boolean' },
  boolean: { type: 'boolean' },
  string: { type: 'string' },
  id: { type: 'string' },
  uuid: {
    type: 'string',
    pattern: '[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89aAbB][a-f0-9]{3}-[a-f0-9]{12}',
  },
};

function knownScalar(name: string): KnownScalar | undefined {
  return own(KNOWN_SCALARS, name.toLowerCase());
}

/** The most fields of a response: nested fragments can select more fields than any text could spell out. */
const MOST_FIELDS = 5000;

type Walk = { readonly fragments: Fragments; readonly problems: string[]; left: number };

/** Describes types of one GraphQL schema. Types that have a name of their own become components when a schema refers to them. */
export class OpenapiSchemas {
  readonly #schema: GraphQLSchema;
  readonly #components = new Map<string, { readonly type: GraphQLNamedType; readonly nullable: boolean }>();

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Returns the components that schemas refer to, and those that they refer to in turn. */
  components(): Readonly<Record<string, OpenapiType>> {
    const described: Record<string, OpenapiType> = {};
    // A map also visits the entries that are added during the loop.
    for (const [name, { type, nullable }] of this.#components)
      described[name] = this.#component(type, nullable);
    return described;
  }

  /** Returns the schema of the `data` in a response, and adds to `problems`. */
  response(
    { operation, selectionSet }: OperationDefinitionNode,
    fragments: Fragments,
    problems: string[],
  ): OpenapiType {
    const root = this.#schema.getRootType(operation);
    if (!root) {
      problems.push(`$: type '${operation}_root' not found in the schema`);
      return {};
    }
    const properties = this.#properties([selectionSet], root, ['$'], {
      fragments,
      problems,
      left: MOST_FIELDS,
    });
    return properties && Object.keys(properties).length > 0 ? { properties } : {};
  }

  /** Returns the variables by name whose types exist, and adds the others to `problems`. */
  variables(definitions: readonly VariableDefinitionNode[], problems: string[]): readonly OpenapiVariable[] {
    const sorted = definitions.toSorted((a, b) => (a.variable.name.value < b.variable.name.value ? -1 : 1));
    return sorted.flatMap((definition) => {
      const type = typeFromAST(this.#schema, definition.type);
      const name = definition.variable.name.value;
      if (isInputType(type)) return [this.#variable(name, definition, type)];
      const typeName = nameOf(definition.type);
      const reason = type ? `object '${typeName}' cannot be used in an input type` : null;
      problems.push(`$.${name}: ${reason ?? `type '${typeName}' not found in the schema`}`);
      return [];
    });
  }

  #variable(
    name: string,
    { defaultValue: node, type: { kind } }: VariableDefinitionNode,
    type: GraphQLInputType,
  ): OpenapiVariable {
    const isRequired = kind === Kind.NON_NULL_TYPE && node === undefined;
    const given = node === undefined ? {} : { default: valueFromASTUntyped(node) };
    const inner = isNonNullType(type) ? type.ofType : type;
    const known = isScalarType(inner) ? knownScalar(inner.name) : undefined;
    const schema = this.#input(type);
    return {
      name,
      isRequired,
      parameter: known ? { ...given, ...known } : null,
      // A reference has no room for a default.
      schema:
        node && schema.$ref
          ? { ...this.#component(inner, inner === type), ...given }
          : { ...schema, ...given },
    };
  }

  #input(type: GraphQLInputType): OpenapiType {
    const nullable = !isNonNullType(type);
    const inner = isNonNullType(type) ? type.ofType : type;
    if (isListType(inner)) return { type: 'array', nullable, items: this.#input(inner.ofType) };
    return this.#named(inner, nullable);
  }

  #output(
    type: GraphQLOutputType,
    nodes: readonly FieldNode[],
    path: readonly string[],
    walk: Walk,
  ): OpenapiType {
    const nullable = !isNonNullType(type);
    const inner = isNonNullType(type) ? type.ofType : type;
    if (isListType(inner)) {
      return { type: 'array', nullable, items: this.#output(inner.ofType, nodes, path, walk) };
    }
    if (!isObjectType(inner)) return this.#named(inner, nullable);
    const properties = this.#properties(subselections(nodes), inner, path, walk);
    return { ...titled(inner, nullable), type: 'object', ...(properties ? { properties } : {}) };
  }

  /** Returns the properties of merged selection sets by response name; undefined where there are too many. */
  #properties(
    sets: readonly SelectionSetNode[],
    type: GraphQLObjectType,
    path: readonly string[],
    walk: Walk,
  ): Readonly<Record<string, OpenapiType>> | undefined {
    const nodes = new Map<string, FieldNode[]>();
    const pending = new Map(walk.fragments);
    for (const set of sets) collect(set, pending, nodes);
    walk.left -= nodes.size;
    if (walk.left < 0) return undefined;
    const properties: Record<string, OpenapiType> = {};
    for (const [alias, same] of nodes) {
      const [node] = same as [FieldNode];
      const name = node.name.value;
      const field = this.#field(type, name);
      const problem = field
        ? selectionProblem(field, node)
        : `field '${name}' not found in object '${type.name}'`;
      const here = [...path, name];
      if (problem !== null) walk.problems.push(`${here.join('.')}: ${problem}`);
      else properties[alias] = this.#output(field!.type, same, here, walk);
    }
    return properties;
  }

  #field(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined {
    if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
    const meta = [SchemaMetaFieldDef, TypeMetaFieldDef].find((field) => field.name === name);
    return type.getFields()[name] ?? (type === this.#schema.getQueryType() ? meta : undefined);
  }

  /** Returns the schema of a type without fields of its own, or a reference to it. */
  #named(type: GraphQLNamedType, nullable: boolean): OpenapiType {
    if (isScalarType(type)) {
      const known = knownScalar(type.name);
      if (known && known.pattern === undefined) return { title: type.name, nullable, ...known };
    }
    const name = nullable ? type.name : `${type.name}!`;
    this.#components.set(name, { type, nullable });
    return { $ref: `#/components/schemas/${name}` };
  }

  #component(type: GraphQLNamedType | GraphQLInputType, nullable: boolean): OpenapiType {
    if (isListType(type) || isNonNullType(type)) return this.#input(type);
    const about = titled(type, nullable);
    if (isEnumType(type)) return { ...about, enum: type.getValues().map(({ name }) => name) };
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).map((field) => [field.name, this.#input(field.type)]);
      return { ...about, type: 'object', properties: Object.fromEntries(fields) };
    }
    const known = isScalarType(type) ? knownScalar(type.name) : undefined;
    return known ? { title: type.name, nullable, ...known } : about;
  }
}

function titled({ name, description }: GraphQLNamedType, nullable: boolean): OpenapiType {
  return { title: name, nullable, ...(description ? { description } : {}) };
}

function selectionProblem(
  { type }: GraphQLField<unknown, unknown>,
  { selectionSet }: FieldNode,
): string | null {
  let inner: GraphQLOutputType = type;
  while (isListType(inner) || isNonNullType(inner)) inner = inner.ofType;
  if (isObjectType(inner)) {
    return selectionSet ? null : `object of type '${inner.name}' must have a selection set`;
  }
  if (!selectionSet || !(isScalarType(inner) || isEnumType(inner))) return null;
  return `${isEnumType(inner) ? 'enum' : 'scalar'} '${inner.name}' does not accept a selection set`;
}

/** Collects the fields of a selection set. Each fragment counts once: `pending` holds those not yet seen. */
function collect(
  set: SelectionSetNode,
  pending: Map<string, FragmentDefinitionNode>,
  nodes: Map<string, FieldNode[]>,
): void {
  for (const selection of set.selections) {
    switch (selection.kind) {
      case Kind.FIELD: {
        const alias = (selection.alias ?? selection.name).value;
        nodes.set(alias, [...(nodes.get(alias) ?? []), selection]);
        break;
      }
      case Kind.INLINE_FRAGMENT:
        collect(selection.selectionSet, pending, nodes);
        break;
      case Kind.FRAGMENT_SPREAD: {
        const fragment = pending.get(selection.name.value);
        pending.delete(selection.name.value);
        if (fragment) collect(fragment.selectionSet, pending, nodes);
        break;
      }
      default:
        selection satisfies never;
    }
  }
}

function nameOf(node: TypeNode): string {
  return node.kind === Kind.NAMED_TYPE ? node.name.value : nameOf(node.type);
}

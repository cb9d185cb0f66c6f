/** Remote schemas in a role's schema: their root fields, beside the others or in a namespace, and the types they reach, each
 *  built when it is reached. Requests use the types of each remote schema separately. Introspection identifies types by name,
 *  so a type common to several remote schemas appears once. Preset fields are omitted. In: ResolvedRemoteSchema × role. Not
 *  here: names and parts (resolve/remote-schema.ts). Reference: docs/reference/behaviour/remote-schemas.md. */
import {
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
  GraphQLUnionType,
  isCompositeType,
  parseConstValue,
} from 'graphql';
import { SCALARS } from '../catalog/scalars.ts';
import type { Steps } from '../metadata/steps.ts';
import { remoteSchemaFor } from '../resolve/access.ts';
import type { ResolvedRemoteSchema } from '../resolve/model/remote-schema.ts';
import { fieldNameOf, typeNameOf } from '../resolve/remote-names.ts';
import {
  elementType,
  nullableType,
  possibleTypes,
  type UpstreamComposite,
  type UpstreamField,
  type UpstreamInput,
  type UpstreamOperation,
  type UpstreamSchema,
  type UpstreamType,
} from '../resolve/upstream.ts';
import { BUILT_IN, type SchemaBuilder } from './builder.ts';
import { type FieldConfig, type FieldMap, fieldExtensions, remoteTypeExtensions } from './origin.ts';

/** Returns the root fields of every remote schema the role sees, for one kind of operation. The Relay schema has none. A field is a
 *  step. */
export function* remoteRoots(builder: SchemaBuilder, operation: UpstreamOperation): Steps<FieldMap> {
  const fields: Record<string, FieldConfig> = {};
  if (builder.isRelay) return fields;
  for (const remote of builder.model.remoteSchemas.values()) {
    const part = remoteSchemaFor(remote, builder.role);
    const root = part?.types.get(part.roots[operation] ?? '');
    if (!part || root?.kind !== 'object') continue;
    const types = new RemoteTypes(builder, remote, part);
    const { namespace } = remote.names;
    if (namespace !== null) {
      const type = types.named(root.name) as GraphQLObjectType;
      fields[namespace] = { type, extensions: fieldExtensions({ kind: 'namespace' }) };
      continue;
    }
    for (const field of root.fields) {
      const [name, config] = types.field(root, field);
      fields[name] = config;
      yield;
    }
  }
  return fields;
}

/** Returns objects that may be reachable only through an interface, for introspection. A type is a step. */
export function* remoteObjects(builder: SchemaBuilder): Steps<readonly GraphQLNamedType[]> {
  const objects: GraphQLNamedType[] = [];
  if (builder.isRelay) return objects;
  for (const remote of builder.model.remoteSchemas.values()) {
    const part = remoteSchemaFor(remote, builder.role);
    if (!part) continue;
    const types = new RemoteTypes(builder, remote, part);
    for (const type of part.types.values()) {
      if (type.kind !== 'object' || type.interfaces.length === 0) continue;
      objects.push(types.named(type.name));
      yield;
    }
  }
  return objects;
}

/** The types of one remote schema, as one role sees them. */
export class RemoteTypes {
  readonly #builder: SchemaBuilder;
  readonly #remote: ResolvedRemoteSchema;
  readonly #part: UpstreamSchema;

  constructor(builder: SchemaBuilder, remote: ResolvedRemoteSchema, part: UpstreamSchema) {
    this.#builder = builder;
    this.#remote = remote;
    this.#part = part;
  }

  /** Returns a type by its name in the remote schema, which is a type of the part or a built-in one. */
  named(name: string): GraphQLNamedType {
    const ours = this.nameOf(name);
    const type = this.#part.types.get(name);
    if (!type || type.kind === 'scalar') return this.#scalar(name, ours, type?.description ?? null);
    return this.#builder.namedIn(this.#remote.name, ours, () => this.#build(type, ours));
  }

  /** Returns the name of a remote type in this schema. */
  nameOf(name: string): string {
    return typeNameOf(this.#remote.names, name);
  }

  /** Returns a scalar. Introspection shows a scalar that Postgres also has once. */
  #scalar(name: string, ours: string, description: string | null): GraphQLNamedType {
    const known = ours === name ? (BUILT_IN[ours] ?? SCALARS[ours]) : undefined;
    if (known) {
      const scalar = known instanceof GraphQLScalarType ? known : this.#builder.scalar(known);
      return this.#builder.forwarded(scalar);
    }
    return this.#builder.named(ours, () => new GraphQLScalarType({ name: ours, description }));
  }

  #build(type: Exclude<UpstreamType, { kind: 'scalar' }>, name: string): GraphQLNamedType {
    const { description } = type;
    switch (type.kind) {
      case 'enum':
        return new GraphQLEnumType({
          name,
          description,
          values: Object.fromEntries(
            type.values.map((value) => [
              value.name,
              { description: value.description, deprecationReason: value.deprecation },
            ]),
          ),
        });
      case 'input':
        return new GraphQLInputObjectType({ name, description, fields: () => this.inputs(type.fields) });
      case 'union':
        return new GraphQLUnionType({
          name,
          description,
          extensions: this.#extensions(type.name),
          types: () => this.#objects(type.members),
        });
      case 'object':
      case 'interface': {
        const config = {
          name,
          description,
          extensions: this.#extensions(type.name),
          fields: () => ({ ...this.fieldsOf(type), ...this.#joinedTo(type.name, name) }),
          interfaces: () => this.#interfacesOf(type),
        };
        return type.kind === 'object' ? new GraphQLObjectType(config) : new GraphQLInterfaceType(config);
      }
      default:
        return type satisfies never;
    }
  }

  #objects(names: readonly string[]): GraphQLObjectType[] {
    return names
      .filter((name) => this.#part.types.has(name))
      .map((name) => this.named(name) as GraphQLObjectType);
  }

  #interfacesOf(type: UpstreamComposite): GraphQLInterfaceType[] {
    const known = type.interfaces.filter((name) => this.#part.types.has(name));
    return known.map((name) => this.named(name) as GraphQLInterfaceType);
  }

  #extensions(name: string) {
    const { names } = this.#remote;
    return remoteTypeExtensions({
      name,
      possible: new Set(possibleTypes(this.#part, name)),
      find: (ours) => {
        const theirs = names.upstreamTypes.get(ours);
        const type = theirs !== undefined && this.#part.types.has(theirs) ? this.named(theirs) : undefined;
        return isCompositeType(type) ? type : undefined;
      },
    });
  }

  fieldsOf(type: UpstreamComposite): FieldMap {
    return Object.fromEntries(type.fields.map((field) => this.field(type, field)));
  }

  /** Returns our name of a field of the type, and the field. */
  field({ name }: UpstreamComposite, field: UpstreamField): [string, FieldConfig] {
    const config: FieldConfig = {
      type: this.wrapped(field.type) as GraphQLOutputType,
      description: field.description,
      deprecationReason: field.deprecation,
      args: this.#arguments(field),
      extensions: fieldExtensions({ kind: 'remote', remote: this.#remote, part: this.#part, field }),
    };
    return [fieldNameOf(this.#remote.names, name, field.name), config];
  }

  /** Returns the fields of the type's relationships. */
  #joinedTo(type: string, owner: string): FieldMap {
    const own = this.#builder.model.typeRelationships.get(this.#remote.name)?.get(type)?.values() ?? [];
    return Object.assign({}, ...[...own].map((each) => this.#builder.joinedFields(owner, each)));
  }

  #arguments(field: UpstreamField): GraphQLFieldConfigArgumentMap {
    return this.inputs(field.arguments);
  }

  /** Returns the arguments, or fields of an input object, that clients may give. */
  inputs(inputs: readonly UpstreamInput[]) {
    return Object.fromEntries(
      inputs
        .filter((input) => !input.preset)
        .map((input) => [
          input.name,
          {
            type: this.wrapped(input.type) as GraphQLInputType,
            description: input.description,
            ...(input.default === null ? {} : { default: { literal: parseConstValue(input.default) } }),
          },
        ]),
    );
  }

  /** Returns the type of a reference in GraphQL syntax. */
  wrapped(type: string): GraphQLNamedType | GraphQLList<never> | GraphQLNonNull<never> {
    if (type.endsWith('!')) return new GraphQLNonNull(this.wrapped(nullableType(type)) as never);
    const element = elementType(type);
    return element === null ? this.named(type) : new GraphQLList(this.wrapped(element) as never);
  }
}

/** The engine as a subgraph of a federated graph: `_service` returns its schema, and `_entities` finds rows by their primary
 *  keys. An entity is a table marked as such in the metadata, for roles that may read its whole key in every row. It requires
 *  the feature `apollo_federation` and is not part of the Relay schema. Not here: finding entities (plan/federation.ts).
 *  Reference: docs/reference/behaviour/remote-schemas.md; Apollo Federation, "Subgraph specification". */
import {
  type ConstDirectiveNode,
  type DefinitionNode,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  type GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  Kind,
  parse,
  print,
  printSchema,
} from 'graphql';
import { mayReadAtRoot } from '../resolve/access.ts';
import {
  ANY_TYPE,
  ENTITIES_FIELD,
  ENTITY_TYPE,
  FEDERATION_FEATURE,
  FEDERATION_TYPES,
  SERVICE_FIELD,
  SERVICE_TYPE,
} from '../resolve/federation.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { SchemaBuilder } from './builder.ts';
import { readableKey } from './node.ts';
import { type FieldMap, fieldExtensions } from './origin.ts';

/** Returns `_service` and `_entities`; a role that may read nothing else has neither. */
export function federationRoots(builder: SchemaBuilder): FieldMap {
  if (builder.isRelay || !builder.model.features.has(FEDERATION_FEATURE)) return {};
  const service = { type: new GraphQLNonNull(serviceType(builder)), extensions: SERVICE };
  if (entityTables(builder).length === 0) return { [SERVICE_FIELD]: service };
  return {
    [SERVICE_FIELD]: service,
    [ENTITIES_FIELD]: {
      type: new GraphQLNonNull(new GraphQLList(entityType(builder))),
      args: {
        representations: {
          type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(anyType(builder)))),
          description: 'names of types, each with the fields of a key',
        },
      },
      extensions: fieldExtensions({ kind: 'entities' }),
    },
  };
}

const SERVICE = fieldExtensions({ kind: 'service' });

/** Returns the tables whose rows a federated graph may request. */
export function entityTables(builder: SchemaBuilder): readonly ResolvedTable[] {
  return [...builder.model.sources.values()].flatMap(({ tables }) =>
    [...tables.values()].filter(
      (table) =>
        table.isEntity &&
        readableKey(builder, table) !== null &&
        mayReadAtRoot(builder.select(table), 'select_by_pk'),
    ),
  );
}

function serviceType(builder: SchemaBuilder): GraphQLObjectType {
  return builder.named(SERVICE_TYPE, (name) => {
    const sdl = { type: new GraphQLNonNull(GraphQLString), extensions: fieldExtensions({ kind: 'sdl' }) };
    return new GraphQLObjectType({ name, fields: { sdl } });
  });
}

function entityType(builder: SchemaBuilder): GraphQLUnionType {
  return builder.named(ENTITY_TYPE, (name) => {
    const types = () => entityTables(builder).map((table) => builder.objectType(table));
    return new GraphQLUnionType({
      name,
      types,
      description: 'A union of all types that use the @key directive',
    });
  });
}

function anyType(builder: SchemaBuilder): GraphQLScalarType {
  return builder.named(ANY_TYPE, (name) => new GraphQLScalarType({ name }));
}

/** Returns the role's schema as SDL, without what federation adds and with the keys of its entities. It has no directives of the engine: every
 *  engine of a federated graph would define them, and a router does not pass them on. */
export function subgraphSdl(builder: SchemaBuilder, schema: GraphQLSchema): string {
  const keys = new Map(
    entityTables(builder).map((table) => [
      table.typeName,
      keyDirective(readableKey(builder, table)!.map(({ graphqlName }) => graphqlName)),
    ]),
  );
  const { definitions } = parse(printSchema(schema), { noLocation: true });
  return definitions
    .flatMap((node) => ownDefinition(node, keys) ?? [])
    .map(print)
    .join('\n\n');
}

function ownDefinition(
  node: DefinitionNode,
  keys: ReadonlyMap<string, ConstDirectiveNode>,
): DefinitionNode | undefined {
  if (!('name' in node) || !node.name) return node;
  if (node.kind === Kind.DIRECTIVE_DEFINITION) return undefined;
  const { value: name } = node.name;
  if (FEDERATION_TYPES.includes(name)) return undefined;
  if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) return node;
  if (name === 'query_root') {
    const added: readonly string[] = [SERVICE_FIELD, ENTITIES_FIELD];
    return { ...node, fields: node.fields?.filter((field) => !added.includes(field.name.value)) };
  }
  const key = keys.get(name);
  return key ? { ...node, directives: [key] } : node;
}

function keyDirective(fields: readonly string[]): ConstDirectiveNode {
  const name = (value: string) => ({ kind: Kind.NAME, value }) as const;
  const value = { kind: Kind.STRING, value: fields.join(' ') } as const;
  return {
    kind: Kind.DIRECTIVE,
    name: name('key'),
    arguments: [{ kind: Kind.ARGUMENT, name: name('fields'), value }],
  };
}

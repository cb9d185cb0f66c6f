/** Actions in a role's schema: root fields of the actions the role may call, and the custom types of their arguments and
 *  responses. An asynchronous action is a mutation that returns an id, with a query and a subscription that return its result
 *  by that id. Not here: which actions are consistent (resolve/action.ts). Reference: docs/reference/behaviour/actions.md. */

import {
  GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLScalarType,
} from 'graphql';
import { SCALARS } from '../catalog/scalars.ts';
import { own } from '../metadata/own.ts';
import { targetOf } from '../resolve/access.ts';
import type { ResolvedAction } from '../resolve/model/action.ts';
import type { CustomField, CustomRelationship, CustomType, TypeUse } from '../resolve/model/custom-type.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { aggregateOf } from './aggregate.ts';
import { BUILT_IN, type Related, type SchemaBuilder } from './builder.ts';
import { type FieldConfig, type FieldMap, fieldExtensions } from './origin.ts';
import { relationshipField } from './rows.ts';

export function actionRoots(builder: SchemaBuilder, root: 'query' | 'mutation' | 'subscription'): FieldMap {
  return Object.fromEntries(
    [...builder.model.actions.values()].flatMap((action): [string, FieldConfig][] => {
      if (builder.role !== ADMIN_ROLE && !action.roles.has(builder.role)) return [];
      if (action.type === root) return [[action.name, actionField(builder, action)]];
      return action.isAsynchronous ? [[action.name, resultField(builder, action)]] : [];
    }),
  );
}

function actionField(builder: SchemaBuilder, action: ResolvedAction): FieldConfig {
  const { description, isAsynchronous, output } = action;
  return {
    type: isAsynchronous ? new GraphQLNonNull(builder.scalar(SCALARS['uuid']!)) : outputType(builder, output),
    description,
    args: Object.fromEntries(action.arguments.map((field) => [field.name, inputField(builder, field)])),
    extensions: fieldExtensions({ kind: 'action', action }),
  };
}

function inputField(builder: SchemaBuilder, { type, description }: CustomField) {
  return { type: wrapped(type, (name) => namedType(builder, name)) as GraphQLInputType, description };
}

/** Returns the field with the result of an asynchronous action. */
function resultField(builder: SchemaBuilder, action: ResolvedAction): FieldConfig {
  const args: GraphQLFieldConfigArgumentMap = {
    id: {
      type: new GraphQLNonNull(builder.scalar(SCALARS['uuid']!)),
      description: 'the unique id of an action',
    },
  };
  const type = builder.named(action.name, (name) => {
    const fields = resultFields(action).map((field) => [field.name, outputField(builder, field)]);
    return new GraphQLObjectType({
      name,
      description: `fields of action: "${action.name}"`,
      fields: () => Object.fromEntries(fields),
    });
  });
  const extensions = fieldExtensions({ kind: 'action-result', action });
  return { type, description: action.description, args, extensions };
}

/** Returns the fields of the result of an asynchronous action. */
function resultFields({ output }: ResolvedAction): readonly CustomField[] {
  const named = (name: string, isNullable: boolean): TypeUse => ({ kind: 'named', name, isNullable });
  return [
    {
      name: 'created_at',
      type: named('timestamptz', false),
      description: 'the time at which this action was created',
    },
    { name: 'errors', type: named('json', true), description: 'errors related to the invocation' },
    { name: 'id', type: named('uuid', false), description: 'the unique id of an action' },
    {
      name: 'output',
      type: { ...output, isNullable: true },
      description: 'the output fields of this action',
    },
  ];
}

function outputField(builder: SchemaBuilder, field: CustomField): FieldConfig {
  const { type, description } = field;
  return {
    type: outputType(builder, type),
    description,
    extensions: fieldExtensions({ kind: 'output', field }),
  };
}

function outputType(builder: SchemaBuilder, type: TypeUse): GraphQLOutputType {
  return wrapped(type, (name) => namedType(builder, name)) as GraphQLOutputType;
}

type Wrapped =
  | GraphQLNamedType
  | GraphQLList<Wrapped>
  | GraphQLNonNull<GraphQLNamedType | GraphQLList<Wrapped>>;

function wrapped(type: TypeUse, named: (name: string) => GraphQLNamedType): Wrapped {
  const inner = type.kind === 'list' ? new GraphQLList(wrapped(type.item, named)) : named(type.name);
  return type.isNullable ? inner : new GraphQLNonNull(inner);
}

/** Returns the type of that name. resolve/ has dropped every use of a missing type. */
function namedType(builder: SchemaBuilder, name: string): GraphQLNamedType {
  const builtIn = own(BUILT_IN, name);
  if (builtIn) return builtIn;
  const known = builder.model.customTypes.find(name);
  if (!known) throw new Error(`no type ${name} in the model`);
  return known.kind === 'database' ? builder.scalar(known.scalar) : customType(builder, known);
}

function customType(builder: SchemaBuilder, declared: CustomType): GraphQLNamedType {
  const { description } = declared;
  return builder.named<GraphQLNamedType>(declared.name, (name) => {
    switch (declared.kind) {
      case 'scalar':
        return new GraphQLScalarType({ name, description });
      case 'enum':
        return new GraphQLEnumType({ name, description, values: enumValues(declared) });
      case 'input': {
        const { fields } = declared;
        return new GraphQLInputObjectType({
          name,
          description,
          fields: () => Object.fromEntries(fields.map((field) => [field.name, inputField(builder, field)])),
        });
      }
      case 'object':
        return new GraphQLObjectType({
          name,
          description,
          fields: () => ({
            ...Object.fromEntries(declared.fields.map((field) => [field.name, outputField(builder, field)])),
            ...Object.assign({}, ...declared.relationships.map((each) => relatedFields(builder, each))),
          }),
        });
      default:
        return declared satisfies never;
    }
  });
}

function enumValues({ values }: Extract<CustomType, { kind: 'enum' }>) {
  return Object.fromEntries(
    values.map(({ name, description, isDeprecated }) => [
      name,
      { description, ...(isDeprecated ? { deprecationReason: 'No longer supported' } : {}) },
    ]),
  );
}

/** Returns the fields of a relationship: related rows and their aggregate, within the role's permissions. */
function relatedFields(builder: SchemaBuilder, { source, relationship }: CustomRelationship): FieldMap {
  const target = targetOf(builder.model, source, relationship.join.table);
  if (!builder.select(target)) return {};
  const related: Related = { relationship, target };
  return {
    [relationship.name]: relationshipField(builder, related),
    ...aggregateOf(builder, related, target.naming),
  };
}

/** The definitions of the engine's types, in the form in which types of remote schemas are compared with them. Building a type of
 *  rows is cheap; any other type needs the administrator's whole schema, which is built when the first one is requested.
 *  Not here: what a conflict is (resolve/conflicts.ts). Reference: docs/reference/behaviour/schema.md, "Conflicts". */
import {
  type ConstValueNode,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  print,
} from 'graphql';
import type { Model } from '../resolve/model/model.ts';
import type { TypeDefinitions } from '../resolve/model/options.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { type TypeDefinition, typeDefinition } from '../resolve/type-definition.ts';
import { roleSchema } from './role-schemas.ts';

/** Returns the definition of a type of the model by its name; undefined for scalars and names that no type has. */
export const typeDefinitions: TypeDefinitions = (model: Model) => {
  const { builder, schema } = roleSchema(model, ADMIN_ROLE, true);
  const tables = [...model.sources.values()].flatMap((source) => [...source.tables.values()]);
  return (name) => {
    const table = tables.find(({ typeName }) => typeName === name);
    const type = table ? builder.objectType(table) : schema().getType(name);
    return type && definitionOf(type);
  };
};

function definitionOf(type: GraphQLNamedType): TypeDefinition | undefined {
  if (isEnumType(type)) return typeDefinition('enum', { values: type.getValues().map(({ name }) => name) });
  if (isUnionType(type)) return typeDefinition('union', { members: type.getTypes().map(({ name }) => name) });
  if (isInputObjectType(type)) {
    return typeDefinition('input', { fields: Object.values(type.getFields()).map(inputOf) });
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return undefined;
  return typeDefinition(isObjectType(type) ? 'object' : 'interface', {
    interfaces: type.getInterfaces().map(({ name }) => name),
    fields: Object.values(type.getFields()).map(({ name, type: result, args }) => {
      return { name, type: String(result), arguments: args.map(inputOf) };
    }),
  });
}

function inputOf({ name, type, default: standard }: GraphQLArgument | GraphQLInputField) {
  return { name, type: String(type), default: standard ? printedDefault(standard) : null };
}

function printedDefault(standard: { readonly value?: unknown; readonly literal?: ConstValueNode }): string {
  return standard.literal ? print(standard.literal) : JSON.stringify(standard.value);
}

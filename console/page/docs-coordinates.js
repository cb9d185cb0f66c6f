/** The schema coordinates of the documentation: a type `{type}`, or one of its fields `{type, field}`, by name, so that they stay valid when the role changes.
 *  Pure. In: a GraphQL schema. Not here: what is shown (docs-pane.jsx), the search (docs-search.js). */
import { getNamedType, isEnumType, isInterfaceType, isObjectType, isUnionType, print } from 'graphql';

/** Returns a coordinate as text: `book`, `book.title`. */
export function coordinateText({ type, field }) {
  return field === undefined ? type : `${type}.${field}`;
}

/** Returns the type of a coordinate and its member, if the coordinate has one. Both are undefined where the schema has none. */
export function foundAt(schema, { type: name, field }) {
  const type = schema.getType(name);
  const member = field === undefined ? undefined : type?.getFields?.()[field];
  return field === undefined || member ? { type, member } : {};
}

/** Returns the fields, input fields or values of a type. */
export function membersIn(type) {
  return isEnumType(type) ? type.getValues() : Object.values(type.getFields?.() ?? {});
}

/** Returns the lists of other types that belong to a type, `[title, names]`. */
export function relatedTo(schema, type) {
  const namesOf = (types) => types.map(({ name }) => name);
  const implemented = isObjectType(type) || isInterfaceType(type) ? namesOf(type.getInterfaces()) : [];
  const possible = isUnionType(type) || isInterfaceType(type) ? namesOf(schema.getPossibleTypes(type)) : [];
  return [
    ['Implements', implemented],
    ['Possible types', possible],
  ].filter(([, names]) => names.length > 0);
}

/** Returns the default value of an argument or an input field as text; undefined without one. */
export function defaultOf(member) {
  return member.default?.literal && print(member.default.literal);
}

/** Returns the coordinate of what a user has clicked on in the editor, as the editor describes it; undefined where the documentation has none. */
export function coordinateOf({ kind, typeInfo }) {
  const { fieldDef, parentType, inputType, type } = typeInfo;
  const named = (each) => each && { type: getNamedType(each).name };
  if (kind === 'EnumValue') return named(inputType);
  if (kind === 'NamedType') return named(type);
  if (kind === 'ObjectField') return named(typeInfo.inputObjectType ?? inputType);
  const isMeta = fieldDef?.name.startsWith('__') ?? true;
  return isMeta || !parentType ? undefined : { type: getNamedType(parentType).name, field: fieldDef.name };
}

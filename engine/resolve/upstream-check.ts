/** Validates an UpstreamSchema: referenced types exist, objects implement their interfaces, unions consist of objects, nothing is
 *  empty. Raises `remoteSchemaInvalid` for the first error in the order of the types. Not here: parsing (introspection.ts).
 *  Reference: GraphQL specification, "Type System"; message texts: docs/reference/behaviour/errors.md. */
import { fail } from '../errors/engine-error.ts';
import type { Steps } from '../metadata/steps.ts';
import {
  BUILT_IN_SCALARS,
  elementType,
  isRequired,
  namedType,
  nullableType,
  subtypes,
  type UpstreamComposite,
  type UpstreamField,
  type UpstreamSchema,
  type UpstreamType,
} from './upstream.ts';

/** Each type and each interface that a type implements is a step. */
export function* checkUpstream(schema: UpstreamSchema): Steps<void> {
  const { query } = schema.roots;
  if (query === null || schema.types.get(query)?.kind !== 'object') invalid('the schema has no query root');
  for (const type of schema.types.values()) yield* checkType(type, schema);
}

function* checkType(type: UpstreamType, schema: UpstreamSchema): Steps<void> {
  if (type.kind === 'union') checkUnion(type, schema);
  if (type.kind === 'object' || type.kind === 'interface') {
    if (type.fields.length === 0) invalid(`List of fields cannot be empty for ${type.kind} '${type.name}'`);
    const fields = type.interfaces.length > 0 ? byName(type.fields) : NO_FIELDS;
    for (const name of type.interfaces) {
      checkImplementation({ type, fields }, name, schema);
      yield;
    }
  }
  if (type.kind === 'input' && type.fields.length === 0) {
    invalid(`List of fields cannot be empty for input object '${type.name}'`);
  }
  if (type.kind === 'enum' && type.values.length === 0) {
    invalid(`List of values cannot be empty for enum '${type.name}'`);
  }
  for (const name of referencesOf(type)) {
    if (!schema.types.has(name) && !BUILT_IN_SCALARS.has(name)) {
      invalid(`Could not find type with name "${name}", which '${type.name}' refers to`);
    }
  }
  yield;
}

/** Returns the items by name. Of items with one name the first counts. */
function byName<T extends { readonly name: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.name, item] as const).reverse());
}

const NO_FIELDS: ReadonlyMap<string, UpstreamField> = new Map();

function referencesOf(type: UpstreamType): readonly string[] {
  if (!('fields' in type)) return [];
  return type.fields.flatMap((field) =>
    [field, ...('arguments' in field ? field.arguments : [])].map((each) => namedType(each.type)),
  );
}

function checkUnion(
  { name, members }: Extract<UpstreamType, { kind: 'union' }>,
  { types }: UpstreamSchema,
): void {
  if (members.length === 0) invalid(`List of member types cannot be empty for union type '${name}'`);
  for (const member of members) {
    const type = types.get(member);
    if (!type) {
      invalid(`Could not find type '${member}', which is defined as a member type of Union '${name}'`);
    } else if (type.kind !== 'object') {
      invalid(`Union type '${name}' can only include object types. It cannot include '${member}'`);
    }
  }
}

/** Checks that a type implements an interface. Messages call an interface that implements another one an object, too. */
function checkImplementation(
  { type, fields }: { readonly type: UpstreamComposite; readonly fields: ReadonlyMap<string, UpstreamField> },
  name: string,
  schema: UpstreamSchema,
): void {
  const implemented = schema.types.get(name);
  if (implemented?.kind !== 'interface') {
    invalid(`Could not find interface '${name}' implemented by Object type '${type.name}'`);
  }
  for (const promised of implemented.fields) {
    const own = fields.get(promised.name);
    if (!own) {
      invalid(
        `Interface field '${name}'."${promised.name}" expected, but '${type.name}' does not provide it`,
      );
    }
    if (!isSubtype(own.type, promised.type, schema)) {
      invalid(
        `The type of Object field '${type.name}'."${own.name}" (${own.type}) is not the same type/sub type of ` +
          `Interface field '${name}'."${promised.name}" (${promised.type})`,
      );
    }
    checkArguments({ owner: name, field: promised }, { owner: type.name, field: own });
  }
}

type OwnedField = { readonly owner: string; readonly field: UpstreamField };

function checkArguments(promised: OwnedField, own: OwnedField): void {
  const argumentOf = ({ owner, field }: OwnedField, name: string) => `'${owner}'."${field.name}"("${name}":)`;
  const ownArguments = byName(own.field.arguments);
  for (const { name, type } of promised.field.arguments) {
    const given = ownArguments.get(name);
    if (!given) {
      invalid(
        `Interface field argument ${argumentOf(promised, name)} required, but Object field ` +
          `'${own.owner}'."${own.field.name}" does not provide it`,
      );
    } else if (given.type !== type) {
      invalid(
        `Interface field argument ${argumentOf(promised, name)} expects type ${type}, ` +
          `but ${argumentOf(own, name)} has type ${given.type}`,
      );
    }
  }
  const promisedArguments = byName(promised.field.arguments);
  for (const extra of own.field.arguments) {
    if (!isRequired(extra) || promisedArguments.has(extra.name)) continue;
    invalid(
      `Object field argument ${argumentOf(own, extra.name)} is of required type ${extra.type}, ` +
        `but is not provided by Interface field '${promised.owner}'."${promised.field.name}"`,
    );
  }
}

function isSubtype(type: string, of: string, schema: UpstreamSchema): boolean {
  if (of.endsWith('!')) return type.endsWith('!') && isSubtype(type.slice(0, -1), of.slice(0, -1), schema);
  const own = nullableType(type);
  const [element, expected] = [elementType(own), elementType(of)];
  if (element !== null || expected !== null) {
    return element !== null && expected !== null && isSubtype(element, expected, schema);
  }
  return own === of || subtypes(schema, of).has(own);
}

function invalid(text: string): never {
  return fail('remoteSchemaInvalid', { text });
}

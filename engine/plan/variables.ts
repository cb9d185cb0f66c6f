/** A request's variables: validated against their declared types, and their shape. The shape is what of them a plan depends
 *  on: which are present, which are null, how long lists of objects are, and the values of enums, Booleans and of those
 *  variables a plan has read by value (`limit`, `offset`, `path` …). Plans are kept by shape, so a value that is not in it
 *  must be one any plan of that shape can take: that is why all of it is checked here, on every request.
 *  Out: values for binding, and the shape as text. Raises the reference's errors. Not here: their use (input.ts). */
import {
  GraphQLBoolean,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type TypeNode,
  type ValueNode,
} from 'graphql';
import { fail, type PathStep } from '../errors/engine-error.ts';
import type { PreparedDocument } from './document.ts';
import { checkScalar, describe } from './scalar-value.ts';

export type VariableDefinition = {
  readonly name: string;
  readonly type: GraphQLInputType;
  /** As written: `[Int!]!`. */
  readonly declared: string;
  readonly defaultValue: ValueNode | null;
};

export type RequestVariables = {
  /** Defaults filled in; absent variables are absent. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly shape: string;
};

const NO_VARIABLES: RequestVariables = { values: {}, shape: '' };

export function coerceVariables(
  document: PreparedDocument,
  given: Readonly<Record<string, unknown>> | null,
): RequestVariables {
  if (given) refuseUnknown(document, given);
  if (document.variables.size === 0) return NO_VARIABLES;
  const values: Record<string, unknown> = {};
  let shape = '';
  for (const definition of document.variables.values()) {
    const { name } = definition;
    const value = givenOrDefault(definition, given);
    if (value !== undefined) values[name] = value;
    shape += `${shapeOf(value, definition.type, document.byValue.has(name), ['variableValues', name])};`;
  }
  return { values, shape };
}

function refuseUnknown(document: PreparedDocument, given: Readonly<Record<string, unknown>>): void {
  for (const name in given) {
    if (!document.variables.has(name)) {
      fail(
        'validationFailed',
        { text: `unexpected variables in variableValues: ${name}` },
        { path: ['variableValues'] },
      );
    }
  }
}

function givenOrDefault(
  definition: VariableDefinition,
  given: Readonly<Record<string, unknown>> | null,
): unknown {
  const { name, type, defaultValue, declared } = definition;
  const value = given && Object.hasOwn(given, name) ? given[name] : undefined;
  if (value === undefined) {
    if (defaultValue) return literalValue(defaultValue);
    if (isNonNullType(type)) fail('missingVariable', { name }, { path: ['variableValues'] });
    return undefined;
  }
  if (value === null && isNonNullType(type)) fail('nullVariable', { type: declared });
  return value;
}

/** Checks a value against its type on the way. */
function shapeOf(
  value: unknown,
  type: GraphQLInputType,
  byValue: boolean,
  path: readonly PathStep[],
): string {
  if (value === undefined) return '-';
  if (isNonNullType(type)) {
    if (value === null) fail('unexpectedNull', { type: String(type.ofType) }, { path });
    return shapeOf(value, type.ofType, byValue, path);
  }
  if (value === null) return 'n';
  if (isListType(type)) return shapeOfList(value, type.ofType, byValue, path);
  if (isInputObjectType(type)) return shapeOfObject(value, type, byValue, path);
  if (isEnumType(type)) {
    if (typeof value !== 'string' || !type.getValue(value))
      fail('expectedButFound', notInEnum(type, value), { path });
    return value as string;
  }
  checkScalar(type, value, path);
  return byValue || type === GraphQLBoolean ? JSON.stringify(value) : 's';
}

function shapeOfList(
  value: unknown,
  item: GraphQLInputType,
  byValue: boolean,
  path: readonly PathStep[],
): string {
  // A lone value is a list of one, but where it is read from differs.
  if (!Array.isArray(value)) return `1${shapeOf(value, item, byValue, path)}`;
  const items: readonly unknown[] = value;
  const shapes = items.map((each, i) => {
    if (each === null && isNonNullType(item))
      fail('unexpectedNull', { type: String(item.ofType) }, { path: [...path, i] });
    return shapeOf(each, item, byValue, [...path, i]);
  });
  // A list of scalars is one array parameter, however long it is.
  return shapes.every((shape) => shape === 's' || shape === 'n') ? 'l' : `[${shapes.join(',')}]`;
}

function shapeOfObject(
  value: unknown,
  type: Extract<GraphQLInputType, { getFields: unknown }>,
  byValue: boolean,
  path: readonly PathStep[],
): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fail(
      'expectedButFound',
      { expected: 'an object', type: type.name, found: describe(value) },
      { path },
    );
  }
  const given = value as Record<string, unknown>;
  const fields = type.getFields();
  for (const name in given) {
    if (!fields[name]) fail('notFoundInType', { field: name, type: type.name }, { path: [...path, name] });
  }
  for (const field of Object.values(fields)) {
    if (isNonNullType(field.type) && given[field.name] === undefined && field.default === undefined) {
      fail('missingValue', { name: field.name }, { path });
    }
  }
  const members = Object.keys(given).map((name) => {
    return `${name}:${shapeOf(given[name], fields[name]!.type, byValue, [...path, name])}`;
  });
  return `{${members.join(',')}}`;
}

export function notInEnum(type: { name: string; getValues(): readonly { name: string }[] }, value: unknown) {
  const values = type.getValues().map(({ name }) => `'${name}'`);
  const expected = `one of the values [${values.join(', ')}]`;
  return { expected, type: type.name, found: typeof value === 'string' ? `'${value}'` : describe(value) };
}

/** A literal without variables as the value it stands for: for defaults and JSON literals. */
export function literalValue(node: ValueNode, variable?: (name: string) => unknown): unknown {
  switch (node.kind) {
    case Kind.VARIABLE:
      return variable ? variable(node.name.value) : null;
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.STRING:
    case Kind.BOOLEAN:
    case Kind.ENUM:
      return node.value;
    case Kind.LIST:
      return node.values.map((item) => literalValue(item, variable));
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.map((field) => [field.name.value, literalValue(field.value, variable)]),
      );
    default:
      return node satisfies never;
  }
}

export function printedType(node: TypeNode): string {
  if (node.kind === Kind.NON_NULL_TYPE) return `${printedType(node.type)}!`;
  return node.kind === Kind.LIST_TYPE ? `[${printedType(node.type)}]` : node.name.value;
}

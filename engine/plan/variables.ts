/** The variables of a request: validated against their declared types, and their shape. The shape is the part of them a plan
 *  depends on: which are present, which are null, the lengths of lists of objects, and the values of enums, Booleans and of
 *  variables that planning read by value (`limit`, `offset`, `path` …). Plans are cached by shape, and a plan must work for
 *  every value that is not in it: this is why all values are validated here, on every request. Out: values for binding, and
 *  the shape as text. Raises the reference's errors. Not here: their use (input.ts). */

import {
  GraphQLBoolean,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  Kind,
  type TypeNode,
} from 'graphql';

import { EngineError, fail, type PathStep } from '../errors/engine-error.ts';
import { isRecord, nameOfJson } from '../json/value.ts';
import { isGraphqlName } from '../resolve/names.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { ArrayType, enumOrigin, isCondition, refusesNull } from '../schema/origin.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';
import type { PreparedDocument, VariableDefinition, VariableDependencies } from './context.ts';
import { literalValue } from './literal.ts';
import { checkScalar, failOnNull, kindOfValue, plainKinds } from './scalar-value.ts';
import { CONDITION_WEIGHT, OBJECT_WEIGHT } from './selection-size.ts';

export type RequestVariables = {
  /** The values with defaults filled in; absent variables are absent. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly shape: string;
  /** True for so many values that validating them takes some milliseconds, and so does sending them. */
  readonly isLong?: boolean;
};

/** The dependencies of a document that has not been planned yet. */
export const NO_DEPENDENCIES: VariableDependencies = { byValue: new Set(), facets: new Map() };

const NO_VARIABLES: RequestVariables = { values: {}, shape: '' };

export function coerceVariables(
  document: PreparedDocument,
  given: Readonly<Record<string, unknown>> | null,
  dependencies: VariableDependencies = NO_DEPENDENCIES,
): RequestVariables {
  if (given) refuseUnknown(document, given);
  if (document.variables.size === 0) return NO_VARIABLES;
  begin(document.role);
  // No prototype: `$constructor` must not find one.
  const values: Record<string, unknown> = { __proto__: null };
  const acceptsNull = document.role.model.features.has('null_in_nonnullable_variables');
  let shape = '';
  for (const definition of document.variables.values()) {
    const { name } = definition;
    const value = givenOrDefault(definition, given, acceptsNull);
    if (value !== undefined) values[name] = value;
    shape += `${shapeOfVariable(value, definition, dependencies.byValue.has(name))};`;
    const facet = dependencies.facets.get(name);
    if (facet) shape += `${facetInPlace(definition, facet, value)};`;
  }
  return reading.items + reading.inputs < LONG ? { values, shape } : { values, shape, isLong: true };
}

/** The number of names in an error. */
const MOST_NAMED = 100;

function refuseUnknown(document: PreparedDocument, given: Readonly<Record<string, unknown>>): void {
  const { variables } = document;
  const names: string[] = [];
  for (const name in given) {
    if (variables.get(name)?.isUsed) continue;
    if (names.push(name) > MOST_NAMED) break;
  }
  if (names.length === 0) return;
  fail('unexpectedVariables', {
    names: names.length > MOST_NAMED ? [...names.slice(0, MOST_NAMED), '…'] : names,
  });
}

function givenOrDefault(
  definition: VariableDefinition,
  given: Readonly<Record<string, unknown>> | null,
  acceptsNull: boolean,
): unknown {
  const { name, declared } = definition;
  const own = given && Object.hasOwn(given, name) ? given[name] : undefined;
  const value = own === undefined ? defaultOf(definition) : own;
  if (value === undefined && declared.endsWith('!')) fail('missingVariable', { name });
  if (value === null && declared.endsWith('!') && !acceptsNull) fail('nullVariable', { type: declared });
  return value;
}

function defaultOf({ defaultValue, defaultProblem, path }: VariableDefinition): unknown {
  if (defaultProblem) throw placed(defaultProblem, path);
  return defaultValue ? literalValue(defaultValue) : undefined;
}

function shapeOfVariable(value: unknown, definition: VariableDefinition, byValue: boolean): string {
  const { type, isRequired } = definition;
  if (value === null && !isRequired) return 'n';
  if (type) {
    try {
      return shapeOf(value, type, byValue);
    } catch (error) {
      // The error keeps the path.
      reading.path = [];
      throw inPlace(error, definition);
    }
  }
  return value === undefined ? '-' : byValue ? JSON.stringify(value) : 's';
}

function facetInPlace(
  definition: VariableDefinition,
  facet: (value: unknown) => string,
  value: unknown,
): string {
  try {
    return facet(value);
  } catch (error) {
    throw inPlace(error, definition);
  }
}

/** Returns an error of a value at the position where the variable is used. */
function inPlace(error: unknown, { path }: VariableDefinition): unknown {
  return error instanceof EngineError ? placed(error, path) : error;
}

/** Returns the error with the path of the position in front of its own. */
function placed(error: EngineError, path: readonly PathStep[]): EngineError {
  return path.reduceRight((grown, step) => grown.at(step), error);
}

/** The state of reading the variables of one request. Reading is never interrupted, so that all requests share it. */
const reading = {
  /** The path inside the value of a variable. */
  path: [] as PathStep[],
  inputs: 0,
  mostInputs: 0,
  /** The scalars in lists that are one parameter. */
  items: 0,
};

const LONG = 20_000;

function begin({ role, model: { requestBounds } }: RoleSchema): void {
  reading.inputs = 0;
  reading.items = 0;
  reading.mostInputs = role === ADMIN_ROLE ? Number.POSITIVE_INFINITY : requestBounds.mostInputs;
}

function countInputs(more: number): void {
  reading.inputs += more;
  const { inputs, mostInputs: most, path } = reading;
  if (inputs > most) fail('tooManyInputs', { most }, { path });
}

/** Validates a value and returns its shape. Errors carry the path inside the value. */
function shapeOf(value: unknown, type: GraphQLInputType, byValue: boolean): string {
  const { path } = reading;
  if (value === undefined) return '-';
  if (path.length > MOST_LEVELS) fail('tooDeep', {});
  if (isNonNullType(type)) {
    if (value === null) failOnNull(type, path);
    return shapeOf(value, type.ofType, byValue);
  }
  if (value === null) return 'n';
  if (type instanceof ArrayType) return shapeOfArray(value, type);
  if (isListType(type)) return shapeOfList(value, type.ofType, byValue);
  if (isInputObjectType(type)) return shapeOfObject(value, type, byValue);
  if (isEnumType(type)) {
    if (typeof value !== 'string' || !isGraphqlName(value)) {
      const found = kindOfValue(value);
      return fail('expectedButFound', { expected: 'an enum value', type: type.name, found }, { path });
    }
    if (!type.getValue(value)) fail('expectedButFound', notInEnum(type, value), { path });
    // The name of a column or direction decides the plan; a value of an enum table does not.
    return enumOrigin(type) && !byValue ? 's' : value;
  }
  checkScalar(type, value, kindOfValue(value), path);
  return byValue || type === GraphQLBoolean ? JSON.stringify(value) : 's';
}

/** Returns the shape of a part of a value. */
function shapeAt(step: PathStep, value: unknown, type: GraphQLInputType, byValue: boolean): string {
  reading.path.push(step);
  const shape = shapeOf(value, type, byValue);
  reading.path.pop();
  return shape;
}

/** Returns the shape of an array, which is one value. Errors in its elements are reported at the array. A text is a whole array in
 *  Postgres's notation. */
function shapeOfArray(value: unknown, { ofType }: ArrayType): string {
  if (typeof value === 'string') return 's';
  checkItems(checkArray(value, reading.path), ofType.ofType, false);
  return 'l';
}

/** Validates the items of a list that is one parameter. Errors have the position of the item, or that of the list. Items that need no more than
 *  a look at their JavaScript type are skipped, because lists are long. */
function checkItems(items: readonly unknown[], type: GraphQLInputType, hasPositions: boolean): void {
  const { path } = reading;
  const { texts, integers } = plainKinds(getNullableType(type));
  const at = path.length;
  reading.items += items.length;
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (typeof item === 'string' ? texts : integers && typeof item === 'number' && (item | 0) === item)
      continue;
    if (hasPositions) path[at] = i;
    shapeOf(item, type, false);
  }
  path.length = at;
}

/** Returns the elements of an array that is a list. Raises `parseFailed` for any other value than a text. */
export function checkArray(value: unknown, path: readonly PathStep[]): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return [];
  const text = `parsing [] failed, expected Array, but encountered ${nameOfJson(value)}`;
  return fail('parseFailed', { text }, { path });
}

const MOST_LEVELS = 100;

function shapeOfList(value: unknown, item: GraphQLInputType, byValue: boolean): string {
  // A single value is a list of one, but it is read from another path.
  if (!Array.isArray(value)) return `1${shapeAt(0, value, item, byValue)}`;
  // A list of scalars or of arrays is one parameter, however long it is.
  if (!byValue && isParameter(getNullableType(item))) {
    checkItems(value, item, true);
    return 'l';
  }
  countInputs(value.length);
  const shapes = value.map((each, i) => shapeAt(i, each, item, byValue));
  return isLeafList(shapes) ? 'l' : `[${shapes.join(',')}]`;
}

function isParameter(type: GraphQLInputType): boolean {
  return type instanceof ArrayType || (isScalarType(type) && type !== GraphQLBoolean);
}

function isLeafList(shapes: readonly string[]): boolean {
  return shapes.every((shape) => shape === 's' || shape === 'n' || shape === 'l');
}

function shapeOfObject(value: unknown, type: GraphQLInputObjectType, byValue: boolean): string {
  const { path } = reading;
  if (!isRecord(value)) {
    const found = kindOfValue(value);
    return fail('expectedButFound', { expected: 'an object', type: type.name, found }, { path });
  }
  const fields = type.getFields();
  const names = Object.keys(value);
  countInputs(names.length + (isCondition(type) ? CONDITION_WEIGHT : OBJECT_WEIGHT));
  const members = names.map((name) => {
    const field =
      fields[name] ?? fail('notFoundInType', { field: name, type: type.name }, { path: [...path, name] });
    if (value[name] === null && refusesNull(field, type)) failOnNull(field.type, [...path, name]);
    return `${name}:${shapeAt(name, value[name], field.type, byValue)}`;
  });
  for (const name of requiredOf(type)) {
    if (!Object.hasOwn(value, name)) fail('missingValue', { name }, { path: [...path, name] });
  }
  return `{${members.join(',')}}`;
}

/** The required fields of each type. Types of conditions have a field per column and occur at every level, so this is computed
 *  once. */
const required = new WeakMap<GraphQLInputObjectType, readonly string[]>();

/** Returns the names of the fields of a type that must be given. */
export function requiredOf(type: GraphQLInputObjectType): readonly string[] {
  const known = required.get(type);
  if (known) return known;
  const fields = Object.values(type.getFields());
  const names = fields.filter((field) => isNonNullType(field.type) && field.default === undefined);
  const found = names.map(({ name }) => name);
  required.set(type, found);
  return found;
}

/** Returns what is wrong with a name that is no value of the enum. */
export function notInEnum(type: { name: string; getValues(): readonly { name: string }[] }, name: string) {
  const values = type
    .getValues()
    .map(({ name }) => `'${name}'`)
    .sort();
  const expected = `one of the values [${values.join(', ')}]`;
  return { expected, type: type.name, found: `'${name}'` };
}

export function printedType(node: TypeNode): string {
  if (node.kind === Kind.NON_NULL_TYPE) return `${printedType(node.type)}!`;
  return node.kind === Kind.LIST_TYPE ? `[${printedType(node.type)}]` : node.name.value;
}

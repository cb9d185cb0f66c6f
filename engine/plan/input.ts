/** One argument value as a tree, whether it was written as a literal, came in a variable, or is literals around variables.
 *  Reading validates it against its GraphQL type, so the concepts that consume inputs meet only what their type allows.
 *  In: AST value × input type. Out: Input; scalars keep where they come from, so that a plan holds leaves, not values.
 *  Raises the reference's validation errors with paths. Not here: variables' own checks (variables.ts). */
import {
  type GraphQLInputType,
  type GraphQLScalarType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type ValueNode,
} from 'graphql';
import type { PgType } from '../catalog/types.ts';
import { fail, type PathStep, withPath } from '../errors/engine-error.ts';
import type { Leaf, LeafValue } from '../resolve/predicate.ts';
import { ArrayType, enumOrigin, isCondition } from '../schema/origin.ts';
import type { PlanContext } from './context.ts';
import { literalValue } from './literal.ts';
import { checkScalar, describe, textOf } from './scalar-value.ts';
import { notInEnum } from './variables.ts';

export type Input =
  | { readonly kind: 'null'; readonly type: GraphQLInputType }
  | { readonly kind: 'leaf'; readonly type: string; readonly from: Origin }
  /** `value` is the enum's internal value: a column's SQL name, a constraint. */
  | { readonly kind: 'enum'; readonly value: string }
  /** `from` is where the whole list can be read from, when that is one place. */
  | { readonly kind: 'list'; readonly items: readonly Input[]; readonly from: Origin | null }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, Input>; readonly type: InputObject };

type InputObject = Extract<GraphQLInputType, { getFields: unknown }>;

/** The arguments of a field by name. */
export type Arguments = ReadonlyMap<string, Input>;

/** Where a value is: in the document, or in the request's variables (with its value at plan time, for those few that are
 *  planned by value). */
export type Origin =
  | { readonly kind: 'literal'; readonly value: unknown }
  | {
      readonly kind: 'variable';
      readonly path: readonly PathStep[];
      readonly value: unknown;
      readonly meaning?: ReadonlyMap<string, string>;
    };

/** Undefined when it is a variable that was not given: as if it had not been written. `hasDefault` is whether the position
 *  itself has a default, which lets a nullable variable stand at a non-null one. */
export function readInput(
  node: ValueNode,
  type: GraphQLInputType,
  context: PlanContext,
  hasDefault = false,
): Input | undefined {
  if (node.kind === Kind.VARIABLE) return readVariable(node.name.value, type, context, hasDefault);
  if (isNonNullType(type)) {
    if (node.kind === Kind.NULL) return failOnNull(type.ofType);
    return readInput(node, type.ofType, context);
  }
  if (node.kind === Kind.NULL) return { kind: 'null', type };
  // Text is all of an array, as Postgres writes it: `{1,2}`.
  if (type instanceof ArrayType && node.kind === Kind.STRING) {
    return { kind: 'leaf', type: String(type), from: { kind: 'literal', value: node.value } };
  }
  if (isListType(type)) return readList(node, type.ofType, context);
  if (isInputObjectType(type)) return readObject(node, type, context);
  if (isEnumType(type)) {
    if (node.kind !== Kind.ENUM) {
      return fail('expectedButFound', { expected: 'an enum value', type: type.name, found: foundIn(node) });
    }
    const value = type.getValue(node.value) ?? fail('expectedButFound', notInEnum(type, node.value));
    if (!enumOrigin(type)) return { kind: 'enum', value: String(value.value) };
    return { kind: 'leaf', type: type.name, from: { kind: 'literal', value: value.value } };
  }
  return readScalar(node, type, context);
}

function readScalar(node: ValueNode, type: GraphQLScalarType, context: PlanContext): Input {
  // Variables inside a JSON literal are read by value: the literal is one parameter.
  const value = literalValue(node, (name) => valueOfVariable(name, context));
  checkScalar(type, node.kind === Kind.ENUM ? ENUM : value, []);
  return { kind: 'leaf', type: type.name, from: { kind: 'literal', value } };
}

/** No scalar takes it but those that take anything. */
const ENUM = Symbol('an enum value');

function readList(node: ValueNode, itemType: GraphQLInputType, context: PlanContext): Input {
  // A lone value stands for a list of one.
  const nodes = node.kind === Kind.LIST ? node.values : [node];
  const items = nodes.map((item, i) =>
    withPath(i, () => readInput(item, itemType, context) ?? ({ kind: 'null', type: itemType } as const)),
  );
  return { kind: 'list', items, from: null };
}

function readObject(node: ValueNode, type: InputObject, context: PlanContext): Input {
  if (node.kind !== Kind.OBJECT) {
    return fail('expectedButFound', { expected: 'an object', type: type.name, found: foundIn(node) });
  }
  const fields = new Map<string, Input>();
  const known = type.getFields();
  for (const { name, value } of node.fields) {
    withPath(name.value, () => {
      const field = known[name.value] ?? fail('notFoundInType', { field: name.value, type: type.name });
      const input = readInput(value, field.type, context, field.default !== undefined);
      // A condition on a variable that was not given is one on null, which is refused: left out, it would hold for every row.
      if (input) fields.set(name.value, input);
      else if (isCondition(type)) fields.set(name.value, { kind: 'null', type: field.type });
    });
  }
  requireFields(type, fields);
  return { kind: 'object', fields, type };
}

function requireFields(type: InputObject, fields: ReadonlyMap<string, Input>): void {
  const missing = requiredOf(type).find((name) => !fields.has(name));
  if (missing !== undefined) fail('missingValue', { name: missing });
}

/** A condition's type has a field a column, and is met at every level: they are looked through once. */
const required = new WeakMap<InputObject, readonly string[]>();

function requiredOf(type: InputObject): readonly string[] {
  const known = required.get(type);
  if (known) return known;
  const fields = Object.values(type.getFields());
  const names = fields.filter((field) => isNonNullType(field.type) && field.default === undefined);
  const found = names.map(({ name }) => name);
  required.set(type, found);
  return found;
}

function readVariable(
  name: string,
  type: GraphQLInputType,
  context: PlanContext,
  hasDefault: boolean,
): Input | undefined {
  const value = context.variables[name];
  if (value === undefined) return isNonNullType(type) && !hasDefault ? failOnNull(type.ofType) : undefined;
  return fromValue(value, type, [name]);
}

/** A variable's value as an Input; it has been checked against its declared type. */
function fromValue(value: unknown, type: GraphQLInputType, path: readonly PathStep[]): Input {
  if (isNonNullType(type))
    return value === null ? failOnNull(type.ofType) : fromValue(value, type.ofType, path);
  if (value === null || value === undefined) return { kind: 'null', type };
  if (type instanceof ArrayType) {
    return { kind: 'leaf', type: String(type), from: { kind: 'variable', path, value } };
  }
  if (isListType(type)) {
    if (!Array.isArray(value))
      return { kind: 'list', items: [fromValue(value, type.ofType, path)], from: null };
    const items = value.map((item, i) => fromValue(item, type.ofType, [...path, i]));
    return { kind: 'list', items, from: { kind: 'variable', path, value, ...meaningOf(type) } };
  }
  if (isInputObjectType(type)) {
    const known = type.getFields();
    const fields = Object.entries(value as object).map(([name, field]) => {
      // It was checked as the type it stands at first; another of that name may have less.
      const { type: own } = known[name] ?? fail('notFoundInType', { field: name, type: type.name });
      return [name, fromValue(field, own, [...path, name])] as const;
    });
    return { kind: 'object', fields: new Map(fields), type };
  }
  if (isEnumType(type) && !enumOrigin(type)) {
    return { kind: 'enum', value: String(type.getValue(value as string)!.value) };
  }
  return { kind: 'leaf', type: type.name, from: { kind: 'variable', path, value, ...meaningOf(type) } };
}

/** What the values of a variable stand for, where an enum spells them otherwise than the database. */
function meaningOf(type: GraphQLInputType): { readonly meaning?: ReadonlyMap<string, string> } {
  const named = getNamedType(type);
  const resolved = isEnumType(named) ? enumOrigin(named) : undefined;
  return resolved?.isRespelled ? { meaning: resolved.valueByName } : {};
}

/** A scalar's value at plan time; the plan then holds for this value only. */
export function valueByValue(input: Extract<Input, { kind: 'leaf' }>, context: PlanContext): unknown {
  if (input.from.kind === 'variable') context.document.byValue.add(String(input.from.path[0]));
  return input.from.value;
}

/** A scalar input as a leaf of a Postgres type. */
export function leafOf(input: Input, type: PgType): Leaf {
  if (input.kind === 'null') return { kind: 'constant', value: null, type };
  if (input.kind === 'enum') return { kind: 'constant', value: input.value, type };
  if (input.kind === 'list') return listLeafOf(input, type);
  if (input.kind !== 'leaf') throw new Error('an input object is no leaf');
  if (input.from.kind === 'variable') return variableLeaf(input.from, type);
  return { kind: 'constant', value: textOf(input.from.value, type) as LeafValue, type };
}

/** Nothing where nothing was given. */
export function itemsOf(input: Input | undefined): readonly Input[] {
  if (!input || input.kind === 'null') return [];
  return input.kind === 'list' ? input.items : [input];
}

export function fieldsOf(input: Input | undefined): ReadonlyMap<string, Input> {
  return input?.kind === 'object' ? input.fields : new Map();
}

function variableLeaf({ path, meaning }: Extract<Origin, { kind: 'variable' }>, type: PgType): Leaf {
  return { kind: 'variable', path, type, ...(meaning ? { meaning } : {}) };
}

/** A list of scalars as one leaf of an array type. */
export function listLeafOf(input: Extract<Input, { kind: 'list' }>, type: PgType): Leaf {
  if (input.from?.kind === 'variable') return variableLeaf(input.from, type);
  const element = (type.base ?? type).element ?? type;
  const items = input.items.map((item) => leafOf(item, element));
  const constants = items.flatMap((item) =>
    item.kind === 'constant' && !Array.isArray(item.value) ? [item.value as string | null] : [],
  );
  if (constants.length === items.length) return { kind: 'constant', value: constants, type };
  return { kind: 'list', items, type };
}

function valueOfVariable(name: string, context: PlanContext): unknown {
  context.document.byValue.add(name);
  return context.variables[name] ?? null;
}

/** Null has no meaning in a condition: `_is_null` asks for it. */
export function refuseNull(input: Input): never {
  if (input.kind === 'null') return failOnNull(input.type);
  throw new Error(`an input of kind ${input.kind} where null was the only other`);
}

/** `type` is what null is not: an object by its name, anything else as it is printed. */
export function failOnNull(type: GraphQLInputType): never {
  if (isInputObjectType(type))
    return fail('expectedButFound', { expected: 'an object', type: type.name, found: 'null' });
  return fail('unexpectedNull', { type: String(type) });
}

/** What a literal is called in messages. */
export function foundIn(node: ValueNode): string {
  if (node.kind === Kind.ENUM) return 'an enum value';
  return describe(literalValue(node));
}

/** One argument value as a tree, no matter if it is a literal, a variable, or a literal with variables in it. Reading
 *  validates the value against its GraphQL type, so planners only see values their type allows. In: AST value × input type.
 *  Out: Input. Scalars keep their source, so a plan holds leaves, not values. Raises the reference's validation errors with
 *  paths. Not here: validation of variables (variables.ts). */
import {
  type GraphQLInputType,
  type GraphQLList,
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
import { ArrayType, enumOrigin, isCondition, refusesNull } from '../schema/origin.ts';
import type { PlanContext } from './context.ts';
import { literalValue } from './literal.ts';
import { checkScalar, failOnNull, kindOfValue, textOf } from './scalar-value.ts';
import type { InputSize } from './selection-size.ts';
import { checkArray, notInEnum, requiredOf } from './variables.ts';

export type Input =
  | { readonly kind: 'null'; readonly type: GraphQLInputType }
  | { readonly kind: 'leaf'; readonly type: string; readonly from: InputSource }
  /** `value` is the internal value of the enum: the SQL name of a column or constraint. */
  | { readonly kind: 'enum'; readonly value: string }
  /** `from` is set when the whole list can be read from one variable. */
  | { readonly kind: 'list'; readonly items: readonly Input[]; readonly from: InputSource | null }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, Input>; readonly type: InputObject };

type InputObject = Extract<GraphQLInputType, { getFields: unknown }>;

/** The arguments of a field by name. */
export type Arguments = ReadonlyMap<string, Input>;

/** The source of a value: a literal in the document, or a variable of the request. `value` is the variable's value while
 *  planning, for the few inputs whose value decides the plan. */
type InputSource =
  | { readonly kind: 'literal'; readonly value: unknown }
  | {
      readonly kind: 'variable';
      readonly path: readonly PathStep[];
      readonly value: unknown;
      readonly meaning?: ReadonlyMap<string, string>;
    };

/** The variables of a request, and the names of those whose values were read while planning. */
export type GivenVariables = Pick<PlanContext, 'variables' | 'byValue'> & {
  /** Counts the values of literals; absent where a literal is read once. */
  readonly inputs?: InputSize;
};

/** Reads a value. Returns undefined for a variable without a value, as if it had not been written. `hasDefault`: the position
 *  has a default, so a nullable variable may be used there although the type is non-null. */
export function readInput(
  node: ValueNode,
  type: GraphQLInputType,
  context: GivenVariables,
  hasDefault = false,
): Input | undefined {
  if (node.kind === Kind.VARIABLE) return readVariable(node.name.value, type, context, hasDefault);
  context.inputs?.count(1);
  if (isNonNullType(type)) {
    if (node.kind === Kind.NULL) return failOnNull(type.ofType);
    return readInput(node, type.ofType, context);
  }
  if (node.kind === Kind.NULL) return { kind: 'null', type };
  if (type instanceof ArrayType) return readArray(node, type, context);
  if (isListType(type)) return readList(node, type.ofType, context);
  if (isInputObjectType(type)) return readObject(node, type, context);
  if (isEnumType(type)) {
    if (node.kind !== Kind.ENUM) {
      return fail('expectedButFound', {
        expected: 'an enum value',
        type: type.name,
        found: kindOfLiteral(node),
      });
    }
    const value = type.getValue(node.value) ?? fail('expectedButFound', notInEnum(type, node.value));
    if (!enumOrigin(type)) return { kind: 'enum', value: String(value.value) };
    return { kind: 'leaf', type: type.name, from: { kind: 'literal', value: value.value } };
  }
  return readScalar(node, type, context);
}

function readScalar(node: ValueNode, type: GraphQLScalarType, context: GivenVariables): Input {
  // Variables inside a JSON literal are read by value: the literal is one parameter.
  const value = literalValue(node, (name) => valueOfVariable(name, context));
  checkScalar(type, value, kindOfLiteral(node), []);
  return { kind: 'leaf', type: type.name, from: { kind: 'literal', value } };
}

/** Reads an array, which is one value: an error in an element is reported at the array. A text is a whole array in Postgres's
 *  notation: `{1,2}`. */
function readArray(node: ValueNode, type: ArrayType, context: GivenVariables): Input {
  if (node.kind !== Kind.LIST) {
    const value = literalValue(node);
    checkArray(value, []);
    return { kind: 'leaf', type: String(type), from: { kind: 'literal', value } };
  }
  const itemType = type.ofType.ofType;
  const items = node.values.map(
    (item) => readInput(item, itemType, context) ?? ({ kind: 'null', type: itemType } as const),
  );
  return { kind: 'list', items, from: null };
}

function readList(node: ValueNode, itemType: GraphQLInputType, context: GivenVariables): Input {
  // A single value is coerced to a list.
  const nodes = node.kind === Kind.LIST ? node.values : [node];
  const items = nodes.map((item, i) =>
    withPath(i, () => readInput(item, itemType, context) ?? ({ kind: 'null', type: itemType } as const)),
  );
  return { kind: 'list', items, from: null };
}

function readObject(node: ValueNode, type: InputObject, context: GivenVariables): Input {
  if (node.kind !== Kind.OBJECT) {
    return fail('expectedButFound', { expected: 'an object', type: type.name, found: kindOfLiteral(node) });
  }
  const fields = new Map<string, Input>();
  const known = type.getFields();
  for (const { name, value } of node.fields) {
    withPath(name.value, () => {
      const field = known[name.value] ?? fail('notFoundInType', { field: name.value, type: type.name });
      const input = readInput(value, field.type, context, field.default !== undefined);
      // A condition on a variable without a value counts as null, which is refused. Ignoring it would match every row.
      if (input) fields.set(name.value, input);
      else if (isCondition(type)) fields.set(name.value, { kind: 'null', type: field.type });
      if (fields.get(name.value)?.kind === 'null' && refusesNull(field, type)) failOnNull(field.type);
    });
  }
  requireFields(type, fields);
  return { kind: 'object', fields, type };
}

function requireFields(type: InputObject, fields: ReadonlyMap<string, Input>): void {
  const missing = requiredOf(type).find((name) => !fields.has(name));
  if (missing !== undefined) fail('missingValue', { name: missing }, { path: [missing] });
}

function readVariable(
  name: string,
  type: GraphQLInputType,
  context: GivenVariables,
  hasDefault: boolean,
): Input | undefined {
  const value = context.variables[name];
  if (value === undefined) return isNonNullType(type) && !hasDefault ? failOnNull(type.ofType) : undefined;
  return fromValue(value, type, [name]);
}

/** Converts the value of a variable, already validated against its declared type, to an Input. */
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
    return new VariableList(value, type, path);
  }
  if (isInputObjectType(type)) {
    const known = type.getFields();
    const fields = Object.entries(value as object).map(([name, field]) => {
      // The value was validated at the variable's first use. At another use a type of the same name may have fewer fields.
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

/** A list in a variable. Its items are read where they are used one by one; a long list of scalars is one parameter. */
class VariableList {
  readonly kind = 'list';
  readonly from: InputSource;
  readonly #value: readonly unknown[];
  readonly #itemType: GraphQLInputType;
  readonly #path: readonly PathStep[];
  #items: readonly Input[] | undefined;

  constructor(value: readonly unknown[], type: GraphQLList<GraphQLInputType>, path: readonly PathStep[]) {
    this.from = { kind: 'variable', path, value, ...meaningOf(type) };
    this.#value = value;
    this.#itemType = type.ofType;
    this.#path = path;
  }

  get items(): readonly Input[] {
    this.#items ??= this.#value.map((item, i) => fromValue(item, this.#itemType, [...this.#path, i]));
    return this.#items;
  }
}

/** Returns the database values of an enum whose GraphQL names differ from them. */
function meaningOf(type: GraphQLInputType): { readonly meaning?: ReadonlyMap<string, string> } {
  const named = getNamedType(type);
  const resolved = isEnumType(named) ? enumOrigin(named) : undefined;
  return resolved?.isRespelled ? { meaning: resolved.valueByName } : {};
}

/** Returns the value of a scalar while planning. The plan then holds for this value only. */
export function valueByValue(input: Extract<Input, { kind: 'leaf' }>, context: GivenVariables): unknown {
  if (input.from.kind === 'variable') context.byValue.add(String(input.from.path[0]));
  return input.from.value;
}

/** Converts a scalar input to a leaf of a Postgres type. */
export function leafOf(input: Input, type: PgType): Leaf {
  if (input.kind === 'null') return { kind: 'constant', value: null, type };
  if (input.kind === 'enum') return { kind: 'constant', value: input.value, type };
  if (input.kind === 'list') return listLeafOf(input, type);
  if (input.kind !== 'leaf') throw new Error('an input object is no leaf');
  if (input.from.kind === 'variable') return variableLeaf(input.from, type);
  return { kind: 'constant', value: textOf(input.from.value, type) as LeafValue, type };
}

/** Returns the items of a list input, or the single value; empty for null or undefined. */
export function itemsOf(input: Input | undefined): readonly Input[] {
  if (!input || input.kind === 'null') return [];
  return input.kind === 'list' ? input.items : [input];
}

export function fieldsOf(input: Input | undefined): ReadonlyMap<string, Input> {
  return input?.kind === 'object' ? input.fields : new Map();
}

function variableLeaf({ path, meaning }: Extract<InputSource, { kind: 'variable' }>, type: PgType): Leaf {
  return { kind: 'variable', path, type, ...(meaning ? { meaning } : {}) };
}

/** Converts a list of scalars to one leaf of an array type. */
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

function valueOfVariable(name: string, context: GivenVariables): unknown {
  context.byValue.add(name);
  return context.variables[name] ?? null;
}

/** Refuses null, which has no meaning in a condition: `_is_null` tests for it. */
export function refuseNull(input: Input): never {
  if (input.kind === 'null') return failOnNull(input.type);
  throw new Error(`an input of kind ${input.kind} where null was the only other`);
}

/** Returns the phrase for a literal in error messages: 'a string', 'an enum value'. */
export function kindOfLiteral(node: ValueNode): string {
  if (node.kind === Kind.INT) return 'an integer';
  if (node.kind === Kind.FLOAT) return 'a float';
  return node.kind === Kind.ENUM ? 'an enum value' : kindOfValue(literalValue(node));
}

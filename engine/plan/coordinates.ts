/** A request → the schema coordinates that it uses, as the GraphQL specification writes them: `author.name` for a field, `query_root.author(where:)`
 *  for an argument, `author_bool_exp.name` for an input field, `order_by.asc` for a value of an enum, `author` for a type that is returned, given or
 *  named by a fragment. What the document says is derived once for each document, what variables add once for each plan: their part is in the shape
 *  of the variables, so it is the same for every request of the plan. Values are never part of it: a variable of an enum table counts as
 *  `status_enum.*`. Not here: counting (usage/), the coordinates that a change affects (schema/affected-coordinates.ts).
 *  Source: GraphQL specification, "Schema Coordinates". */
import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isScalarType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { isRecord } from '../json/value.ts';
import { unknownValueOf } from '../schema/affected-coordinates.ts';
import { enumOrigin } from '../schema/origin.ts';
import type { PreparedDocument } from './context.ts';
import { argumentType } from './count.ts';
import { isIntrospection } from './introspection.ts';
import { definitionOf, isLeftOut, spreadType } from './selection.ts';
import type { RequestVariables } from './variables.ts';

/** The part of a role's schema that the requests of a plan use. */
export class OperationUsage {
  readonly role: string;
  /** Null for an operation without a name. */
  readonly operationName: string | null;
  /** The coordinates inside the values of variables, sorted. */
  readonly inVariables: readonly string[];
  /** Null once its coordinates are derived: a count must not keep the document in memory. */
  #document: PreparedDocument | null;
  #inDocument: ReadonlySet<string> | undefined;

  constructor(document: PreparedDocument, inVariables: readonly string[]) {
    this.role = document.role.role;
    this.operationName = document.operation.name?.value ?? null;
    this.inVariables = inVariables;
    this.#document = document;
  }

  /** The coordinates in the text, derived at the first call. Introspection and `__typename` have none. Selections that a variable may skip
   *  count, those that a literal skips do not. */
  get inDocument(): ReadonlySet<string> {
    this.#inDocument ??= coordinatesOf(this.#document!);
    this.#document = null;
    return this.#inDocument;
  }
}

/** The coordinates of documents whose usage is needed. Several plans of a document share them. */
const derived = new WeakMap<PreparedDocument, ReadonlySet<string>>();

function coordinatesOf(document: PreparedDocument): ReadonlySet<string> {
  const known = derived.get(document);
  if (known) return known;
  const walk = new Walk(document);
  walk.selectionSet(document.operation.selectionSet, document.rootType);
  derived.set(document, walk.found);
  return walk.found;
}

/** Returns the coordinates inside the values of variables, sorted. Their types have been checked. */
export function variableCoordinates(
  { variables }: PreparedDocument,
  { values }: Pick<RequestVariables, 'values'>,
): readonly string[] {
  const found = new Set<string>();
  for (const { name, type } of variables.values()) {
    if (type) collectValue(values[name], type, found);
  }
  return [...found].sort();
}

class Walk {
  readonly found = new Set<string>();
  readonly #document: PreparedDocument;
  /** The types on which each fragment has been visited. */
  readonly #visited = new Set<string>();

  constructor(document: PreparedDocument) {
    this.#document = document;
  }

  selectionSet({ selections }: SelectionSetNode, type: GraphQLCompositeType): void {
    for (const selection of selections) {
      if (isLeftOut(selection, this.#document.conditions)) continue;
      if (selection.kind === Kind.FIELD) this.#field(selection, type);
      else this.#fragment(selection, type);
    }
  }

  #field(node: FieldNode, type: GraphQLCompositeType): void {
    const { value: name } = node.name;
    const field = isIntrospection(name) ? null : definitionOf(type, name);
    if (!field) return;
    const coordinate = `${type.name}.${name}`;
    const inner = getNamedType(field.type);
    this.found.add(coordinate).add(inner.name);
    for (const argument of node.arguments ?? []) {
      const known = field.args.find((each) => each.name === argument.name.value)!;
      this.found.add(`${coordinate}(${known.name}:)`);
      this.#value(argument.value, argumentType(known));
    }
    if (node.selectionSet && isCompositeType(inner)) this.selectionSet(node.selectionSet, inner);
  }

  #fragment(node: Exclude<SelectionNode, FieldNode>, type: GraphQLCompositeType): void {
    const isInline = node.kind === Kind.INLINE_FRAGMENT;
    const fragment = isInline ? node : this.#document.fragments.get(node.name.value)!;
    const named = fragment.typeCondition?.name.value ?? type.name;
    const on = spreadType(named, type);
    if (!on) return;
    this.found.add(named);
    const visit = isInline ? null : `${node.name.value} ${on.name}`;
    if (visit !== null && this.#visited.has(visit)) return;
    if (visit !== null) this.#visited.add(visit);
    this.selectionSet(fragment.selectionSet, on);
  }

  #value(node: ValueNode, type: GraphQLInputType): void {
    const inner = getNullableType(type);
    const named = getNamedType(type);
    this.found.add(named.name);
    if (node.kind === Kind.LIST && isListType(inner)) {
      for (const value of node.values) this.#value(value, inner.ofType);
    } else if (node.kind === Kind.OBJECT && isInputObjectType(named)) {
      const fields = named.getFields();
      for (const { name, value } of node.fields) {
        const field = fields[name.value];
        if (!field) continue;
        this.found.add(`${named.name}.${field.name}`);
        this.#value(value, field.type);
      }
    } else if (node.kind === Kind.ENUM && isEnumType(named)) this.found.add(`${named.name}.${node.value}`);
  }
}

function collectValue(value: unknown, type: GraphQLInputType, found: Set<string>): void {
  const named = getNamedType(type);
  if (value === undefined || value === null) return;
  found.add(named.name);
  if (isScalarType(named)) return;
  if (isEnumType(named) && enumOrigin(named)) {
    // The shape has neither the values nor their number.
    found.add(unknownValueOf(named.name));
    return;
  }
  if (Array.isArray(value)) {
    const inner = getNullableType(type);
    for (const item of value) collectValue(item, isListType(inner) ? inner.ofType : inner, found);
  } else if (isInputObjectType(named) && isRecord(value)) {
    const fields = named.getFields();
    for (const name of Object.keys(value)) {
      const field = fields[name];
      if (!field) continue;
      found.add(`${named.name}.${name}`);
      collectValue(value[name], field.type, found);
    }
  } else if (isEnumType(named)) {
    found.add(`${named.name}.${value}`);
  }
}

/** Validates an operation without values, in one traversal: fields, arguments and fragments exist, objects have a selection
 *  and scalars have none, every variable fits every position where it is used, and the operation is not too deep. A variable
 *  of the wrong type must be refused before its value is looked at, and an error in a value is reported where the variable is
 *  first used: this is why the traversal is separate from planning and returns usages. It visits each fragment once, so the
 *  cost is linear in the text. Not here: literals and required arguments, which planning validates (input.ts). Source: GraphQL
 *  specification, "Validation"; message texts: docs/reference/behaviour/errors.md. */
import {
  type ArgumentNode,
  type FieldNode,
  GraphQLBoolean,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  GraphQLNonNull,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  type VariableDefinitionNode,
} from 'graphql';
import { fail, type PathStep } from '../errors/engine-error.ts';
import type { Fragments } from './context.ts';
import { definitionOf, spreadType } from './selection.ts';
import { printedType } from './variables.ts';

/** The first position where a variable is used. */
export type Usage = { readonly type: GraphQLInputType; readonly path: readonly PathStep[] };

type Path = readonly PathStep[];
type OutputField = GraphQLField<unknown, unknown>;

/** The maximum depth of a request; later stages traverse it recursively. */
export const MOST_LEVELS = 200;

/** Validates an operation and returns usages by variable; a variable that is unused, or used only inside JSON, has none. */
export function validateOperation(
  operation: OperationDefinitionNode,
  fragments: Fragments,
  rootType: GraphQLCompositeType,
): ReadonlyMap<string, Usage> {
  const walk = new Walk(operation.variableDefinitions ?? [], fragments);
  walk.selectionSet(operation.selectionSet, rootType, ['selectionSet']);
  return walk.usages;
}

class Walk {
  readonly usages = new Map<string, Usage>();
  readonly #declared: ReadonlyMap<string, VariableDefinitionNode>;
  readonly #fragments: Fragments;
  /** Fragments that have been visited, with the number of levels below them. */
  readonly #heights = new Map<string, number>();
  /** Fragments being visited, outermost first. */
  readonly #open: string[] = [];
  #deepest = 0;

  constructor(definitions: readonly VariableDefinitionNode[], fragments: Fragments) {
    this.#declared = new Map(definitions.map((node) => [node.variable.name.value, node]));
    this.#fragments = fragments;
  }

  selectionSet({ selections }: SelectionSetNode, type: GraphQLCompositeType, path: Path): void {
    this.#checkDepth(path);
    for (const selection of selections) {
      this.#directives(selection, path);
      if (selection.kind === Kind.FIELD) this.#field(selection, type, path);
      else this.#fragment(selection, type, path);
    }
  }

  #field(node: FieldNode, type: GraphQLCompositeType, path: Path): void {
    const field = definitionOf(type, node.name.value, path);
    if (!field) return;
    const at = [...path, field.name];
    this.#arguments(node.arguments ?? [], field, at);
    const inner = getNamedType(field.type);
    if (isCompositeType(inner)) {
      const missing = { text: `missing selection set for '${field.name}'` };
      const set = node.selectionSet ?? fail('validationFailed', missing, { path: at });
      this.selectionSet(set, inner, [...at, 'selectionSet']);
    } else if (node.selectionSet) {
      fail('validationFailed', { text: 'unexpected subselection set for non-object field' }, { path: at });
    }
  }

  #fragment(node: Exclude<SelectionNode, FieldNode>, type: GraphQLCompositeType, path: Path): void {
    if (node.kind === Kind.INLINE_FRAGMENT) {
      const on = spreadType(node.typeCondition?.name.value ?? type.name, type, path);
      this.#within('', () => this.selectionSet(node.selectionSet, on, path));
      return;
    }
    const name = node.name.value;
    const fragment = this.#fragments.get(name) ?? fail('unknownFragment', { name }, { path });
    const on = spreadType(fragment.typeCondition.name.value, type, path);
    if (this.#open.includes(name)) {
      fail('fragmentCycle', { names: this.#open.slice(this.#open.indexOf(name)).filter(Boolean) });
    }
    const height = this.#heights.get(name);
    const level = path.length + this.#open.length;
    if (height !== undefined) {
      this.#reach(level + height);
      return;
    }
    const before = this.#deepest;
    this.#deepest = level;
    this.#within(name, () => this.selectionSet(fragment.selectionSet, on, path));
    this.#heights.set(name, this.#deepest - level);
    this.#deepest = Math.max(before, this.#deepest);
  }

  #within(fragment: string, body: () => void): void {
    this.#open.push(fragment);
    body();
    this.#open.pop();
  }

  #arguments(nodes: readonly ArgumentNode[], field: OutputField, path: Path): void {
    for (const { name, value } of nodes) {
      const known =
        field.args.find((each) => each.name === name.value) ??
        fail('noSuchArgument', { field: field.name, argument: name.value }, { path });
      this.#value(value, known.type, known.default !== undefined, [...path, 'args', name.value]);
    }
  }

  #directives({ directives }: SelectionNode, path: Path): void {
    for (const directive of directives ?? []) {
      const name = directive.name.value;
      if (name !== 'include' && name !== 'skip') fail('unknownDirective', { name }, { path });
      for (const argument of directive.arguments ?? []) {
        this.#value(argument.value, CONDITION, false, [...path, name, argument.name.value]);
      }
    }
  }

  /** Validates a value. `type` is null inside a JSON literal and where planning will report an unexpected value. */
  #value(node: ValueNode, type: GraphQLInputType | null, hasDefault: boolean, path: Path): void {
    this.#checkDepth(path);
    const inner = type && getNullableType(type);
    if (node.kind === Kind.VARIABLE) {
      this.#variable(node.name.value, type, hasDefault, path);
    } else if (node.kind === Kind.LIST) {
      const item = isListType(inner) ? inner.ofType : null;
      for (const [i, value] of node.values.entries()) this.#value(value, item, false, [...path, i]);
    } else if (node.kind === Kind.OBJECT) {
      // A single object is coerced to a list.
      if (isListType(inner)) {
        this.#value(node, inner.ofType, false, [...path, 0]);
        return;
      }
      const fields = isInputObjectType(inner) ? inner.getFields() : {};
      for (const { name, value } of node.fields) {
        const field = fields[name.value];
        this.#value(value, field?.type ?? null, field?.default !== undefined, [...path, name.value]);
      }
    }
  }

  #variable(name: string, type: GraphQLInputType | null, hasDefault: boolean, path: Path): void {
    const node = this.#declared.get(name) ?? fail('unboundVariable', { name }, { path });
    if (!type) return;
    const declared = printedType(node.type);
    // A default allows a nullable variable at a non-null position.
    const isNeverNull = hasDefault || (node.defaultValue && node.defaultValue.kind !== Kind.NULL);
    const expected = isNonNullType(type) && isNeverNull ? type.ofType : type;
    if (!fits(declared, expected))
      fail('variableMismatch', { name, declared, expected: String(type) }, { path });
    if (!this.usages.has(name)) this.usages.set(name, { type, path });
  }

  #checkDepth(path: Path): void {
    this.#reach(path.length + this.#open.length);
  }

  #reach(level: number): void {
    if (level > MOST_LEVELS) fail('tooDeep', {});
    this.#deepest = Math.max(this.#deepest, level);
  }
}

const CONDITION = new GraphQLNonNull(GraphQLBoolean);

/** True when a variable of the declared type may be used where `to` is expected. A single value may be used for a list. */
function fits(declared: string, to: GraphQLInputType): boolean {
  if (declared.endsWith('!')) return fits(declared.slice(0, -1), getNullableType(to));
  if (isNonNullType(to)) return false;
  if (!isListType(to)) return declared === to.name;
  return fits(declared.startsWith('[') ? declared.slice(1, -1) : declared, to.ofType);
}

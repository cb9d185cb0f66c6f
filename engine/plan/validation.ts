/** Validates an operation without values, in one traversal: fields, arguments and directives exist, objects have a selection
 *  and scalars have none, every variable fits every position where it is used, and the operation is not too deep. What
 *  cannot be part of the response is not validated: fragments on a type that cannot apply, fields that a literal or a known variable
 *  skips. A variable
 *  of the wrong type must be refused before its value is looked at, and an error in a value is reported where the variable is
 *  first used: this is why the traversal is separate from planning and returns usages. It visits each fragment once, so the
 *  cost is linear in the text. Not here: spreads and unbound variables (reach.ts); literals and
 *  required arguments, which planning validates (input.ts). Source: GraphQL
 *  specification, "Validation"; message texts: docs/reference/behaviour/errors.md. */
import {
  type ArgumentNode,
  type DirectiveNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
  type VariableDefinitionNode,
} from 'graphql';
import { fail, type PathStep } from '../errors/engine-error.ts';
import { own } from '../metadata/own.ts';
import { isForwarded } from '../schema/origin.ts';
import { type Conditions, NO_CONDITIONS } from './conditions.ts';
import type { Fragments } from './context.ts';
import { argumentType } from './count.ts';
import { type DirectivePosition, POSITIONS, REQUEST_DIRECTIVES } from './directives.ts';
import { MOST_LEVELS } from './reach.ts';
import { definitionOf, isLeftOut, spreadType } from './selection.ts';
import { printedType } from './variables.ts';

/** The first use of a variable, and whether any of its uses needs a value. */
export type Usage = {
  readonly type: GraphQLInputType;
  readonly path: readonly PathStep[];
  readonly isRequired: boolean;
};

type Path = readonly PathStep[];
type OutputField = GraphQLField<unknown, unknown>;

/** True for a field that the type does not have and that is not an error. */
export type IsUnjudged = (type: string, field: string) => boolean;

/** Validates an operation and returns usages by variable; a variable that is unused, or used only inside JSON, has none. Selections that
 *  `conditions` leave out are not validated, and neither are unknown fields that `isUnjudged` names. */
export function validateOperation(
  operation: OperationDefinitionNode,
  fragments: Fragments,
  rootType: GraphQLCompositeType,
  conditions: Conditions = NO_CONDITIONS,
  isUnjudged: IsUnjudged = () => false,
): ReadonlyMap<string, Usage> {
  const definitions = operation.variableDefinitions ?? [];
  const walk = new Walk(definitions, fragments, conditions, isUnjudged);
  for (const { directives } of definitions) walk.directives(directives, 'variable', []);
  walk.directives(operation.directives, operation.operation, []);
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
  readonly #conditions: Conditions;
  readonly #isUnjudged: IsUnjudged;
  #deepest = 0;

  constructor(
    definitions: readonly VariableDefinitionNode[],
    fragments: Fragments,
    conditions: Conditions,
    isUnjudged: IsUnjudged,
  ) {
    this.#conditions = conditions;
    this.#isUnjudged = isUnjudged;
    this.#declared = new Map(definitions.map((node) => [node.variable.name.value, node]));
    this.#fragments = fragments;
  }

  selectionSet({ selections }: SelectionSetNode, type: GraphQLCompositeType, path: Path): void {
    this.#checkDepth(path);
    for (const selection of selections) {
      this.directives(selection.directives, selection.kind === Kind.FIELD ? 'field' : 'fragment', path);
      if (isLeftOut(selection, this.#conditions)) continue;
      if (selection.kind === Kind.FIELD) this.#field(selection, type, path);
      else this.#fragment(selection, type, path);
    }
  }

  #field(node: FieldNode, type: GraphQLCompositeType, path: Path): void {
    const name = node.name.value;
    if (this.#isUnjudged(type.name, name) && !hasField(type, name)) return;
    const field = definitionOf(type, name, path);
    if (!field) return;
    const at = [...path, field.name];
    const inner = getNamedType(field.type);
    if (node.selectionSet && !isCompositeType(inner)) {
      fail('validationFailed', { text: 'unexpected subselection set for non-object field' }, { path: at });
    }
    this.#arguments(node.arguments ?? [], field, at);
    if (isCompositeType(inner)) {
      const missing = { text: `missing selection set for '${inner.name}'` };
      const within = [...at, 'selectionSet'];
      this.selectionSet(
        node.selectionSet ?? fail('validationFailed', missing, { path: within }),
        inner,
        within,
      );
    }
  }

  #fragment(node: Exclude<SelectionNode, FieldNode>, type: GraphQLCompositeType, path: Path): void {
    if (node.kind === Kind.INLINE_FRAGMENT) {
      const on = spreadType(node.typeCondition?.name.value ?? type.name, type);
      if (on) this.#within('', () => this.selectionSet(node.selectionSet, on, path));
      return;
    }
    const name = node.name.value;
    const fragment = this.#fragments.get(name)!;
    const on = spreadType(fragment.typeCondition.name.value, type);
    if (!on) return;
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
      this.#value(value, argumentType(known), known.default !== undefined, [...path, 'args', name.value]);
    }
  }

  /** Validates the directives of a selection, of a variable or of the operation. */
  directives(directives: readonly DirectiveNode[] = [], on: DirectivePosition, path: Path): void {
    for (const { name: node, arguments: given = [] } of directives) {
      const name = node.value;
      const known = own(REQUEST_DIRECTIVES, name) ?? fail('unknownDirective', { name }, { path });
      if (!known.on.includes(on)) fail('misplacedDirective', { name, on: POSITIONS[on] }, { path });
      const at = [...path, name];
      for (const { name: argument } of given) {
        if (!own(known.args, argument.value)) {
          fail('noSuchArgument', { field: name, argument: argument.value }, { path: at });
        }
      }
      for (const [argument, { type, isOptional }] of Object.entries(known.args)) {
        const value = given.find((each) => each.name.value === argument)?.value;
        const here = [...at, 'args', argument];
        if (value) this.#value(value, type, isOptional, here);
        else if (!isOptional) fail('missingValue', { name: argument }, { path: here });
      }
    }
    const names = directives.map(({ name }) => name.value);
    const repeated = names.filter((name, i) => names.indexOf(name) !== i);
    if (repeated.length > 0)
      fail('repeatedDirectives', { names: [...new Set(repeated)].map((name) => `'${name}'`) }, { path });
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
    const node = this.#declared.get(name)!;
    if (!type) return;
    const declared = printedType(node.type);
    // A default allows a nullable variable at a non-null position.
    const isNeverNull = hasDefault || (node.defaultValue && node.defaultValue.kind !== Kind.NULL);
    const expected = isNonNullType(type) && isNeverNull ? type.ofType : type;
    if (!fits(declared, expected))
      fail('variableMismatch', { name, declared, expected: String(type) }, { path });
    const known = this.usages.get(name);
    const isRequired = known?.isRequired || isNonNullType(expected);
    // A position whose values another service judges does not decide what a value must be elsewhere.
    const first = known && !isJudgedElsewhere(known.type) ? known : { type, path };
    this.usages.set(name, { ...first, isRequired });
  }

  #checkDepth(path: Path): void {
    this.#reach(path.length + this.#open.length);
  }

  #reach(level: number): void {
    if (level > MOST_LEVELS) fail('tooDeep', {});
    this.#deepest = Math.max(this.#deepest, level);
  }
}

function hasField(type: GraphQLCompositeType, name: string): boolean {
  return !isUnionType(type) && Object.hasOwn(type.getFields(), name);
}

function isJudgedElsewhere(type: GraphQLInputType): boolean {
  const named = getNamedType(type);
  return isScalarType(named) && isForwarded(named);
}

/** True when a variable of the declared type may be used where `to` is expected. A single value may be used for a list. */
function fits(declared: string, to: GraphQLInputType): boolean {
  if (declared.endsWith('!')) return fits(declared.slice(0, -1), getNullableType(to));
  if (isNonNullType(to)) return false;
  if (!isListType(to)) return declared === to.name;
  return fits(declared.startsWith('[') ? declared.slice(1, -1) : declared, to.ofType);
}

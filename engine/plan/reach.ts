/** What an operation reaches: the fragments it spreads and the variables it uses, before any type is known. One traversal, which
 *  visits each fragment once. Skipped fields and fragments that cannot apply are part of it, as in the reference. Raises
 *  `multipleDefinitions`, `unknownFragment`, `fragmentCycle` and `unboundVariable`. Not here: types (validation.ts). Reference:
 *  docs/reference/behaviour/queries.md. */
import {
  type ArgumentNode,
  type DirectiveNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { fail, type PathStep } from '../errors/engine-error.ts';
import type { Fragments } from './context.ts';

/** The maximum depth of a request; the stages of a request traverse it recursively. */
export const MOST_LEVELS = 200;

/** Returns the fragments of a document by name. */
export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const name = definition.name.value;
    if (fragments.has(name)) fail('multipleDefinitions', { kind: 'fragment', name });
    fragments.set(name, definition);
  }
  return fragments;
}

/** Returns the names of the variables that the operation uses. */
export function usedVariables(operation: OperationDefinitionNode, fragments: Fragments): ReadonlySet<string> {
  const declared = new Set<string>();
  for (const { variable } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    if (declared.has(name)) fail('multipleDefinitions', { kind: 'variable', name });
    declared.add(name);
  }
  const reach = new Reach(fragments);
  reach.set(operation.selectionSet, []);
  reach.directives(operation.directives);
  for (const name of reach.used) if (!declared.has(name)) fail('unboundVariable', { name });
  return reach.used;
}

class Reach {
  readonly used = new Set<string>();
  readonly #fragments: Fragments;
  readonly #visited = new Set<string>();
  /** Fragments being visited, outermost first. */
  readonly #open: string[] = [];
  #level = 0;

  constructor(fragments: Fragments) {
    this.#fragments = fragments;
  }

  /** The path of an error leads through fields and named fragments; an inline fragment is no step of it. */
  set({ selections }: SelectionSetNode, path: readonly PathStep[]): void {
    this.#within(() => {
      for (const selection of selections) this.#selection(selection, path);
    });
  }

  #selection(node: SelectionNode, path: readonly PathStep[]): void {
    this.directives(node.directives);
    if (node.kind === Kind.INLINE_FRAGMENT) {
      this.set(node.selectionSet, path);
      return;
    }
    const here = [...path, 'selectionSet'];
    const name = node.name.value;
    if (node.kind === Kind.FIELD) {
      this.#arguments(node.arguments);
      if (node.selectionSet) this.set(node.selectionSet, [...here, name]);
      return;
    }
    if (this.#visited.has(name)) return;
    const from = this.#open.indexOf(name);
    if (from >= 0) fail('fragmentCycle', { names: this.#open.slice(from) }, { path: here });
    const fragment = this.#fragments.get(name) ?? fail('unknownFragment', { name }, { path: here });
    this.#open.push(name);
    this.set(fragment.selectionSet, [...here, name]);
    this.#open.pop();
    this.#visited.add(name);
  }

  directives(directives: readonly DirectiveNode[] | undefined): void {
    for (const directive of directives ?? []) this.#arguments(directive.arguments);
  }

  #arguments(nodes: readonly ArgumentNode[] | undefined): void {
    for (const { value } of nodes ?? []) this.#value(value);
  }

  #value(node: ValueNode): void {
    if (node.kind === Kind.VARIABLE) this.used.add(node.name.value);
    if (node.kind !== Kind.LIST && node.kind !== Kind.OBJECT) return;
    const inner = node.kind === Kind.LIST ? node.values : node.fields.map(({ value }) => value);
    this.#within(() => {
      for (const value of inner) this.#value(value);
    });
  }

  #within(body: () => void): void {
    this.#level += 1;
    if (this.#level > MOST_LEVELS) fail('tooDeep', {});
    body();
    this.#level -= 1;
  }
}

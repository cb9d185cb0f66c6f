/** Checks a document against the request policy of the role. It runs once, when the document is prepared; requests with a
 *  cached plan skip it. Not here: the policy (resolve/request-policy.ts), limits that are not about the document (execute/,
 *  http/). Reference: docs/reference/behaviour/permissions.md. */
import {
  type DocumentNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { fail } from '../errors/engine-error.ts';
import type { QueryCollection } from '../metadata/schema/collection.ts';
import { requestPolicyOf } from '../resolve/request-policy.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';
import type { Fragments } from './context.ts';
import { isIntrospection } from './introspection.ts';

/** Raises `queryNotAllowed`. It is the first check, because the errors of others reveal parts of the schema. */
export function checkAllowList(document: DocumentNode, { model, role }: RoleSchema): void {
  const { allowed } = requestPolicyOf(model, role);
  if (allowed && !isAllowed(document, allowed)) fail('queryNotAllowed', {});
}

/** Checks an operation whose fragments exist and do not contain themselves. Raises `introspectionDisabled`,
 *  `depthLimitExceeded`, `nodeLimitExceeded`. */
export function checkRequestPolicy(
  { selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
  { model, role }: RoleSchema,
): void {
  const { mayIntrospect, mostDepth, mostNodes } = requestPolicyOf(model, role);
  if (mayIntrospect && mostDepth === null && mostNodes === null) return;
  const { introspects, depth, nodes } = sizeOfSet(selectionSet, fragments, new Map());
  if (introspects && !mayIntrospect) fail('introspectionDisabled', { role });
  if (mostDepth !== null && depth > mostDepth) fail('depthLimitExceeded', { found: depth, most: mostDepth });
  if (mostNodes !== null && nodes > mostNodes) fail('nodeLimitExceeded', { found: nodes, most: mostNodes });
}

type Size = {
  readonly introspects: boolean;
  /** The number of levels of nodes, without those of introspection. */
  readonly depth: number;
  /** The number of fields that have a selection. */
  readonly nodes: number;
};

const NOTHING: Size = { introspects: false, depth: 0, nodes: 0 };

/** Returns the size of a selection set. `known` caches sizes by fragment, so each is measured once however often it is spread. */
function sizeOfSet({ selections }: SelectionSetNode, fragments: Fragments, known: Map<string, Size>): Size {
  return selections.reduce((sum, selection) => {
    const size = sizeOf(selection, fragments, known);
    return {
      introspects: sum.introspects || size.introspects,
      depth: Math.max(sum.depth, size.depth),
      nodes: sum.nodes + size.nodes,
    };
  }, NOTHING);
}

function sizeOf(selection: SelectionNode, fragments: Fragments, known: Map<string, Size>): Size {
  if (selection.kind === Kind.INLINE_FRAGMENT) return sizeOfSet(selection.selectionSet, fragments, known);
  const name = selection.name.value;
  if (selection.kind === Kind.FIELD) {
    if (!selection.selectionSet) return NOTHING;
    const { introspects, depth, nodes } = sizeOfSet(selection.selectionSet, fragments, known);
    return isIntrospection(name)
      ? { introspects: true, depth: 0, nodes: nodes + 1 }
      : { introspects, depth: depth + 1, nodes: nodes + 1 };
  }
  const size = known.get(name) ?? sizeOfSet(fragments.get(name)!.selectionSet, fragments, known);
  known.set(name, size);
  return size;
}

/** True when a collection holds the document. Only what documents say is compared, not how they are written: whitespace, comments
 *  and `__typename`, which clients add by themselves, make no difference; the order of fields, names of operations and the
 *  split into fragments do. A text in a collection that is not GraphQL allows nothing. */
export function isAllowed(document: DocumentNode, collections: readonly QueryCollection[]): boolean {
  const text = normalized(document);
  return collections.some((collection) => textsOf(collection).has(text));
}

/** The texts of each collection. A collection keeps its identity when others are edited, so it is parsed once. */
const read = new WeakMap<QueryCollection, ReadonlyMap<string, string>>();

/** Returns the normalized texts that the collection allows, each with the name of its query. */
export function textsOf(collection: QueryCollection): ReadonlyMap<string, string> {
  const known = read.get(collection);
  if (known) return known;
  const texts = new Map(
    collection.definition.queries.flatMap(({ name, query }) =>
      normalizedText(query).map((text) => [text, name] as const),
    ),
  );
  read.set(collection, texts);
  return texts;
}

function normalizedText(query: string): readonly string[] {
  try {
    return [normalized(parse(query, { noLocation: true }))];
  } catch {
    return [];
  }
}

function normalized(document: DocumentNode): string {
  const plain = visit(document, {
    SelectionSet: (node) => ({
      ...node,
      selections: node.selections.filter(
        (selection) => selection.kind !== Kind.FIELD || selection.name.value !== '__typename',
      ),
    }),
    StringValue: (node) => ({ ...node, block: false }),
  });
  return print(plain);
}

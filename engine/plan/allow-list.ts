/** Is a document one of those a query collection holds? Compared is what they say and not how they are written: blanks,
 *  comments and `__typename`, which clients add by themselves, do not count; the order of fields, names of operations and
 *  the split into fragments do. Texts that are no GraphQL allow nothing. Reference: docs/reference/behaviour/permissions.md. */
import { type DocumentNode, Kind, parse, print, visit } from 'graphql';
import type { QueryCollection } from '../metadata/schema/collection.ts';

export function isAllowed(document: DocumentNode, collections: readonly QueryCollection[]): boolean {
  const text = normalized(document);
  return collections.some((collection) => textsOf(collection).has(text));
}

/** A collection stays the same object through edits of others, so each is read once. */
const read = new WeakMap<QueryCollection, ReadonlySet<string>>();

function textsOf(collection: QueryCollection): ReadonlySet<string> {
  const known = read.get(collection);
  if (known) return known;
  const texts = new Set(collection.definition.queries.flatMap(({ query }) => normalizedText(query)));
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

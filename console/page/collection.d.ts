/** The types of collection.js for the tests. */
export function collectionResource(given: {
  readonly collection: string;
  readonly name: string;
  readonly query: string;
}): string;

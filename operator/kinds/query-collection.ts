/** QueryCollection: stored queries, and optionally the roles that may run them while the allow list is on. The entry is a separate object. */
import {
  type AllowListEntry,
  type MetadataObject,
  objectKey,
  type QueryCollection,
  Type,
} from '@pergola/engine/metadata';
import { AllowListScope, allowListObject, describeScope } from './allow-list-entry.ts';
import { Comment, closed, keyedList, MetadataName, withDescription } from './annotate.ts';
import { type Inventory, kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf } from './kind.ts';

export const QueryCollectionSpec = specOf({
  name: withDescription('The name of the collection, for example mobile.', MetadataName),
  comment: Type.Optional(
    withDescription('A note for administrators, which exports of the metadata contain.', Comment),
  ),
  queries: withDescription(
    'The stored queries, by name.',
    keyedList(
      'name',
      closed({
        name: withDescription('The name of the query, which RestEndpoints refer to.', MetadataName),
        query: Type.String({
          minLength: 1,
          maxLength: 131_072,
          description: 'The text of one GraphQL operation: query articles { article { id } }',
        }),
      }),
    ),
  ),
  allowlist: Type.Optional(
    withDescription(
      'Adds the collection to the allow list. Absent: the queries are stored only.',
      closed({ scope: Type.Optional(AllowListScope) }),
    ),
  ),
});

export const queryCollection = kindRow({
  kind: 'QueryCollection',
  plural: 'querycollections',
  singular: 'querycollection',
  shortNames: ['gqlqc'],
  concerns: 'object',
  description: 'Stored queries, and the roles that may run them while the allow list is on.',
  spec: QueryCollectionSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  deletionPolicy: 'Delete',
  target: (spec) => `query collection ${spec.name}`,
  translate: (spec): readonly MetadataObject[] => [
    {
      key: objectKey('query_collection', spec.name),
      kind: 'query_collection',
      parent: null,
      definition: { name: spec.name, comment: spec.comment, definition: { queries: spec.queries } },
    },
    ...(spec.allowlist ? [allowListObject(spec.name, spec.allowlist.scope)] : []),
  ],
  fieldPaths: (_, { kind }) =>
    kind === 'allowlist'
      ? [{ at: 'spec.allowlist' }]
      : [{ at: 'spec.queries', of: ['definition', 'queries'] }],
  describe: (inventory) =>
    inventory.all('query_collection').map((object) => describeCollection(object, inventory)),
});

function describeCollection({ definition: given }: MetadataObject, inventory: Inventory): ResourceDraft {
  const { name, comment, definition } = given as QueryCollection;
  const entry = inventory
    .all('allowlist')
    .map((object) => object.definition as AllowListEntry)
    .find(({ collection }) => collection === name);
  const allowlist = entry && describeScope(entry);
  return { name, spec: { name, comment, queries: definition.queries, ...(allowlist ? { allowlist } : {}) } };
}

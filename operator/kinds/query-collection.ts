/** QueryCollection: stored queries, and optionally the roles that may run them while the allow list is on. The entry is a separate object. */
import { Type } from '@pergola/engine/metadata';
import { AllowListScope } from './allow-list-entry.ts';
import { Comment, closed, keyedList, MetadataName } from './annotate.ts';
import { kindRow, specOf } from './kind.ts';
import { optional, required } from './mapping.ts';

export const QueryCollectionSpec = specOf({
  name: required('The name of the collection, for example mobile.', MetadataName),
  comment: optional('A note for administrators, which exports of the metadata contain.', Comment),
  queries: required(
    'The stored queries, by name.',
    keyedList(
      'name',
      closed({
        name: required('The name of the query, which RestEndpoints refer to.', MetadataName),
        query: required(
          'The text of one GraphQL operation: query articles { article { id } }',
          Type.String({ minLength: 1, maxLength: 131_072 }),
        ),
      }),
    ),
    'definition.queries',
  ),
  allowlist: optional(
    'Adds the collection to the allow list. Absent: the queries are stored only.',
    closed({ scope: Type.Optional(AllowListScope) }),
  ),
});

export const queryCollection = kindRow({
  kind: 'QueryCollection',
  shortNames: ['gqlqc'],
  concerns: 'object',
  description: 'Stored queries, and the roles that may run them while the allow list is on.',
  spec: QueryCollectionSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  target: (spec) => `query collection ${spec.name}`,
  objects: [
    { kind: 'query_collection', key: ['name'] },
    { kind: 'allowlist', at: 'allowlist', key: [], members: ({ name }) => ({ collection: name }) },
  ],
});

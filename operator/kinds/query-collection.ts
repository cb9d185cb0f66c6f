/** QueryCollection: stored queries, and, when said, who may run them while the allow list is on. The entry of the allow list
 *  is an object of its own. */
import { type MetadataObject, objectKey, type Static, Type } from '@pergola/engine/metadata';
import { Comment, closed, described, immutable, keyedList, MetadataName, plainList } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, specOf } from './kind.ts';

const Scope = closed(
  {
    global: Type.Optional(Type.Boolean({ description: 'Every role.' })),
    roles: Type.Optional(plainList(MetadataName, 500)),
  },
  {
    rule: '(has(self.global) && self.global) != has(self.roles)',
    message: 'scope has either global: true or roles; name one of them',
    holds: (scope) => (scope.global === true) !== 'roles' in scope,
  },
);
type Scope = Static<typeof Scope>;

export const QueryCollectionSpec = specOf(
  'QueryCollection',
  {
    name: MetadataName,
    comment: Type.Optional(Comment),
    queries: keyedList(
      'name',
      closed({ name: MetadataName, query: Type.String({ minLength: 1, maxLength: 131_072 }) }),
    ),
    allowlist: Type.Optional(
      described('Puts the collection on the allow list.', closed({ scope: Type.Optional(Scope) })),
    ),
  },
  immutable('name', 'create a new QueryCollection object for another name'),
);

export const queryCollection = kindRow({
  kind: 'QueryCollection',
  plural: 'querycollections',
  singular: 'querycollection',
  shortNames: ['gqlqc'],
  description: 'Stored queries, and who may run them while the allow list is on.',
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
    ...(spec.allowlist ? [allowlistEntry(spec.name, spec.allowlist.scope)] : []),
  ],
});

function allowlistEntry(collection: string, scope: Scope | undefined): MetadataObject {
  return {
    key: objectKey('allowlist', collection),
    kind: 'allowlist',
    parent: null,
    definition: {
      collection,
      scope: scope?.roles ? { global: false, roles: scope.roles } : { global: true },
    },
  };
}

/** AllowListEntry: adds a query collection to the allow list. A QueryCollection resource can do so itself. */
import {
  type AllowListEntry,
  type MetadataObject,
  objectKey,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { closed, MetadataName, plainList, withDescription } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf } from './kind.ts';

export const AllowListScope = withDescription(
  'The roles that may run the queries. Absent: every role.',
  closed(
    {
      global: Type.Optional(Type.Boolean({ description: 'True: every role.' })),
      roles: Type.Optional(
        withDescription('The names of the roles.', {
          ...plainList(MetadataName, 500),
          minItems: 1,
        }),
      ),
    },
    {
      rule: '(has(self.global) && self.global) != has(self.roles)',
      message: 'scope has either global: true or roles; name one of them',
      holds: (scope) => (scope.global === true) !== 'roles' in scope,
    },
  ),
);
type AllowListScope = Static<typeof AllowListScope>;

export const AllowListEntrySpec = specOf({
  collection: withDescription('The name of the query collection.', MetadataName),
  scope: Type.Optional(AllowListScope),
});

export const allowListEntry = kindRow({
  kind: 'AllowListEntry',
  plural: 'allowlistentries',
  singular: 'allowlistentry',
  shortNames: ['gqlal'],
  concerns: 'engine',
  description: 'A query collection on the allow list that no QueryCollection resource manages.',
  spec: AllowListEntrySpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.collection'],
  deletionPolicy: 'Delete',
  target: (spec) => `allow list entry ${spec.collection}`,
  translate: (spec) => [allowListObject(spec.collection, spec.scope)],
  describe: (inventory) => {
    const owned = new Set(inventory.all('query_collection').map(({ key }) => nameIn(key)));
    return inventory
      .all('allowlist')
      .filter(({ key }) => !owned.has(nameIn(key)))
      .map(describeEntry);
  },
});

function nameIn(key: string): string {
  return key.slice(key.indexOf('/'));
}

export function allowListObject(collection: string, scope: AllowListScope | undefined): MetadataObject {
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

function describeEntry({ definition }: MetadataObject): ResourceDraft {
  const { collection } = definition as AllowListEntry;
  return { name: collection, spec: { collection, ...describeScope(definition as AllowListEntry) } };
}

/** Returns the scope of an entry; empty for all roles, the default. */
export function describeScope({ scope }: AllowListEntry): { readonly scope?: AllowListScope } {
  return scope && !scope.global ? { scope: { roles: scope.roles } } : {};
}

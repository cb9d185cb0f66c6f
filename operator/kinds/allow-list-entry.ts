/** AllowListEntry: adds a query collection to the allow list. A QueryCollection resource can do so itself. */
import { objectKey, Type } from '@pergola/engine/metadata';
import { closed, MetadataName, plainList, withDescription } from './annotate.ts';
import { kindRow, specOf } from './kind.ts';
import { inForm, optional, required } from './mapping.ts';

const Scope = closed(
  {
    global: optional('True: every role.', Type.Boolean()),
    roles: optional('The names of the roles.', { ...plainList(MetadataName, 500), minItems: 1 }),
  },
  {
    rule: '(has(self.global) && self.global) != has(self.roles)',
    message: 'scope has either global: true or roles; name one of them',
    holds: (scope) => (scope.global === true) !== 'roles' in scope,
  },
);

export const AllowListScope = withDescription(
  'The roles that may run the queries. Absent: every role.',
  inForm(Scope, {
    write: ({ roles }) => (roles ? { global: false, roles } : { global: true }),
    read: ({ global, roles }) => (global ? undefined : { roles }),
    absent: () => ({ global: true }),
    isWhole: true,
  }),
);

export const AllowListEntrySpec = specOf({
  collection: required('The name of the query collection.', MetadataName),
  scope: Type.Optional(AllowListScope),
});

export const allowListEntry = kindRow({
  kind: 'AllowListEntry',
  plural: 'allowlistentries',
  shortNames: ['gqlal'],
  concerns: 'engine',
  description: 'A query collection on the allow list that no QueryCollection resource manages.',
  spec: AllowListEntrySpec,
  selectableFields: ['.spec.engineRef.name', '.spec.collection'],
  target: (spec) => `allow list entry ${spec.collection}`,
  objects: [{ kind: 'allowlist', key: ['collection'] }],
  describe: (inventory, own) => {
    const collections = new Set(inventory.all('query_collection').map(({ key }) => key));
    return own.filter(({ name }) => !collections.has(objectKey('query_collection', name)));
  },
});

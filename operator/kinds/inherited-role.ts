/** InheritedRole: a role with the combined permissions of other roles. */
import { type InheritedRole, objectKey } from '@pergola/engine/metadata';
import { MetadataName, plainList, withDescription } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, specOf } from './kind.ts';

export const InheritedRoleSpec = specOf({
  role: withDescription('The name of the role, for example staff.', MetadataName),
  roles: withDescription('The roles whose permissions it has, inherited roles included.', {
    ...plainList(MetadataName, 500),
    minItems: 1,
  }),
});

export const inheritedRole = kindRow({
  kind: 'InheritedRole',
  plural: 'inheritedroles',
  singular: 'inheritedrole',
  shortNames: ['gqlir'],
  concerns: 'engine',
  description: 'A role with the combined permissions of other roles.',
  spec: InheritedRoleSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.role'],
  deletionPolicy: 'Delete',
  target: (spec) => `role ${spec.role} from ${spec.roles.join(', ')}`,
  translate: ({ role, roles }) => [
    {
      key: objectKey('inherited_role', role),
      kind: 'inherited_role',
      parent: null,
      definition: { role_name: role, role_set: roles },
    },
  ],
  describe: (inventory) =>
    inventory.all('inherited_role').map(({ definition }) => {
      const { role_name: role, role_set: roles } = definition as InheritedRole;
      return { name: role, spec: { role, roles } };
    }),
});

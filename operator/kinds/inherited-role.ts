/** InheritedRole: a role with the combined permissions of other roles. */
import { type InheritedRole, objectKey } from '@pergola/engine/metadata';
import { immutable, MetadataName, plainList, withDescription } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, specOf } from './kind.ts';

export const InheritedRoleSpec = specOf(
  {
    role: MetadataName,
    roleSet: withDescription('The roles it inherits from.', { ...plainList(MetadataName, 500), minItems: 1 }),
  },
  immutable('role', 'create a new InheritedRole object for another role'),
);

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
  target: (spec) => `role ${spec.role} from ${spec.roleSet.join(', ')}`,
  translate: ({ role, roleSet }) => [
    {
      key: objectKey('inherited_role', role),
      kind: 'inherited_role',
      parent: null,
      definition: { role_name: role, role_set: roleSet },
    },
  ],
  describe: (inventory) =>
    inventory.all('inherited_role').map(({ definition }) => {
      const { role_name: role, role_set: roleSet } = definition as InheritedRole;
      return { name: role, spec: { role, roleSet } };
    }),
});

/** InheritedRole: a role with the combined permissions of other roles. */
import { MetadataName, plainList } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, specOf } from './kind.ts';
import { required } from './mapping.ts';

export const InheritedRoleSpec = specOf({
  role: required('The name of the role, for example staff.', MetadataName, 'role_name'),
  roles: required(
    'The roles whose permissions it has, inherited roles included.',
    { ...plainList(MetadataName, 500), minItems: 1 },
    'role_set',
  ),
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
  objects: [{ kind: 'inherited_role', key: ['role'] }],
});

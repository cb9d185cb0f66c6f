/** InheritedRole: a role with the combined permissions of other roles. */
import { MetadataName, plainList } from './annotate.ts';
import { kindRow, specOf } from './kind.ts';
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
  shortNames: ['gqlir'],
  concerns: 'engine',
  description: 'A role with the combined permissions of other roles.',
  spec: InheritedRoleSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.role'],
  target: (spec) => `role ${spec.role} from ${spec.roles.join(', ')}`,
  objects: [{ kind: 'inherited_role', key: ['role'] }],
});

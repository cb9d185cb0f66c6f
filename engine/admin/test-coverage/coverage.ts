/** The coverage of permissions by tests: which tests exercise each permission of a role on a table. A test as an inherited role exercises the
 *  permissions of the roles that it inherits from. Pure. Not here: what a request exercises (exercised.ts). */
import { type MetadataObject, objectsOf, parseKey } from '../../metadata/objects.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import { OPERATIONS } from '../../resolve/grant.ts';
import {
  type ApiTypes,
  actionId,
  exercisedBy,
  type TableAction,
  type TestedRequest,
  tableId,
} from './exercised.ts';

export type Permission = TableAction & {
  readonly role: string;
  readonly object: MetadataObject;
};

export type Api = ApiTypes & {
  /** In the order of roles, then tables, then operations. */
  readonly permissions: readonly Permission[];
  /** Returns the role and all roles that it inherits from. */
  readonly rolesIn: (role: string) => ReadonlySet<string>;
};

/** A test, as far as coverage needs it. */
export type CoveringTest = { readonly spec: TestedRequest & { readonly role: string } };

export type CoveredPermission<Test extends CoveringTest = CoveringTest> = {
  readonly permission: Permission;
  /** Empty when no test exercises it. */
  readonly tests: readonly Test[];
};

/** Returns the API of a document. */
export function apiOf(metadata: Metadata, types: ApiTypes): Api {
  return { ...types, permissions: permissionsIn(metadata), rolesIn: rolesIn(metadata) };
}

/** Returns a row for each permission of the API. */
export function coverageOf<Test extends CoveringTest>(
  tests: readonly Test[],
  api: Api,
): readonly CoveredPermission<Test>[] {
  const byPermission = new Map<string, Test[]>();
  for (const test of tests) {
    const actions = exercisedBy(test.spec, api);
    for (const role of api.rolesIn(test.spec.role)) {
      for (const action of actions) {
        const id = `${role} ${action}`;
        byPermission.set(id, [...(byPermission.get(id) ?? []), test]);
      }
    }
  }
  return api.permissions.map((permission) => ({
    permission,
    tests: byPermission.get(`${permission.role} ${actionId(permission)}`) ?? [],
  }));
}

/** Returns the number of permissions that a test exercises. */
export function testedIn(coverage: readonly CoveredPermission[]): number {
  return coverage.filter(({ tests }) => tests.length > 0).length;
}

/** Returns the permissions on tables in a document. */
export function permissionsIn(metadata: Metadata): readonly Permission[] {
  const found = [...objectsOf(metadata).values()].flatMap((object) => {
    const operation = OPERATIONS.find((name) => object.kind === `${name}_permission`);
    if (operation === undefined) return [];
    const [source = '', schema = '', name = '', role = ''] = parseKey(object.key)!.segments;
    const permission = { role, source, table: { schema, name }, operation, object };
    return [{ permission, rank: `${role}\0${tableId(permission)}\0${OPERATIONS.indexOf(operation)}` }];
  });
  return found.sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ permission }) => permission);
}

function rolesIn({ inherited_roles: inherited = [] }: Metadata): Api['rolesIn'] {
  const parents = new Map(inherited.map(({ role_name, role_set }) => [role_name, role_set]));
  return (role) => {
    const found = new Set([role]);
    // A role that is added while the loop runs is visited, too.
    for (const each of found) for (const parent of parents.get(each) ?? []) found.add(parent);
    return found;
  };
}

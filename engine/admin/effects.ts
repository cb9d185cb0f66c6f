/** The effects of a draft on roles: the permissions that give or take access, and the changes of each role's schema.
 *  In: document and model before and after. Out: the member `effects` of a dry run's answer.
 *  Not here: comparing permissions (metadata/access), comparing schemas (schema/schema-changes.ts). */
import { setImmediate as untilIdle } from 'node:timers/promises';
import { type AccessChange, accessChange } from '../metadata/access/access-change.ts';
import { changedKeys } from '../metadata/diff.ts';
import { findObject, type ObjectKind, parseKey } from '../metadata/objects.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Model } from '../resolve/types.ts';
import { type RoleSchemaChanges, schemaChanges } from '../schema/schema-changes.ts';

type Served = { readonly metadata: Metadata; readonly model: Model };

export type Effects = {
  /** The changes of permissions, in the order of their keys. */
  readonly access: readonly AccessChange[];
  /** The roles whose schema changes. */
  readonly schemas: readonly RoleSchemaChanges[];
  /** False when there was not time for every role. */
  readonly is_complete: boolean;
};

/** The time for comparing schemas. Thousands of tables and hundreds of roles take longer than a request may. */
const MOST_MS = 10_000;

export async function effectsBetween(before: Served, after: Served): Promise<Effects> {
  const keys = [...changedKeys(before.metadata, after.metadata)].toSorted();
  const access = keys.flatMap((key) => {
    const [old, next] = [before, after].map(({ metadata }) => findObject(metadata, key)?.definition);
    return accessChange(key, old, next) ?? [];
  });
  return {
    access,
    ...(await schemasBetween(before.model, after.model, affectedRoles(keys, [before, after]))),
  };
}

/** The kinds of objects that concern one role and those that inherit from it. */
const OF_ROLES: ReadonlySet<ObjectKind> = new Set([
  'select_permission',
  'insert_permission',
  'update_permission',
  'delete_permission',
]);

/** Returns the roles whose schema changes of these objects can affect; undefined when that may be every role. Most changes are of
 *  permissions, and building the schemas of a hundred other roles would take longer than everything else. */
function affectedRoles(
  keys: readonly string[],
  documents: readonly Served[],
): ReadonlySet<string> | undefined {
  const objects = keys.map(parseKey);
  if (objects.length === 0 || !objects.every((object) => object && OF_ROLES.has(object.kind)))
    return undefined;
  const roles = new Set(objects.map((object) => object!.segments.at(-1)!));
  const inherited = documents.flatMap(({ metadata }) => metadata.inherited_roles ?? []);
  for (let size = -1; size < roles.size; ) {
    size = roles.size;
    for (const { role_name, role_set } of inherited) {
      if (role_set.some((parent) => roles.has(parent))) roles.add(role_name);
    }
  }
  return roles;
}

/** Requests are served between two roles. */
async function schemasBetween(
  before: Model,
  after: Model,
  affected: ReadonlySet<string> | undefined,
): Promise<Pick<Effects, 'schemas' | 'is_complete'>> {
  const schemas: RoleSchemaChanges[] = [];
  if (before === after) return { schemas, is_complete: true };
  const until = performance.now() + MOST_MS;
  for (const changes of schemaChanges(before, after, affected)) {
    if (changes) schemas.push(changes);
    if (performance.now() > until) return { schemas, is_complete: false };
    await untilIdle();
  }
  return { schemas, is_complete: true };
}

/** The effects of a draft on roles: the permissions that give or take access, and the changes of each role's schema.
 *  In: document and model before and after. Out: the member `effects` of a dry run's answer.
 *  Not here: comparing permissions (metadata/access), comparing schemas (schema/schema-changes.ts). */
import { setImmediate as untilIdle } from 'node:timers/promises';
import { type AccessChange, accessChange } from '../metadata/access/access-change.ts';
import { changedKeys } from '../metadata/diff.ts';
import { findObject } from '../metadata/objects.ts';
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
  return { access, ...(await schemasBetween(before.model, after.model)) };
}

/** Requests are served between two roles. */
async function schemasBetween(
  before: Model,
  after: Model,
): Promise<Pick<Effects, 'schemas' | 'is_complete'>> {
  const schemas: RoleSchemaChanges[] = [];
  if (before === after) return { schemas, is_complete: true };
  const until = performance.now() + MOST_MS;
  for (const changes of schemaChanges(before, after)) {
    if (changes) schemas.push(changes);
    if (performance.now() > until) return { schemas, is_complete: false };
    await untilIdle();
  }
  return { schemas, is_complete: true };
}

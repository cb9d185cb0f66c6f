/** The effects of a draft on roles: the permissions that give or take access, what changes for requests, the changes of each role's schema, and
 *  the operations of clients that a breaking change affects, by the counts of the last days.
 *  In: document and model before and after. Out: the member `effects` of a dry run's answer.
 *  Not here: comparing permissions (metadata/access) and what else decides about requests (request-effects.ts), comparing schemas (schema/schema-changes.ts), counts (store/usage.ts). */
import { setImmediate as untilIdle } from 'node:timers/promises';
import type { ComparedDocuments } from '../admit/breaking.ts';
import { inSlices } from '../limits/slices.ts';
import type { AccessChange } from '../metadata/access/access-change.ts';
import { accessChanges } from '../metadata/access/access-changes.ts';
import { changedKeys } from '../metadata/diff.ts';
import { type ObjectKind, objectsOf, parseKey } from '../metadata/objects.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { withInheritedRoles } from '../resolve/inherited-roles.ts';
import type { Model } from '../resolve/model/model.ts';
import { type RoleSchemaChanges, type SchemaChange, schemaChanges } from '../schema/schema-changes.ts';
import {
  ANY_COORDINATE,
  type UsedOperation,
  type UsersOfCoordinate,
  usageTotals,
  usersOfCoordinates,
} from '../store/usage.ts';
import type { FieldUsage } from '../usage/field-usage.ts';
import { storedName } from '../usage/usage-counts.ts';
import { requestChanges } from './request-effects.ts';

/** A change of access as the admin API prints it. */
export type PrintedAccess = Omit<AccessChange, 'isInherited' | 'isIndirect'> & {
  readonly is_inherited?: true;
  readonly is_indirect?: true;
};

export type Served = { readonly metadata: Metadata; readonly model: Model };

export type Effects = {
  /** The changes of permissions, then those of what requests may do, each in the order of their keys. */
  readonly access: readonly PrintedAccess[];
  /** The roles whose schema changes. */
  readonly schemas: readonly SchemaEffect[];
  /** False when there was not time for every role. */
  readonly is_complete: boolean;
  /** The counts that say what is in use; null when the engine counts nothing. */
  readonly usage: UsagePeriod | null;
};

/** The days that are counted, and the first of them with a request; null when there is none. */
type UsagePeriod = { readonly days: number; readonly since: string | null };

/** The changes of a role's schema. The members about usage are absent when the engine counts nothing. */
type SchemaEffect = Pick<RoleSchemaChanges, 'role' | 'breaking' | 'dangerous' | 'safe'> & {
  /** The number of breaking changes that affect an operation. */
  readonly breaking_in_use?: number;
  /** The requests that are not counted by operation; any of them may be affected. */
  readonly uncounted?: number;
  /** The breaking changes in use, then other breaking ones, then dangerous ones; at most `MOST_CHANGES`. */
  readonly changes: readonly (Pick<SchemaChange, 'severity' | 'type' | 'description'> & {
    /** The number of operations that a breaking change affects. */
    readonly used_by_count?: number;
    /** The operations with most requests, at most `MOST_OPERATIONS`. */
    readonly used_by?: readonly Omit<ReturnType<typeof printOperation>, 'role'>[];
  })[];
};

/** One removed table is a hundred changes; beyond this nobody reads them one by one. */
const MOST_CHANGES = 200;
const MOST_OPERATIONS = 20;

/** The time for comparing schemas. Thousands of tables and hundreds of roles take longer than a request may. */
const MOST_MS = 10_000;

export async function effectsBetween(
  before: Served,
  after: Served,
  fieldUsage: FieldUsage,
): Promise<Effects> {
  const keys = (await inSlices(changedKeys(before.metadata, after.metadata))).toSorted();
  const access = [
    ...permissionChanges(keys, before, after),
    ...requestChanges(before.model, after.model),
  ].map(printAccess);
  const roles = affectedRoles(keys, [before, after]);
  const usage = fieldUsage.keptDays > 0 ? await Usage.of(fieldUsage) : null;
  const schemas = await schemasBetween(before.model, after.model, { roles, usage });
  return { access, ...schemas, usage: usage === null ? null : usage.period };
}

/** Returns what may break clients, as far as it can be compared in time, without the counts of what they use. */
export async function comparedDocuments(before: Served, after: Served): Promise<ComparedDocuments> {
  const keys = await inSlices(changedKeys(before.metadata, after.metadata));
  const roles = affectedRoles(keys, [before, after]);
  const { schemas, is_complete: isComplete } = await schemasBetween(before.model, after.model, {
    roles,
    usage: null,
  });
  return { schemas, access: requestChanges(before.model, after.model), isComplete };
}

/** An operation as answers have it: null for a name that the client did not give. */
export function printOperation({ role, operation, client, requests, lastDay }: UsedOperation) {
  return { role, operation: operation || null, client: client || null, requests, last_day: lastDay };
}

export function printAccess({
  isInherited = false,
  isIndirect = false,
  ...change
}: AccessChange): PrintedAccess {
  return {
    ...change,
    ...(isInherited ? { is_inherited: true } : {}),
    ...(isIndirect ? { is_indirect: true } : {}),
  };
}

function permissionChanges(keys: readonly string[], before: Served, after: Served): readonly AccessChange[] {
  if (keys.length === 0) return [];
  return accessChanges(keys, objectsOf(before.metadata), objectsOf(after.metadata)).map(
    ({ change }) => change,
  );
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
  return withInheritedRoles(roles, inherited);
}

/** Requests are served between two roles. */
async function schemasBetween(
  before: Model,
  after: Model,
  { roles, usage }: { readonly roles: ReadonlySet<string> | undefined; readonly usage: Usage | null },
): Promise<Pick<Effects, 'schemas' | 'is_complete'>> {
  const schemas: SchemaEffect[] = [];
  if (before === after) return { schemas, is_complete: true };
  const until = performance.now() + MOST_MS;
  for (const changes of schemaChanges(before, after, roles)) {
    if (changes) schemas.push(usage ? await usage.effectOf(changes) : plainEffect(changes));
    if (performance.now() > until) return { schemas, is_complete: false };
    await untilIdle();
  }
  return { schemas, is_complete: true };
}

function plainEffect({ changes, ...counts }: RoleSchemaChanges): SchemaEffect {
  return { ...counts, changes: changes.slice(0, MOST_CHANGES).map(printChange) };
}

function printChange({ severity, type, description }: SchemaChange) {
  return { severity, type, description };
}

/** The counts of all replicas at the time of the dry run. */
class Usage {
  readonly period: UsagePeriod;
  readonly #fieldUsage: FieldUsage;
  readonly #uncounted: ReadonlyMap<string, number>;

  constructor(fieldUsage: FieldUsage, { since, uncounted }: Awaited<ReturnType<typeof usageTotals>>) {
    this.#fieldUsage = fieldUsage;
    this.period = { days: fieldUsage.keptDays, since };
    this.#uncounted = new Map(uncounted.map(({ role, requests }) => [role, requests]));
  }

  static async of(fieldUsage: FieldUsage): Promise<Usage> {
    await fieldUsage.flush();
    return new Usage(fieldUsage, await usageTotals(fieldUsage.database, fieldUsage.keptDays));
  }

  async effectOf({ changes, ...counts }: RoleSchemaChanges): Promise<SchemaEffect> {
    const role = storedName(counts.role);
    const [breaking, others] = [
      changes.filter(({ severity }) => severity === 'breaking'),
      changes.filter(({ severity }) => severity !== 'breaking'),
    ];
    const users = breaking.length === 0 ? NO_USERS : await this.#usersOf(role, breaking);
    const judged = breaking.map((change) => ({ change, ...affected(change, users) }));
    const inUse = judged.filter(({ count }) => count > 0);
    const listed = [...inUse, ...judged.filter(({ count }) => count === 0)].map(
      ({ change, count, operations }) => ({
        ...printChange(change),
        used_by_count: count,
        used_by: operations.map((operation) => withoutRole(printOperation(operation))),
      }),
    );
    return {
      ...counts,
      breaking_in_use: inUse.length,
      uncounted: this.#uncounted.get(role) ?? 0,
      changes: [...listed, ...others.map(printChange)].slice(0, MOST_CHANGES),
    };
  }

  #usersOf(role: string, breaking: readonly SchemaChange[]): Promise<Users> {
    const { database, keptDays: days } = this.#fieldUsage;
    const coordinates = breaking.flatMap(({ affects }) => affects ?? []);
    return usersOfCoordinates(database, { days, role }, coordinates, MOST_OPERATIONS);
  }
}

type Users = ReadonlyMap<string, UsersOfCoordinate>;

const NO_USERS: Users = new Map();

function withoutRole({ role: _, ...operation }: ReturnType<typeof printOperation>) {
  return operation;
}

/** Returns the operations that use one of the coordinates of a change. Few changes have more than one. */
function affected({ affects }: SchemaChange, users: Users): UsersOfCoordinate {
  const found = (affects ?? [ANY_COORDINATE]).flatMap((coordinate) => users.get(coordinate) ?? []);
  const byName = new Map<string, UsedOperation>();
  for (const operation of found.flatMap(({ operations }) => operations)) {
    const name = `${operation.operation}\n${operation.client}`;
    const known = byName.get(name);
    if (!known || known.requests < operation.requests) byName.set(name, operation);
  }
  const operations = [...byName.values()].sort((a, b) => b.requests - a.requests).slice(0, MOST_OPERATIONS);
  return { count: Math.max(byName.size, ...found.map(({ count }) => count)), operations };
}

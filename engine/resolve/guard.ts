/** Guards: what of the API a role may not do whatever its permissions say: documents that are not on the allow list,
 *  introspection, requests that are too large, too many or take too long. Metadata → one RoleGuard a role. Pure, total.
 *  The administrator has none. Not here: measuring a document (plan/guard.ts), counting requests (execute/rate-limiter.ts),
 *  stopping a statement (execute/pool.ts). Reference: docs/reference/behaviour/permissions.md; spec: "Limits". */
import type { QueryCollection } from '../metadata/schema/collection.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { timerMs } from '../metadata/schema/number.ts';
import type { RateLimit as RateLimitMetadata } from '../metadata/schema/policy.ts';
import { ADMIN_ROLE } from './session.ts';

export type RoleGuard = {
  /** Documents of these may be asked; null: any document. */
  readonly allowed: readonly QueryCollection[] | null;
  readonly mayIntrospect: boolean;
  /** Levels of fields that have a selection. */
  readonly mostDepth: number | null;
  /** Fields that have a selection. */
  readonly mostNodes: number | null;
  /** Requests in one body. */
  readonly mostInBatch: number | null;
  readonly timeLimitMs: number | null;
  /** The time limit of each statement when the metadata has none for the role (--default-time-limit). */
  readonly defaultTimeLimitMs: number | null;
  readonly rate: RateLimit | null;
};

export type RateLimit = {
  readonly mostPerMinute: number;
  /** What tells callers of the role apart: their address, or these session variables. */
  readonly by: 'address' | readonly string[];
};

export type Guards = {
  /** Roles some guard names. */
  readonly byRole: ReadonlyMap<string, RoleGuard>;
  readonly others: RoleGuard;
};

const UNGUARDED: RoleGuard = {
  allowed: null,
  mayIntrospect: true,
  mostDepth: null,
  mostNodes: null,
  mostInBatch: null,
  timeLimitMs: null,
  defaultTimeLimitMs: null,
  rate: null,
};

export function guardOf({ guards }: { readonly guards: Guards }, role: string): RoleGuard {
  return role === ADMIN_ROLE ? UNGUARDED : (guards.byRole.get(role) ?? guards.others);
}

/** `enforcesAllowList`: --enable-allowlist; `defaultTimeLimitMs`: --default-time-limit. */
export function resolveGuards(
  metadata: Metadata,
  enforcesAllowList: boolean,
  defaultTimeLimitMs: number | null = null,
): Guards {
  const guard = (role: string | null) => {
    return { ...roleGuard(metadata, enforcesAllowList, role), defaultTimeLimitMs };
  };
  return {
    byRole: new Map([...namedRoles(metadata)].map((role) => [role, guard(role)])),
    others: guard(null),
  };
}

function namedRoles(metadata: Metadata): ReadonlySet<string> {
  const { disabled: _, ...limits } = metadata.api_limits ?? {};
  return new Set([
    ...(metadata.allowlist ?? []).flatMap(({ scope }) => (scope?.global === false ? scope.roles : [])),
    ...(metadata.graphql_schema_introspection?.disabled_for_roles ?? []),
    ...Object.values(limits).flatMap((limit) => Object.keys(limit?.per_role ?? {})),
  ]);
}

/** `role` null: one that nothing names. */
function roleGuard(
  metadata: Metadata,
  enforcesAllowList: boolean,
  role: string | null,
): Omit<RoleGuard, 'defaultTimeLimitMs'> {
  const limits = metadata.api_limits?.disabled ? {} : (metadata.api_limits ?? {});
  const seconds = limitOf(limits.time_limit, role);
  const rate = limitOf(limits.rate_limit, role);
  const closed = metadata.graphql_schema_introspection?.disabled_for_roles ?? [];
  return {
    allowed: enforcesAllowList ? allowedTo(metadata, role) : null,
    mayIntrospect: role === null || !closed.includes(role),
    mostDepth: limitOf(limits.depth_limit, role),
    mostNodes: limitOf(limits.node_limit, role),
    mostInBatch: limitOf(limits.batch_limit, role),
    timeLimitMs: seconds === null ? null : timerMs(seconds),
    rate: rate && rateLimit(rate),
  };
}

type Limit<T> = { readonly global?: T; readonly per_role?: Readonly<Record<string, T>> };

/** A role's own value replaces the one for everybody. */
function limitOf<T>(limit: Limit<T> | undefined, role: string | null): T | null {
  const own =
    role !== null && Object.hasOwn(limit?.per_role ?? {}, role) ? limit?.per_role?.[role] : undefined;
  return own ?? limit?.global ?? null;
}

function allowedTo({ query_collections = [], allowlist = [] }: Metadata, role: string | null) {
  const entries = allowlist.filter(({ scope }) => {
    return scope === undefined || scope.global || (role !== null && scope.roles.includes(role));
  });
  const names = new Set(entries.map(({ collection }) => collection));
  return query_collections.filter(({ name }) => names.has(name));
}

function rateLimit({ max_reqs_per_min, unique_params }: RateLimitMetadata): RateLimit {
  const by = Array.isArray(unique_params) ? unique_params.map((name) => name.toLowerCase()) : [];
  return {
    mostPerMinute: max_reqs_per_min,
    by: typeof unique_params === 'string' ? 'address' : by,
  };
}

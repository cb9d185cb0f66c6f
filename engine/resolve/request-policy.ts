/** Request policies: limits of a role on whole requests, whatever its permissions are: the allow list, introspection, depth, nodes,
 *  batch size, rate and time. In: metadata. Out: a RequestPolicy for each role. Pure, total. The administrator has no limits.
 *  Not here: measuring a document (plan/request-policy.ts), counting requests (limits/rate-limiter.ts),
 *  stopping a statement (database/pool.ts). Reference: docs/reference/behaviour/permissions.md; spec: "Limits". */
import type { QueryCollection } from '../metadata/schema/collection.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { timerMs } from '../metadata/schema/number.ts';
import type { RateLimit } from '../metadata/schema/policy.ts';
import { ADMIN_ROLE } from './session.ts';

export type RequestPolicy = {
  /** The collections whose documents may run; null when any document may. */
  readonly allowed: readonly QueryCollection[] | null;
  readonly mayIntrospect: boolean;
  /** The limit of nested fields that have a selection. */
  readonly mostDepth: number | null;
  /** The limit of fields that have a selection. */
  readonly mostNodes: number | null;
  /** The limit of requests in one body. */
  readonly mostInBatch: number | null;
  readonly timeLimitMs: number | null;
  /** The time limit of a statement when the metadata has none for the role (--default-time-limit). */
  readonly defaultTimeLimitMs: number | null;
  /** The limit of bytes in a response. */
  readonly mostResponseBytes: number | null;
  /** The limit when the metadata has none for the role (--max-role-response-length). */
  readonly defaultResponseBytes: number | null;
  readonly rate: ResolvedRateLimit | null;
};

export type ResolvedRateLimit = {
  readonly mostPerMinute: number;
  /** How clients of the role are distinguished: by address, or by these session variables. */
  readonly by: 'address' | readonly string[];
};

/** The limits of one request for every role, which options set. They bound the work of a request before it is done. */
export type RequestBounds = {
  /** The limit of selected fields, in a document and in all documents of a body (--max-request-fields). */
  readonly mostFields: number;
  /** The limit of input values of roles other than admin (--max-request-inputs). */
  readonly mostInputs: number;
  /** The limit of requests in one body for roles without a batch limit (--max-batch-operations). */
  readonly mostOperations: number;
};

export const DEFAULT_BOUNDS: RequestBounds = {
  mostFields: 20_000,
  mostInputs: 200_000,
  mostOperations: 1_000,
};

export type RequestPolicies = {
  /** The policies of roles that some limit names. */
  readonly byRole: ReadonlyMap<string, RequestPolicy>;
  readonly others: RequestPolicy;
};

const UNRESTRICTED: RequestPolicy = {
  allowed: null,
  mayIntrospect: true,
  mostDepth: null,
  mostNodes: null,
  mostInBatch: null,
  timeLimitMs: null,
  defaultTimeLimitMs: null,
  mostResponseBytes: null,
  defaultResponseBytes: null,
  rate: null,
};

export function requestPolicyOf(
  { requestPolicies }: { readonly requestPolicies: RequestPolicies },
  role: string,
): RequestPolicy {
  return role === ADMIN_ROLE ? UNRESTRICTED : (requestPolicies.byRole.get(role) ?? requestPolicies.others);
}

/** The limits of roles that have none in the metadata. */
export type DefaultLimits = Pick<RequestPolicy, 'defaultTimeLimitMs' | 'defaultResponseBytes'>;

/** Returns the policies. `enableAllowlist` is --enable-allowlist. */
export function resolveRequestPolicies(
  metadata: Metadata,
  enableAllowlist: boolean,
  { defaultTimeLimitMs = null, defaultResponseBytes = null }: Partial<DefaultLimits> = {},
): RequestPolicies {
  const policy = (role: string | null) => {
    return { ...policyOfRole(metadata, enableAllowlist, role), defaultTimeLimitMs, defaultResponseBytes };
  };
  return {
    byRole: new Map([...namedRoles(metadata)].map((role) => [role, policy(role)])),
    others: policy(null),
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
function policyOfRole(
  metadata: Metadata,
  enableAllowlist: boolean,
  role: string | null,
): Omit<RequestPolicy, keyof DefaultLimits> {
  const limits = metadata.api_limits?.disabled ? {} : (metadata.api_limits ?? {});
  const seconds = limitOf(limits.time_limit, role);
  const rate = limitOf(limits.rate_limit, role);
  const closed = metadata.graphql_schema_introspection?.disabled_for_roles ?? [];
  return {
    allowed: enableAllowlist ? allowedTo(metadata, role) : null,
    mayIntrospect: role === null || !closed.includes(role),
    mostDepth: limitOf(limits.depth_limit, role),
    mostNodes: limitOf(limits.node_limit, role),
    mostInBatch: limitOf(limits.batch_limit, role),
    timeLimitMs: seconds === null ? null : timerMs(seconds),
    mostResponseBytes: limitOf(limits.response_limit, role),
    rate: rate && rateLimit(rate),
  };
}

type Limit<T> = { readonly global?: T; readonly per_role?: Readonly<Record<string, T>> };

/** Returns the limit of a role, or the global one when the role has none. */
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

function rateLimit({ max_reqs_per_min, unique_params }: RateLimit): ResolvedRateLimit {
  const by = Array.isArray(unique_params) ? unique_params.map((name) => name.toLowerCase()) : [];
  return {
    mostPerMinute: max_reqs_per_min,
    by: typeof unique_params === 'string' ? 'address' : by,
  };
}

/** ApiLimits: limits of requests and rates of clients. An engine has one such object, so a second resource conflicts with the first.
 *  Limits by role are lists, which server-side apply merges by role. */
import {
  type ApiLimits,
  Count,
  type MetadataObject,
  objectKey,
  type Static,
  type TSchema,
  Type,
} from '@pergola/engine/metadata';
import { closed, keyedList, MetadataName, plainList, withDescription } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf } from './kind.ts';

const MOST_ROLES = 500;

const perRole = <T extends TSchema>(value: T) =>
  Type.Optional(
    withDescription(
      'Limits of single roles, instead of the global one.',
      keyedList('role', value, MOST_ROLES),
    ),
  );

const Role = withDescription('The role that the limit is for.', MetadataName);

const Limit = closed({
  global: Type.Optional(withDescription('The limit of roles without a limit of their own.', Count)),
  perRole: perRole(closed({ role: Role, limit: withDescription('The limit of the role.', Count) })),
});
const TimeLimit = closed({
  globalSeconds: Type.Optional(
    withDescription('The limit in seconds of roles without a limit of their own.', Count),
  ),
  perRole: perRole(
    closed({ role: Role, seconds: withDescription('The limit of the role in seconds.', Count) }),
  ),
});

const RATE = {
  maxRequestsPerMinute: withDescription('The most requests of one client in a minute.', Count),
  uniqueParams: Type.Optional(
    withDescription(
      'What tells clients of a role apart: [IP], or names of session variables. Absent: all clients of a role share the limit.',
      plainList(Type.String({ maxLength: 255 }), 32),
    ),
  ),
};
const RateLimit = closed({
  global: Type.Optional(withDescription('The rate of roles without a rate of their own.', closed(RATE))),
  perRole: perRole(closed({ role: Role, ...RATE })),
});

export const ApiLimitsSpec = specOf({
  disabled: Type.Optional(Type.Boolean({ description: 'Turns all limits off. Absent: false.' })),
  depth: Type.Optional(withDescription('The most levels of nested fields. Absent: no limit.', Limit)),
  nodes: Type.Optional(withDescription('The most fields of a request. Absent: no limit.', Limit)),
  batch: Type.Optional(withDescription('The most requests in one body. Absent: no limit.', Limit)),
  time: Type.Optional(withDescription('The longest duration of a request. Absent: no limit.', TimeLimit)),
  response: Type.Optional(
    withDescription(
      'The most bytes of a response. Absent: the engine option --max-role-response-length.',
      Limit,
    ),
  ),
  rate: Type.Optional(withDescription('The most requests of one client. Absent: no limit.', RateLimit)),
});
type ApiLimitsSpec = Static<typeof ApiLimitsSpec>;

export const apiLimits = kindRow({
  kind: 'ApiLimits',
  plural: 'apilimits',
  singular: 'apilimits',
  shortNames: ['gqllim'],
  concerns: 'engine',
  description:
    'Limits of requests. An engine has at most one ApiLimits resource. `maxRows` of a permission limits rows.',
  spec: ApiLimitsSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name'],
  deletionPolicy: 'Delete',
  target: () => 'API limits',
  translate: (spec) => [limitsObject(spec)],
  describe: (inventory) => inventory.all('api_limits').map(describeLimits),
});

type Metadata<T> = { readonly global?: T; readonly per_role?: Readonly<Record<string, T>> };

function limitsObject({
  disabled,
  depth,
  nodes,
  batch,
  time,
  response,
  rate,
}: ApiLimitsSpec): MetadataObject {
  const limit = (given: Static<typeof Limit> | undefined) =>
    given && { global: given.global, per_role: byRole(given.perRole, (item) => item.limit) };
  return {
    key: objectKey('api_limits'),
    kind: 'api_limits',
    parent: null,
    definition: {
      disabled,
      depth_limit: limit(depth),
      node_limit: limit(nodes),
      batch_limit: limit(batch),
      time_limit: time && {
        global: time.globalSeconds,
        per_role: byRole(time.perRole, (item) => item.seconds),
      },
      response_limit: limit(response),
      rate_limit: rate && {
        global: rate.global && rateOf(rate.global),
        per_role: byRole(rate.perRole, rateOf),
      },
    },
  };
}

function byRole<T extends { readonly role: string }>(
  list: readonly T[] | undefined,
  limitOf: (item: T) => unknown,
): Readonly<Record<string, unknown>> | undefined {
  return list && Object.fromEntries(list.map((item) => [item.role, limitOf(item)]));
}

type Rate = { readonly maxRequestsPerMinute: number; readonly uniqueParams?: readonly string[] };

/** The metadata has the address as text, and session variables as a list. */
function rateOf({ maxRequestsPerMinute, uniqueParams }: Rate): unknown {
  const isAddress = uniqueParams?.length === 1 && uniqueParams[0]?.toUpperCase() === 'IP';
  return {
    max_reqs_per_min: maxRequestsPerMinute,
    unique_params: isAddress ? uniqueParams[0] : uniqueParams,
  };
}

function describeLimits({ definition }: MetadataObject): ResourceDraft {
  const given = definition as ApiLimits;
  const limit = (value: Metadata<number> | undefined) =>
    value && { global: value.global, perRole: roles(value.per_role, (limit) => ({ limit })) };
  const { time_limit: time, rate_limit: rate } = given;
  return {
    name: 'limits',
    spec: {
      disabled: given.disabled,
      depth: limit(given.depth_limit),
      nodes: limit(given.node_limit),
      batch: limit(given.batch_limit),
      time: time && {
        globalSeconds: time.global,
        perRole: roles(time.per_role, (seconds) => ({ seconds })),
      },
      response: limit(given.response_limit),
      rate: rate && {
        global: rate.global && describeRate(rate.global),
        perRole: roles(rate.per_role, describeRate),
      },
    },
  };
}

function roles<T>(
  values: Readonly<Record<string, T>> | undefined,
  describe: (value: T) => object,
): readonly object[] | undefined {
  return values && Object.entries(values).map(([role, value]) => ({ role, ...describe(value) }));
}

type MetadataRate = NonNullable<NonNullable<ApiLimits['rate_limit']>['global']>;

function describeRate({ max_reqs_per_min, unique_params: params }: MetadataRate): Rate {
  const uniqueParams = typeof params === 'string' ? [params] : params;
  return { maxRequestsPerMinute: max_reqs_per_min, ...(uniqueParams ? { uniqueParams } : {}) };
}

/** ApiLimits: limits of requests and rates of clients. An engine has one such object, so a second resource conflicts with the first.
 *  Limits by role are lists, which server-side apply merges by role. */
import { Count, type TSchema, Type } from '@pergola/engine/metadata';
import { closed, keyedList, MetadataName, plainList, withDescription } from './annotate.ts';
import { kindRow, specOf } from './kind.ts';
import { asRecord, inForm, optional, required } from './mapping.ts';

const MOST_ROLES = 500;

/** `value` is the field of an item whose value is the limit. Absent: the item itself. */
const perRole = <T extends TSchema>(item: T, value?: string) =>
  optional(
    'Limits of single roles, instead of the global one.',
    asRecord('role', keyedList('role', item, MOST_ROLES), value),
  );

const Role = withDescription('The role that the limit is for.', MetadataName);

const Limit = closed({
  global: optional('The limit of roles without a limit of their own.', Count),
  perRole: perRole(closed({ role: Role, limit: required('The limit of the role.', Count) }), 'limit'),
});
const TimeLimit = closed({
  globalSeconds: optional('The limit in seconds of roles without a limit of their own.', Count, 'global'),
  perRole: perRole(
    closed({ role: Role, seconds: required('The limit of the role in seconds.', Count) }),
    'seconds',
  ),
});

const RATE = {
  maxRequestsPerMinute: required('The most requests of one client in a minute.', Count, 'max_reqs_per_min'),
  uniqueParams: optional(
    'What distinguishes clients of a role: [IP], or names of session variables. Absent: all clients of a role share the limit.',
    // The metadata has the address as text, and session variables as a list.
    inForm(plainList(Type.String({ maxLength: 255 }), 32), {
      write: (params) => (params.length === 1 && params[0].toUpperCase() === 'IP' ? params[0] : params),
      read: (params) => (typeof params === 'string' ? [params] : params),
    }),
  ),
};
const RateLimit = closed({
  global: optional('The rate of roles without a rate of their own.', closed(RATE)),
  perRole: perRole(closed({ role: Role, ...RATE })),
});

export const ApiLimitsSpec = specOf({
  disabled: optional('Turns all limits off. Absent: false.', Type.Boolean()),
  depth: optional('The most levels of nested fields. Absent: no limit.', Limit, 'depth_limit'),
  nodes: optional('The most fields of a request. Absent: no limit.', Limit, 'node_limit'),
  batch: optional('The most requests in one body. Absent: no limit.', Limit, 'batch_limit'),
  time: optional('The longest duration of a request. Absent: no limit.', TimeLimit, 'time_limit'),
  response: optional(
    'The most bytes of a response. Absent: the engine option --max-role-response-length.',
    Limit,
    'response_limit',
  ),
  rate: optional('The most requests of one client. Absent: no limit.', RateLimit, 'rate_limit'),
});

export const apiLimits = kindRow({
  kind: 'ApiLimits',
  plural: 'apilimits',
  shortNames: ['gqllim'],
  concerns: 'engine',
  description:
    'Limits of requests. An engine has at most one ApiLimits resource. `maxRows` of a permission limits rows.',
  spec: ApiLimitsSpec,
  selectableFields: ['.spec.engineRef.name'],
  target: () => 'API limits',
  objects: [{ kind: 'api_limits', key: [] }],
  drafts: { name: () => 'limits' },
});

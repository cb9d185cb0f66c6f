/** Engine-wide rules: inherited roles, API limits, introspection, TLS allow list, telemetry.
 *  Spec: "Limits", inherited_roles.yaml, network.yaml; docs/reference/behaviour/permissions.md. */

import { Header, ObjectName, RoleName, UrlTemplate } from './common.ts';
import { secret } from './marks.ts';
import { AtLeastOne, Count, Seconds } from './number.ts';
import { oneOf, type Static, type TSchema, Type } from './type.ts';

export const InheritedRole = Type.Object(
  { role_name: RoleName, role_set: Type.Array(RoleName) },
  { additionalProperties: false },
);
export type InheritedRole = Static<typeof InheritedRole>;

/** A value for every role, and values for single roles, which replace it. */
const limit = <T extends TSchema>(value: T) =>
  Type.Object({ global: Type.Optional(value), per_role: Type.Optional(Type.Record(RoleName, value)) });

export const RateLimit = Type.Object({
  max_reqs_per_min: Count,
  /** How clients of a role are distinguished: by address, or by session variables. */
  unique_params: Type.Optional(
    Type.Union([Type.Literal('IP'), Type.Literal('ip'), Type.Array(Type.String()), Type.Null()]),
  ),
});
export type RateLimit = Static<typeof RateLimit>;

export const ApiLimits = Type.Object({
  disabled: Type.Optional(Type.Boolean()),
  depth_limit: Type.Optional(limit(Count)),
  node_limit: Type.Optional(limit(Count)),
  batch_limit: Type.Optional(limit(Count)),
  time_limit: Type.Optional(limit(Seconds)),
  response_limit: Type.Optional(limit(Count)),
  rate_limit: Type.Optional(limit(RateLimit)),
});
export type ApiLimits = Static<typeof ApiLimits>;

export const Introspection = Type.Object({ disabled_for_roles: Type.Array(RoleName) });

export const TlsAllowEntry = Type.Object({
  host: ObjectName,
  suffix: Type.Optional(Type.String()),
  permissions: Type.Optional(Type.Array(Type.Literal('self-signed'))),
});
export type TlsAllowEntry = Static<typeof TlsAllowEntry>;

export const Network = Type.Object({ tls_allowlist: Type.Optional(Type.Array(TlsAllowEntry)) });

export const MetricsConfig = Type.Object({
  analyze_query_variables: Type.Optional(
    Type.Boolean({
      description:
        'Kept in the metadata for other tools. It has no effect on the metrics of the engine; if true, it is reported as NotEnforced.',
    }),
  ),
  analyze_response_body: Type.Optional(
    Type.Boolean({
      description:
        'Kept in the metadata for other tools. It has no effect on the metrics of the engine; if true, it is reported as NotEnforced.',
    }),
  ),
});

export type MetricsConfig = Static<typeof MetricsConfig>;

export const OpenTelemetry = Type.Object({
  status: Type.Optional(oneOf('enabled', 'disabled', 'env')),
  data_types: Type.Optional(Type.Array(oneOf('traces', 'metrics', 'logs'))),
  exporter_otlp: Type.Optional(
    Type.Object({
      protocol: Type.Optional(Type.Literal('http/protobuf')),
      otlp_traces_endpoint: Type.Optional(UrlTemplate),
      otlp_metrics_endpoint: Type.Optional(UrlTemplate),
      otlp_logs_endpoint: Type.Optional(UrlTemplate),
      headers: Type.Optional(Type.Array(Header)),
      resource_attributes: Type.Optional(
        Type.Array(Type.Object({ name: Type.String(), value: secret(Type.String()) })),
      ),
      traces_propagators: Type.Optional(Type.Array(oneOf('b3', 'tracecontext'))),
    }),
  ),
  batch_span_processor: Type.Optional(Type.Object({ max_export_batch_size: Type.Optional(AtLeastOne) })),
});

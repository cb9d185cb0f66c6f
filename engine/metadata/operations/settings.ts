/** Operations on limits, traces, introspection, trusted hosts and metrics. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { ObjectName } from '../schema/common.ts';
import { ApiLimits, Introspection, MetricsConfig, OpenTelemetry, TlsAllowEntry } from '../schema/policy.ts';
import { oneOf, Type } from '../schema/type.ts';
import { type OperationDeclaration, row, shaped } from './row.ts';

export const SETTING_OPERATIONS = {
  set_api_limits: shaped('edit', 'Limits the size, rate and duration of the requests of roles.', ApiLimits),
  set_opentelemetry_config: shaped('edit', 'Configures traces and their destination.', OpenTelemetry),
  set_opentelemetry_status: row('edit', 'Switches traces on or off, or leaves that to the options.', {
    status: oneOf('enabled', 'disabled', 'env'),
  }),
  remove_api_limits: row('edit', 'Removes all limits.', {}),
  set_graphql_schema_introspection_options: shaped(
    'edit',
    'Disables introspection for roles.',
    Introspection,
  ),

  add_host_to_tls_allowlist: shaped(
    'edit',
    'Trusts the certificate of a host with any issuer.',
    TlsAllowEntry,
  ),
  drop_host_from_tls_allowlist: row('edit', 'Removes a host from the TLS allow list.', {
    host: ObjectName,
    suffix: Type.Optional(Type.String()),
  }),
  set_metrics_config: shaped('edit', 'Configures the labels of metrics.', MetricsConfig),
  remove_metrics_config: row('edit', 'Removes the configuration of metrics.', {}),
} as const satisfies Record<string, OperationDeclaration>;

/** Operations on settings of the whole engine: API limits, introspection, metrics, trusted hosts, traces. A new setting replaces the
 *  previous one completely. Not here: the effect of limits on a role (resolve/request-policy.ts), tracing (http/tracing.ts).
 *  Reference: docs/reference/behaviour/permissions.md, docs/reference/behaviour/observability.md. */

import { fail } from '../../errors/engine-error.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Handler } from './handler.ts';

export const setApiLimits: Handler<'set_api_limits'> = (draft, definition) =>
  putObject(draft, { key: objectKey('api_limits'), kind: 'api_limits', parent: null, definition });

export const removeApiLimits: Handler<'remove_api_limits'> = (draft) =>
  removeObject(draft, objectKey('api_limits'));

export const setIntrospection: Handler<'set_graphql_schema_introspection_options'> = (draft, definition) =>
  putObject(draft, { key: objectKey('introspection'), kind: 'introspection', parent: null, definition });

export const setMetricsConfig: Handler<'set_metrics_config'> = (draft, definition) =>
  putObject(draft, { key: objectKey('metrics_config'), kind: 'metrics_config', parent: null, definition });

export const removeMetricsConfig: Handler<'remove_metrics_config'> = (draft) =>
  removeObject(draft, objectKey('metrics_config'));

/** Raises `tlsHostExists`. */
export const addTlsHost: Handler<'add_host_to_tls_allowlist'> = (draft, definition) => {
  const key = objectKey('tls', definition.host, definition.suffix ?? '');
  if (findObject(draft, key)) fail('tlsHostExists', { host: definition.host });
  return putObject(draft, { key, kind: 'tls', parent: null, definition });
};

/** Raises `tlsHostNotExists`. */
export const dropTlsHost: Handler<'drop_host_from_tls_allowlist'> = (draft, { host, suffix }) => {
  const key = objectKey('tls', host, suffix ?? '');
  return findObject(draft, key) ? removeObject(draft, key) : fail('tlsHostNotExists', { host });
};

export const setOpentelemetryConfig: Handler<'set_opentelemetry_config'> = (draft, definition) =>
  putOpentelemetry(draft, definition);

export const setOpentelemetryStatus: Handler<'set_opentelemetry_status'> = (draft, { status }) =>
  putOpentelemetry(draft, { ...draft.opentelemetry, status });

function putOpentelemetry(draft: Metadata, definition: NonNullable<Metadata['opentelemetry']>): Metadata {
  return putObject(draft, {
    key: objectKey('opentelemetry'),
    kind: 'opentelemetry',
    parent: null,
    definition,
  });
}

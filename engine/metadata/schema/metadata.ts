/** The whole document, format version 3. Keys are in the order of exports.
 *  Spec: "Metadata directory (format version 3)"; docs/reference/behaviour/metadata.md. */

import { Action, CustomTypes } from './action.ts';
import { AllowListEntry, QueryCollection, RestEndpoint } from './collection.ts';
import { CronTrigger, DeclaredEvent } from './event.ts';
import { secret } from './marks.ts';
import { ApiLimits, InheritedRole, Introspection, MetricsConfig, Network, OpenTelemetry } from './policy.ts';
import { RemoteSchema } from './remote-schema.ts';
import { Source } from './source.ts';
import { type Static, Type } from './type.ts';

export const Metadata = Type.Object({
  version: Type.Literal(3),
  sources: Type.Array(Source),
  remote_schemas: Type.Optional(Type.Array(RemoteSchema)),
  query_collections: Type.Optional(Type.Array(QueryCollection)),
  allowlist: Type.Optional(Type.Array(AllowListEntry)),
  actions: Type.Optional(Type.Array(Action)),
  custom_types: Type.Optional(CustomTypes),
  cron_triggers: Type.Optional(Type.Array(CronTrigger)),
  scheduled_events: Type.Optional(Type.Array(DeclaredEvent)),
  rest_endpoints: Type.Optional(Type.Array(RestEndpoint)),
  inherited_roles: Type.Optional(Type.Array(InheritedRole)),
  api_limits: Type.Optional(ApiLimits),
  graphql_schema_introspection: Type.Optional(Introspection),
  network: Type.Optional(Network),
  metrics_config: Type.Optional(MetricsConfig),
  opentelemetry: Type.Optional(OpenTelemetry),
  /** Settings of other database kinds, which are kept and ignored. */
  backend_configs: Type.Optional(Type.Record(Type.String(), secret(Type.Unknown()))),
});
export type Metadata = Static<typeof Metadata>;

export const emptyMetadata: Metadata = { version: 3, sources: [] };

/** OPERATIONS: every operation of the admin API, one row each: its names, versions, arguments and effect.
 *  Rows are in the order of docs/reference/operations.md. Types of arguments, validators, the map of handlers and the operator's
 *  client are derived from it. `/v1/query` accepts the key of a row and, when it concerns a source, the newer name with `pg_`;
 *  `/v1/metadata` accepts the newer name.
 *  Not here: performing an operation (admin/). Spec: "Operation list"; newer ones: docs/reference/behaviour/metadata-api.md. */
import { isRecord } from '../json/value.ts';
import { ActionDefinition, CustomTypes } from './schema/action.ts';
import { AllowListScope, QueryCollection, RestEndpoint } from './schema/collection.ts';
import {
  ColumnName,
  Comment,
  EnvValue,
  GraphqlName,
  nullable,
  ObjectName,
  QualifiedName,
  RequestTransform,
  ResponseTransform,
  RoleName,
} from './schema/common.ts';
import { CronTrigger, EventTrigger, OneOffEvent } from './schema/event.ts';
import { ComputedField, FunctionConfiguration } from './schema/function.ts';
import { LogicalModelField } from './schema/logical-model.ts';
import { NativeQuery } from './schema/native-query.ts';
import { AtLeastOne, Count, Hours, Seconds } from './schema/number.ts';
import { DeleteRule, InsertRule, SelectRule, UpdateRule } from './schema/permission.ts';
import {
  ApiLimits,
  InheritedRole,
  Introspection,
  MetricsConfig,
  OpenTelemetry,
  TlsAllowEntry,
} from './schema/policy.ts';
import {
  ArrayRelationshipUsing,
  ObjectRelationshipUsing,
  RemoteRelationshipDefinition,
} from './schema/relationship.ts';
import { RemoteSchemaDefinition, RemoteSchemaPermission } from './schema/remote-schema.ts';
import {
  ConnectionTemplate,
  HealthCheck,
  QueryTags,
  SourceConfiguration,
  SourceCustomization,
} from './schema/source.ts';
import { CustomRootFields, FederationConfig, TableConfiguration } from './schema/table.ts';
import { type Static, type TProperties, type TSchema, Type } from './schema/type.ts';

export type Endpoint = '/v1/query' | '/v1/metadata' | '/v2/query';

/** The effect of an operation. `edit`: a function from document to document (admin/handlers). `state`: replaces the document or the
 *  state stored beside it. `read`: changes nothing. `database`: runs SQL. `rows`: reads or writes rows as the caller's role. `batch`:
 *  performs other operations. */
export type Effect = 'edit' | 'state' | 'read' | 'database' | 'rows' | 'batch';

export type OperationDeclaration = {
  readonly effect: Effect;
  readonly args: TSchema;
  /** A sentence for the reference. */
  readonly summary: string;
  readonly versions: readonly number[];
  readonly endpoints: readonly Endpoint[];
  /** True when the newer name is the older one with `pg_` in front. */
  readonly isPrefixed: boolean;
  /** Earlier names, on `/v1/query`. */
  readonly aliases?: readonly string[];
  /** True when `source` is an argument, whose default is `default`. */
  readonly takesSource: boolean;
  /** Rewrites other forms of the arguments to that of `args`. */
  readonly lenient?: (args: unknown) => unknown;
};

const METADATA: readonly Endpoint[] = ['/v1/query', '/v1/metadata'];
const EVERYWHERE: readonly Endpoint[] = ['/v1/query', '/v1/metadata', '/v2/query'];
const SCHEMA: readonly Endpoint[] = ['/v1/query', '/v2/query'];

type Row<E extends Effect, S extends TSchema> = OperationDeclaration & {
  readonly effect: E;
  readonly args: S;
};

function row<const E extends Effect, S extends TSchema>(
  effect: E,
  summary: string,
  args: S,
  more: Partial<OperationDeclaration> = {},
): Row<E, S> {
  return {
    summary,
    versions: [1],
    endpoints: METADATA,
    isPrefixed: false,
    takesSource: false,
    ...more,
    effect,
    args,
  };
}

/** An operation on one source: `pg_` in its newer name, `source` among its arguments. */
function sourced<const E extends Effect, P extends TProperties>(
  effect: E,
  summary: string,
  args: P,
  more: Partial<OperationDeclaration> = {},
) {
  const schema = Type.Object({ source: ObjectName, ...args });
  return row(effect, summary, schema, { isPrefixed: true, takesSource: true, ...more });
}

/** An operation on the rows of one tracked table. */
function rows<P extends TProperties>(summary: string, args: P) {
  const more = { endpoints: SCHEMA, isPrefixed: false };
  return sourced('rows', summary, { table: QualifiedName, ...args }, more);
}

const flag = Type.Optional(Type.Boolean());
const values = Type.Optional(Type.Record(Type.String(), Type.Unknown()));
const returning = Type.Optional(Type.Array(Type.Unknown()));
const ActionArgs = Type.Object({
  name: GraphqlName,
  definition: ActionDefinition,
  comment: Type.Optional(Comment),
});
const nothing = Type.Object({});
const catalogStateType = Type.Union([Type.Literal('cli'), Type.Literal('console'), Type.Literal('operator')]);
const remoteSchemaName = Type.Object({ name: ObjectName });
const names = Type.Array(ObjectName);

const remoteRelationship = {
  table: QualifiedName,
  name: GraphqlName,
  definition: RemoteRelationshipDefinition,
};

const remoteTypeRelationship = Type.Object({
  remote_schema: ObjectName,
  type_name: GraphqlName,
  name: GraphqlName,
  definition: RemoteRelationshipDefinition,
});

const permission = <S extends TSchema>(rule: S) => ({
  table: QualifiedName,
  role: RoleName,
  permission: rule,
  comment: Type.Optional(Comment),
});
const relationship = <S extends TSchema>(using: S) => ({
  table: QualifiedName,
  name: GraphqlName,
  using,
  comment: Type.Optional(Comment),
});
const tracked = {
  table: QualifiedName,
  configuration: Type.Optional(TableConfiguration),
  is_enum: flag,
  apollo_federation_config: Type.Optional(FederationConfig),
};
const trackedFunction = {
  function: QualifiedName,
  configuration: Type.Optional(FunctionConfiguration),
  comment: Type.Optional(Comment),
};
const { name: _name, definition: _definition, ...eventSettings } = EventTrigger.properties;
const eventTrigger = { name: ObjectName, ...eventSettings };
const Uuid = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' });
const page = {
  limit: Type.Optional(Count),
  offset: Type.Optional(Count),
};
const scheduledEventType = Type.Union([Type.Literal('cron'), Type.Literal('one_off')]);
const ofScheduledEvents = {
  type: scheduledEventType,
  trigger_name: Type.Optional(ObjectName),
  ...page,
  get_rows_count: flag,
};
/** Arguments that select event triggers: of all sources, of some, or by name. */
const cleanups = {
  event_triggers: Type.Union([
    Type.Object({ sources: Type.Union([Type.Literal('*'), Type.Array(ObjectName, { minItems: 1 })]) }),
    Type.Array(
      Type.Object({
        source_name: Type.Optional(ObjectName),
        event_triggers: Type.Array(ObjectName, { minItems: 1 }),
      }),
      { minItems: 1 },
    ),
  ]),
};
const ofRole = { table: QualifiedName, role: RoleName };
const PermissionType = Type.Union([
  Type.Literal('insert'),
  Type.Literal('select'),
  Type.Literal('update'),
  Type.Literal('delete'),
]);
const sourceSettings = {
  customization: Type.Optional(SourceCustomization),
  query_tags: Type.Optional(nullable(QueryTags)),
  health_check: Type.Optional(HealthCheck),
};

/** Rewrites the arguments of version 1, the name of the function as text or as `{schema, name}`. */
function nameFunction(args: unknown): unknown {
  if (typeof args === 'string') return { function: args };
  if (typeof args !== 'object' || args === null || 'function' in args) return args;
  const { schema, name, table, ...rest } = args as Record<string, unknown>;
  const named = table ?? (schema === undefined ? name : { schema, name });
  return { ...rest, function: named };
}

export const OPERATIONS = {
  // ── several at once ──
  bulk: row('batch', 'Performs operations in order; all or none.', Type.Array(Type.Unknown()), {
    endpoints: EVERYWHERE,
  }),
  bulk_keep_going: row(
    'batch',
    'Performs operations in order; those that fail answer with their error.',
    Type.Array(Type.Unknown()),
  ),
  bulk_atomic: row(
    'batch',
    'Like `bulk`; the document is judged once, at the end.',
    Type.Array(Type.Unknown()),
  ),
  concurrent_bulk: row('batch', 'Performs read-only `run_sql` operations.', Type.Array(Type.Unknown()), {
    endpoints: ['/v2/query'],
  }),

  // ── SQL ──
  run_sql: sourced(
    'database',
    'Runs SQL statements in one transaction and answers with the result of the last.',
    {
      sql: Type.String(),
      cascade: flag,
      check_metadata_consistency: flag,
      read_only: flag,
      no_transaction: flag,
    },
    { endpoints: SCHEMA },
  ),

  // ── sources ──
  pg_add_source: row(
    'edit',
    'Adds a database.',
    Type.Object({
      name: ObjectName,
      configuration: SourceConfiguration,
      replace_configuration: flag,
      ...sourceSettings,
    }),
  ),
  pg_update_source: row(
    'edit',
    'Changes the settings of a source that are given.',
    Type.Object({ name: ObjectName, configuration: Type.Optional(SourceConfiguration), ...sourceSettings }),
  ),
  pg_drop_source: row(
    'edit',
    'Removes a source with everything tracked in it.',
    Type.Object({ name: ObjectName, cascade: flag }),
  ),
  rename_source: row('edit', 'Renames a source.', Type.Object({ name: ObjectName, new_name: ObjectName })),
  set_query_tags: row(
    'edit',
    'Says whether and how the statements of a source say what they are for.',
    Type.Object({ source_name: ObjectName, ...QueryTags.properties }),
  ),
  pg_test_connection_template: row(
    'read',
    'Which connection of a source its connection template, or another, chooses for a request.',
    Type.Object({
      source_name: ObjectName,
      request_context: Type.Object({
        headers: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        session: Type.Optional(Type.Record(Type.String(), Type.String())),
        query: Type.Optional(
          Type.Object({
            operation_type: Type.Optional(
              Type.Union([Type.Literal('query'), Type.Literal('mutation'), Type.Literal('subscription')]),
            ),
            operation_name: Type.Optional(Type.String()),
          }),
        ),
      }),
      connection_template: Type.Optional(ConnectionTemplate),
    }),
  ),
  list_source_kinds: row('read', 'Kinds of databases a source may be.', nothing),
  get_source_kind_capabilities: row(
    'read',
    'Always refused: only kinds that are not built in have capabilities to tell.',
    Type.Object({ name: ObjectName }),
  ),
  get_source_tables: sourced('read', 'Tables and views of a database, tracked or not.', {}),
  get_source_functions: sourced('read', 'Functions of a database, tracked or not.', {}),
  get_table_info: sourced('read', 'Columns and keys of a table or view, tracked or not.', {
    table: QualifiedName,
  }),
  get_viewdef_info: sourced('read', 'The query of a view.', { view: QualifiedName }),

  // ── tables ──
  track_table: sourced('edit', 'Exposes a table or view in GraphQL.', tracked, {
    aliases: ['add_existing_table_or_view'],
    versions: [1, 2],
    lenient: wrapTable,
  }),
  untrack_table: sourced(
    'edit',
    'Hides a table or view, with its relationships and permissions.',
    { table: QualifiedName, cascade: flag },
    { lenient: wrapTable },
  ),
  track_tables: sourced('edit', 'Tracks several tables.', {
    tables: Type.Array(Type.Object({ source: Type.Optional(ObjectName), ...tracked })),
    allow_warnings: flag,
  }),
  untrack_tables: sourced('edit', 'Untracks several tables.', {
    tables: Type.Array(
      Type.Object({ source: Type.Optional(ObjectName), table: QualifiedName, cascade: flag }),
    ),
    allow_warnings: flag,
  }),
  set_table_customization: sourced('edit', 'Replaces the GraphQL names of a table.', {
    table: QualifiedName,
    configuration: Type.Optional(TableConfiguration),
  }),
  set_table_custom_fields: sourced(
    'edit',
    'Replaces the GraphQL names of root fields and columns; older than `set_table_customization`.',
    {
      table: QualifiedName,
      custom_root_fields: Type.Optional(CustomRootFields),
      custom_column_names: Type.Optional(Type.Record(ColumnName, GraphqlName)),
    },
    { versions: [1, 2] },
  ),
  set_apollo_federation_config: sourced('edit', 'Says whether a table is an entity of a federated graph.', {
    table: QualifiedName,
    apollo_federation_config: Type.Optional(Type.Union([FederationConfig, Type.Null()])),
  }),
  set_table_is_enum: sourced('edit', 'Says whether the rows of a table are values of an enum.', {
    table: QualifiedName,
    is_enum: Type.Boolean(),
  }),

  // ── relationships ──
  create_object_relationship: sourced(
    'edit',
    'Creates a relationship to one row.',
    relationship(ObjectRelationshipUsing),
  ),
  create_array_relationship: sourced(
    'edit',
    'Creates a relationship to many rows.',
    relationship(ArrayRelationshipUsing),
  ),
  create_remote_relationship: sourced(
    'edit',
    'Creates a relationship to rows of another source, or into a remote schema.',
    remoteRelationship,
    { lenient: nestDefinition },
  ),
  update_remote_relationship: sourced(
    'edit',
    'Replaces where a remote relationship leads.',
    remoteRelationship,
    { lenient: nestDefinition },
  ),
  delete_remote_relationship: sourced('edit', 'Drops a remote relationship.', {
    table: QualifiedName,
    name: ObjectName,
  }),
  drop_relationship: sourced(
    'edit',
    'Drops a relationship.',
    { table: QualifiedName, relationship: ObjectName, cascade: flag },
    { lenient: nameRelationship },
  ),
  rename_relationship: sourced('edit', 'Renames a relationship, in permissions too.', {
    table: QualifiedName,
    name: ObjectName,
    new_name: GraphqlName,
  }),
  suggest_relationships: sourced('read', 'Relationships that foreign keys between tracked tables allow.', {
    tables: Type.Optional(Type.Array(QualifiedName)),
    omit_tracked: flag,
    version: Type.Optional(Type.Literal(1)),
  }),
  set_relationship_comment: sourced('edit', 'Sets or removes the comment of a relationship.', {
    table: QualifiedName,
    name: ObjectName,
    comment: Type.Optional(Comment),
  }),

  // ── permissions ──
  create_insert_permission: sourced('edit', 'Lets a role insert rows.', permission(InsertRule)),
  create_select_permission: sourced('edit', 'Lets a role read rows.', permission(SelectRule)),
  create_update_permission: sourced('edit', 'Lets a role update rows.', permission(UpdateRule)),
  create_delete_permission: sourced('edit', 'Lets a role delete rows.', permission(DeleteRule)),
  drop_insert_permission: sourced('edit', 'Takes the permission to insert.', ofRole),
  drop_select_permission: sourced('edit', 'Takes the permission to read.', ofRole),
  drop_update_permission: sourced('edit', 'Takes the permission to update.', ofRole),
  drop_delete_permission: sourced('edit', 'Takes the permission to delete.', ofRole),
  set_permission_comment: sourced('edit', 'Sets or removes the comment of a permission.', {
    ...ofRole,
    type: PermissionType,
    comment: Type.Optional(Comment),
  }),

  // ── functions and computed fields ──
  track_function: sourced('edit', 'Adds an SQL function to the GraphQL schema.', trackedFunction, {
    versions: [1, 2],
    lenient: nameFunction,
  }),
  untrack_function: sourced(
    'edit',
    'Takes a function out of the GraphQL schema.',
    { function: QualifiedName },
    { lenient: nameFunction },
  ),
  track_functions: sourced('edit', 'Tracks several functions.', {
    functions: Type.Array(Type.Object({ source: Type.Optional(ObjectName), ...trackedFunction })),
    allow_warnings: flag,
  }),
  untrack_functions: sourced('edit', 'Untracks several functions.', {
    functions: Type.Array(Type.Object({ source: Type.Optional(ObjectName), function: QualifiedName })),
    allow_warnings: flag,
  }),
  set_function_customization: sourced('edit', 'Replaces the names and options of a tracked function.', {
    function: QualifiedName,
    configuration: FunctionConfiguration,
  }),
  create_function_permission: sourced('edit', 'Lets a role call a function.', {
    function: QualifiedName,
    role: RoleName,
  }),
  drop_function_permission: sourced('edit', 'Takes the permission to call a function.', {
    function: QualifiedName,
    role: RoleName,
  }),
  add_computed_field: sourced('edit', 'Adds a field whose value a function computes from the row.', {
    table: QualifiedName,
    ...ComputedField.properties,
  }),
  drop_computed_field: sourced('edit', 'Drops a computed field; with `cascade` also what uses it.', {
    table: QualifiedName,
    name: ObjectName,
    cascade: flag,
  }),

  // ── native queries and logical models ──
  track_logical_model: sourced('edit', 'Declares a shape of rows for native queries.', {
    name: GraphqlName,
    description: Type.Optional(Comment),
    fields: Type.Array(LogicalModelField),
  }),
  untrack_logical_model: sourced('edit', 'Forgets a logical model that nothing uses.', { name: ObjectName }),
  get_logical_model: sourced('read', 'The logical models of a source.', {}),
  create_logical_model_select_permission: sourced('edit', 'Lets a role read rows of a logical model.', {
    name: ObjectName,
    role: RoleName,
    permission: SelectRule,
    comment: Type.Optional(Comment),
  }),
  drop_logical_model_select_permission: sourced(
    'edit',
    'Takes the permission to read rows of a logical model.',
    { name: ObjectName, role: RoleName },
  ),
  track_native_query: sourced(
    'edit',
    'Adds SQL with arguments to the GraphQL schema.',
    NativeQuery.properties,
  ),
  untrack_native_query: sourced('edit', 'Takes a native query out of the GraphQL schema.', {
    root_field_name: ObjectName,
  }),
  get_native_query: sourced('read', 'The native queries of a source.', {}),

  // ── query collections and the allow list ──
  create_query_collection: row('edit', 'Creates a named list of GraphQL documents.', QueryCollection),
  rename_query_collection: row(
    'edit',
    'Renames a collection, wherever it is used.',
    Type.Object({ name: ObjectName, new_name: ObjectName }),
  ),
  drop_query_collection: row(
    'edit',
    'Drops a collection; with `cascade` also where it is used.',
    Type.Object({ collection: ObjectName, cascade: flag }),
    { lenient: nameCollection },
  ),
  add_query_to_collection: row(
    'edit',
    'Adds a document to a collection.',
    Type.Object({
      collection_name: ObjectName,
      query_name: ObjectName,
      query: Type.String({ minLength: 1 }),
    }),
  ),
  drop_query_from_collection: row(
    'edit',
    'Drops a document from a collection.',
    Type.Object({ collection_name: ObjectName, query_name: ObjectName }),
  ),
  add_collection_to_allowlist: row(
    'edit',
    'Allows the documents of a collection, to every role or the listed ones.',
    Type.Object({ collection: ObjectName, scope: Type.Optional(AllowListScope) }),
  ),
  update_scope_of_collection_in_allowlist: row(
    'edit',
    'Changes whom a collection is allowed to.',
    Type.Object({ collection: ObjectName, scope: AllowListScope }),
  ),
  drop_collection_from_allowlist: row(
    'edit',
    'Takes a collection off the allow list.',
    Type.Object({ collection: ObjectName }),
  ),

  // ── REST endpoints ──
  create_rest_endpoint: row('edit', 'Answers a URL with the result of a stored document.', RestEndpoint),
  drop_rest_endpoint: row('edit', 'Drops a REST endpoint.', Type.Object({ name: ObjectName })),

  // ── actions ──
  create_action: row('edit', 'Makes a webhook a field of the schema.', ActionArgs),
  update_action: row('edit', 'Replaces the definition of an action; its permissions stay.', ActionArgs),
  drop_action: row(
    'state',
    'Forgets an action, its permissions and, unless `clear_data` is false, what is stored of its calls.',
    Type.Object({ name: GraphqlName, clear_data: flag }),
  ),
  create_action_permission: row(
    'edit',
    'Lets a role ask an action.',
    Type.Object({ action: GraphqlName, role: RoleName, comment: Type.Optional(Comment) }),
  ),
  drop_action_permission: row(
    'edit',
    'Takes an action from a role.',
    Type.Object({ action: GraphqlName, role: RoleName }),
  ),
  set_custom_types: row('edit', 'Replaces the types that actions take and answer with.', CustomTypes),

  // ── event triggers ──
  create_event_trigger: sourced('edit', 'Tells a webhook of rows that change, or replaces how.', {
    table: QualifiedName,
    ...eventTrigger,
    ...EventTrigger.properties.definition.properties,
    replace: flag,
  }),
  delete_event_trigger: sourced('edit', 'Forgets an event trigger; what waited to be told is archived.', {
    name: ObjectName,
  }),
  invoke_event_trigger: sourced('database', 'Makes an event of an event trigger by hand.', {
    name: ObjectName,
    payload: Type.Unknown(),
  }),
  redeliver_event: sourced('database', 'Tells the webhook of an event again.', { event_id: Uuid }),
  get_event_logs: sourced('read', 'Events of an event trigger, newest first.', {
    name: ObjectName,
    status: Type.Optional(Type.Union([Type.Literal('pending'), Type.Literal('processed')])),
    ...page,
  }),
  get_event_invocation_logs: sourced(
    'read',
    'What webhooks were told of events and answered, newest first.',
    {
      name: ObjectName,
      ...page,
    },
  ),
  get_event_by_id: sourced('read', 'An event, and what its webhook was told and answered.', {
    event_id: Uuid,
    invocation_log_limit: page.limit,
    invocation_log_offset: page.offset,
  }),
  cleanup_event_trigger_logs: row(
    'database',
    'Deletes events that are done with and, if wanted, what was told of them.',
    Type.Object({
      event_trigger_name: ObjectName,
      source: ObjectName,
      clear_older_than: Hours,
      batch_size: Type.Optional(AtLeastOne),
      timeout: Type.Optional(Seconds),
      clean_invocation_logs: flag,
    }),
    { takesSource: true },
  ),
  pause_event_trigger_cleanups: row(
    'edit',
    'Stops the regular deletion of events of event triggers that have a `cleanup_config`.',
    Type.Object(cleanups),
  ),
  resume_event_trigger_cleanups: row('edit', 'Goes on with it.', Type.Object(cleanups)),

  // ── scheduled events ──
  create_cron_trigger: row(
    'edit',
    'Tells a webhook something at the times of a cron schedule, or replaces what, where and when.',
    Type.Object({ ...CronTrigger.properties, replace: flag }),
  ),
  delete_cron_trigger: row(
    'edit',
    'Forgets a cron trigger; what it was still to tell is not told.',
    Type.Object({ name: ObjectName }),
  ),
  get_cron_triggers: row(
    'read',
    'Cron triggers, those that an export leaves out as well; what they do not say is filled in.',
    nothing,
  ),
  create_scheduled_event: row(
    'database',
    'Tells a webhook something once, at a time.',
    Type.Object({ ...OneOffEvent.properties, schedule_at: Type.String({ minLength: 1 }) }),
  ),
  delete_scheduled_event: row(
    'database',
    'Forgets a scheduled event, and what its webhook was told.',
    Type.Object({ type: scheduledEventType, event_id: Uuid }),
  ),
  get_scheduled_events: row(
    'read',
    'Events of a cron trigger, or those that happen once, by their time.',
    Type.Object({
      ...ofScheduledEvents,
      status: Type.Optional(
        Type.Array(
          Type.Union([
            Type.Literal('scheduled'),
            Type.Literal('locked'),
            Type.Literal('delivered'),
            Type.Literal('error'),
            Type.Literal('dead'),
          ]),
        ),
      ),
    }),
  ),
  get_scheduled_event_invocations: row(
    'read',
    'What webhooks were told of scheduled events and answered, newest first.',
    Type.Object({ ...ofScheduledEvents, event_id: Type.Optional(Uuid) }),
  ),

  // ── webhooks ──
  test_webhook_transform: row(
    'read',
    'What a webhook would be sent under a request transform; sends nothing.',
    Type.Object({
      webhook_url: EnvValue,
      body: Type.Unknown(),
      env: Type.Optional(Type.Record(Type.String(), Type.String())),
      request_headers: Type.Optional(Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }))),
      session_variables: Type.Optional(Type.Record(Type.String(), Type.String())),
      request_transform: RequestTransform,
      response_transform: Type.Optional(ResponseTransform),
    }),
  ),

  // ── limits ──
  set_api_limits: row('edit', 'Limits what roles may ask, how often and for how long.', ApiLimits),
  set_opentelemetry_config: row(
    'edit',
    'Says whether traces are made and where they are sent.',
    OpenTelemetry,
  ),
  set_opentelemetry_status: row(
    'edit',
    'Makes traces, or no longer, or as the options say; the rest of the configuration stays.',
    Type.Object({
      status: Type.Union([Type.Literal('enabled'), Type.Literal('disabled'), Type.Literal('env')]),
    }),
  ),
  remove_api_limits: row('edit', 'Lifts all limits.', nothing),
  set_graphql_schema_introspection_options: row(
    'edit',
    'Says which roles may not see the schema by introspection.',
    Introspection,
  ),

  add_host_to_tls_allowlist: row(
    'edit',
    'Trusts the certificate of a host although nobody known has signed it.',
    TlsAllowEntry,
  ),
  drop_host_from_tls_allowlist: row(
    'edit',
    'Trusts a host no more than others.',
    Type.Object({ host: ObjectName, suffix: Type.Optional(Type.String()) }),
  ),
  set_metrics_config: row('edit', 'Says what of operations metrics may tell.', MetricsConfig),
  remove_metrics_config: row('edit', 'Forgets what was said about metrics.', nothing),

  // ── roles ──
  add_inherited_role: row('edit', 'Gives a role what others may do, or other parents.', InheritedRole),
  drop_inherited_role: row('edit', 'Forgets an inherited role.', Type.Object({ role_name: RoleName })),

  // ── remote schemas ──
  add_remote_schema: row(
    'state',
    'Makes the schema of a GraphQL service part of this one.',
    Type.Object({
      name: ObjectName,
      definition: RemoteSchemaDefinition,
      comment: Type.Optional(Comment),
      permissions: Type.Optional(Type.Array(RemoteSchemaPermission)),
    }),
  ),
  update_remote_schema: row(
    'edit',
    'Replaces where and how a remote schema is asked.',
    Type.Object({ name: ObjectName, definition: RemoteSchemaDefinition, comment: Type.Optional(Comment) }),
  ),
  remove_remote_schema: row('edit', 'Forgets a remote schema.', remoteSchemaName),
  reload_remote_schema: row('state', 'Asks a remote schema again what it is.', remoteSchemaName),
  introspect_remote_schema: row('read', 'What a remote schema says it is.', remoteSchemaName),
  add_remote_schema_permissions: row(
    'state',
    'Shows a role a part of a remote schema.',
    Type.Object({
      remote_schema: ObjectName,
      role: RoleName,
      definition: RemoteSchemaPermission.properties.definition,
      comment: Type.Optional(Comment),
    }),
  ),
  drop_remote_schema_permissions: row(
    'edit',
    'Hides a remote schema from a role.',
    Type.Object({ remote_schema: ObjectName, role: RoleName }),
  ),
  create_remote_schema_remote_relationship: row(
    'edit',
    'Creates a relationship from objects of a remote schema to rows, or into a remote schema.',
    remoteTypeRelationship,
  ),
  update_remote_schema_remote_relationship: row(
    'edit',
    'Replaces where a relationship of a remote schema leads.',
    remoteTypeRelationship,
  ),
  delete_remote_schema_remote_relationship: row(
    'edit',
    'Drops a relationship of a remote schema.',
    Type.Object({ remote_schema: ObjectName, type_name: GraphqlName, name: GraphqlName }),
  ),

  // ── rows ──
  select: rows('Rows of a tracked table, with columns and related rows by name.', {
    columns: Type.Array(Type.Unknown()),
    where: Type.Optional(Type.Unknown()),
    order_by: Type.Optional(Type.Unknown()),
    limit: Type.Optional(Type.Unknown()),
    offset: Type.Optional(Type.Unknown()),
  }),
  count: rows('How many rows of a tracked table there are, or distinct values of columns.', {
    where: Type.Optional(Type.Unknown()),
    distinct: Type.Optional(Type.Array(ColumnName)),
  }),
  insert: rows('Inserts rows into a tracked table, by column name.', {
    objects: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    returning,
    on_conflict: Type.Optional(
      nullable(
        Type.Object({
          constraint: Type.Optional(ObjectName),
          constraint_on: Type.Optional(Type.Array(ColumnName)),
          action: Type.Union([Type.Literal('ignore'), Type.Literal('update')]),
        }),
      ),
    ),
  }),
  update: rows('Updates rows of a tracked table.', {
    where: Type.Unknown(),
    $set: values,
    $inc: values,
    $mul: values,
    $default: Type.Optional(Type.Array(ColumnName)),
    returning,
  }),
  delete: rows('Deletes rows of a tracked table.', { where: Type.Unknown(), returning }),

  // ── the document ──
  export_metadata: row('read', 'The whole document.', nothing, { versions: [1, 2] }),
  replace_metadata: row(
    'state',
    'Replaces the whole document: version 1 takes it as its arguments, version 2 under `metadata`.',
    Type.Object(
      {
        metadata: Type.Optional(Type.Unknown()),
        allow_inconsistent_metadata: flag,
        allow_warnings: flag,
        dry_run: flag,
        include_keys: flag,
      },
      { additionalProperties: true },
    ),
    { versions: [1, 2] },
  ),
  patch_metadata: row(
    'state',
    'Puts and removes objects by their keys, all at once; what they do not name stays as it is. `dry_run` only judges it.',
    Type.Object({
      put: Type.Optional(Type.Array(Type.Object({ key: Type.String(), definition: Type.Unknown() }))),
      remove: Type.Optional(Type.Array(Type.String())),
      allow_inconsistent_metadata: flag,
      allow_warnings: flag,
      dry_run: flag,
      include_keys: flag,
    }),
  ),
  list_metadata_revisions: row(
    'read',
    'The last versions of the document that are kept, newest first: when, by whom and with which operations.',
    Type.Object({ limit: Type.Optional(AtLeastOne) }),
  ),
  rollback_metadata: row(
    'state',
    'Replaces the document by what it was at a version; `dry_run` only judges it.',
    Type.Object({
      resource_version: AtLeastOne,
      allow_inconsistent_metadata: flag,
      allow_warnings: flag,
      dry_run: flag,
    }),
  ),
  reload_metadata: row(
    'state',
    'Asks databases and remote schemas again what they offer.',
    Type.Object({
      reload_remote_schemas: Type.Optional(Type.Union([Type.Boolean(), names])),
      reload_sources: Type.Optional(Type.Union([Type.Boolean(), names])),
      recreate_event_triggers: Type.Optional(Type.Union([Type.Boolean(), names])),
    }),
  ),
  clear_metadata: row('state', 'Forgets everything tracked.', nothing),
  get_inconsistent_metadata: row(
    'read',
    'Objects that do not fit their database.',
    Type.Object({ include_keys: flag }),
  ),
  drop_inconsistent_metadata: row('state', 'Drops objects that do not fit their database.', nothing),
  dump_internal_state: row(
    'read',
    'What this replica knows: versions, sources, inconsistent objects.',
    nothing,
  ),
  get_catalog_state: row('read', 'What clients keep beside the document.', nothing),
  set_catalog_state: row(
    'state',
    'Replaces what one client keeps beside the document.',
    Type.Object({
      type: catalogStateType,
      state: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
    }),
  ),
  patch_catalog_state: row(
    'state',
    'Changes parts of what one client keeps beside the document, as a JSON Merge Patch (RFC 7396) says.',
    Type.Object({
      type: catalogStateType,
      patch: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
    }),
  ),
} as const satisfies Record<string, OperationDeclaration>;

export type OperationName = keyof typeof OPERATIONS;

export type ArgsOf<N extends OperationName> = Static<(typeof OPERATIONS)[N]['args']>;

/** The operations that admin/handlers performs. */
export type EditOperation = {
  [N in OperationName]: (typeof OPERATIONS)[N]['effect'] extends 'edit' ? N : never;
}[OperationName];

/** The row of an operation of a request. */
export type OperationRow = OperationDeclaration & { readonly name: OperationName; readonly version: number };

/** Returns the newer name: `pg_track_table` for `track_table`, `bulk` for `bulk`. */
export function newerName(name: OperationName): string {
  return OPERATIONS[name].isPrefixed ? `pg_${name}` : name;
}

/** Returns the names of an operation on an endpoint; none when the endpoint does not offer it. */
export function namesAt(name: OperationName, endpoint: Endpoint): readonly string[] {
  const { endpoints, aliases = [] }: OperationDeclaration = OPERATIONS[name];
  if (!endpoints.includes(endpoint)) return [];
  if (endpoint === '/v1/metadata') return [newerName(name)];
  return [...new Set([name, newerName(name), ...aliases])];
}

export function findOperation(type: string, version: number, endpoint: Endpoint): OperationRow | undefined {
  const name = BY_NAME[endpoint].get(type);
  if (!name) return undefined;
  const declaration: OperationDeclaration = OPERATIONS[name];
  return declaration.versions.includes(version) ? { ...declaration, name, version } : undefined;
}

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];

const BY_NAME = {
  '/v1/query': namesOf('/v1/query'),
  '/v1/metadata': namesOf('/v1/metadata'),
  '/v2/query': namesOf('/v2/query'),
} as const satisfies Record<Endpoint, ReadonlyMap<string, OperationName>>;

function namesOf(endpoint: Endpoint): ReadonlyMap<string, OperationName> {
  return new Map(OPERATION_NAMES.flatMap((name) => namesAt(name, endpoint).map((known) => [known, name])));
}

/** Rewrites a bare table, `"author"` or `{schema, name}`, to the argument `table`. */
function wrapTable(args: unknown): unknown {
  if (typeof args === 'string') return { table: args };
  const isTable = isRecord(args) && 'name' in args && !('table' in args);
  return isTable ? { table: { schema: args['schema'], name: args['name'] } } : args;
}

/** Rewrites `name` to `relationship`: the table of the specification has the first, its example the second. */
function nameRelationship(args: unknown): unknown {
  if (!isRecord(args) || 'relationship' in args || !('name' in args)) return args;
  return { ...args, relationship: args['name'] };
}

/** Rewrites a remote relationship whose definition is next to its name. */
function nestDefinition(args: unknown): unknown {
  if (!isRecord(args) || 'definition' in args) return args;
  const { source, table, name, ...definition } = args;
  return { ...(source === undefined ? {} : { source }), table, name, definition };
}

function nameCollection(args: unknown): unknown {
  if (!isRecord(args) || 'collection' in args || !('name' in args)) return args;
  return { ...args, collection: args['name'] };
}

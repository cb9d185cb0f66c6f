/** OPERATIONS: every operation of the admin API, one row each: its names, versions, arguments and effect.
 *  Rows are in the order of docs/reference/operations.md. Types of arguments, validators, the map of handlers and the operator's
 *  client are derived from it. `/v1/query` accepts the key of a row and, when it concerns a source, the newer name with `pg_`;
 *  `/v1/metadata` accepts the newer name.
 *  Not here: performing an operation (admin/). Spec: "Operation list"; newer ones: docs/reference/behaviour/metadata-api.md. */
import { fail } from '../errors/engine-error.ts';
import { nearestNumber } from '../json/number.ts';
import { isRecord, nameOfJson } from '../json/value.ts';
import { ActionDefinition, CustomTypes } from './schema/action.ts';
import { checkScope, GivenScope, QueryCollection, RestEndpoint } from './schema/collection.ts';
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
  ValueName,
} from './schema/common.ts';
import { CronTrigger, checkNewTrigger, DeclaredEvent, EventTrigger, OneOffEvent } from './schema/event.ts';
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
  SOURCE_KINDS,
  SourceConfiguration,
  SourceCustomization,
  SourceKind,
} from './schema/source.ts';
import { CustomRootFields, FederationConfig, TableConfiguration } from './schema/table.ts';
import { oneOf, type Static, type TProperties, type TSchema, Type } from './schema/type.ts';

export type Endpoint = '/v1/query' | '/v1/metadata' | '/v2/query';

/** The consequences of the effect of an operation. */
type EffectRow = {
  /** True when the operation may change the document, and so waits for its turn. */
  readonly mayEdit: boolean;
  /** True when the operation is refused in maintenance mode. */
  readonly isMaintenance: boolean;
};

/** The effects of operations. `edit`: a function from document to document (admin/handlers). `state`: replaces the document or a part of it.
 *  `client-state`: changes the state that a client stores beside the document. `sql`: runs SQL of the client. `database`: changes events in
 *  a database. `migration`: runs migrations, which continue when the request ends. `read`: changes nothing. `rows`: reads or writes rows as
 *  the caller's role. `values`: changes named values, which are no part of the document. `batch`: performs other operations. */
export const EFFECTS = {
  edit: { mayEdit: true, isMaintenance: true },
  state: { mayEdit: true, isMaintenance: true },
  'client-state': { mayEdit: true, isMaintenance: false },
  sql: { mayEdit: true, isMaintenance: true },
  database: { mayEdit: true, isMaintenance: false },
  migration: { mayEdit: false, isMaintenance: true },
  read: { mayEdit: false, isMaintenance: false },
  rows: { mayEdit: false, isMaintenance: false },
  values: { mayEdit: false, isMaintenance: false },
  batch: { mayEdit: false, isMaintenance: false },
} as const satisfies Record<string, EffectRow>;

export type Effect = keyof typeof EFFECTS;

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
  /** True when the console secret may perform it: it reads, and its answer has no secrets and no values of rows. All others are refused. */
  readonly isForConsole?: true;
  /** How a batch performs its items: all or none, each by itself, or all at the same time. */
  readonly batch?: 'atomic' | 'each' | 'concurrent';
  /** True for an operation on rows that only reads. */
  readonly isReading?: true;
  /** True when `source` is an argument, whose default is `default`. */
  readonly takesSource: boolean;
  /** Rewrites other forms of the arguments to that of `args`. */
  readonly lenient?: (args: unknown) => unknown;
  /** True when an empty object removes a setting, and so differs from a missing argument. */
  readonly keepsEmpty?: boolean;
  /** Raises `parseFailed` for arguments that fit the schema and do not fit together. */
  readonly check?: (args: never) => void;
};

const METADATA: readonly Endpoint[] = ['/v1/query', '/v1/metadata'];
const EVERYWHERE: readonly Endpoint[] = ['/v1/query', '/v1/metadata', '/v2/query'];
const SCHEMA: readonly Endpoint[] = ['/v1/query', '/v2/query'];

type Row<E extends Effect, S extends TSchema> = OperationDeclaration & {
  readonly effect: E;
  readonly args: S;
};

/** An operation whose arguments have a schema of their own. */
function shaped<const E extends Effect, S extends TSchema>(
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

function row<const E extends Effect, P extends TProperties>(
  effect: E,
  summary: string,
  args: P,
  more: Partial<OperationDeclaration> = {},
) {
  return shaped(effect, summary, Type.Object(args), more);
}

/** An operation on one source: `pg_` in its newer name, `source` among its arguments. */
function sourced<const E extends Effect, P extends TProperties>(
  effect: E,
  summary: string,
  args: P,
  more: Partial<OperationDeclaration> = {},
) {
  return row(
    effect,
    summary,
    { source: ObjectName, ...args },
    { isPrefixed: true, takesSource: true, ...more },
  );
}

/** An operation on the rows of one tracked table. */
function rows<P extends TProperties>(summary: string, args: P, more: Partial<OperationDeclaration> = {}) {
  const common = { endpoints: SCHEMA, isPrefixed: false };
  return sourced('rows', summary, { table: QualifiedName, ...args }, { ...common, ...more });
}

/** The most entries of each list of `get_field_usage`. */
const MOST_USAGE_LISTED = 10_000;

/** The most characters of a named value, and the most values of one request. */
const MOST_VALUE_CHARACTERS = 65_536;
const MOST_VALUES = 1000;

const flag = Type.Optional(Type.Boolean());
const values = Type.Optional(Type.Record(Type.String(), Type.Unknown()));
const returning = Type.Optional(Type.Array(Type.Unknown()));
/** How a patch chooses the edits that fit, which are given in order of priority, removals first. */
const Admit = Type.Object({
  /** The objects that no edit may break: all that the patch does not change, or those with the keys of `listed`. */
  protect: oneOf('unchanged', 'listed'),
  listed: Type.Optional(Type.Array(Type.String())),
  /** The keys of objects without which an edit is left out, by the key of the edit. */
  needs: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
  /** The names of values that will be set before the patch is made: what lacks one of them fits. */
  unsent_values: Type.Optional(Type.Array(Type.String())),
  /** The edits that are left out, in groups, when they have one of the effects. */
  hold_back: Type.Optional(
    Type.Object({
      effects: Type.Array(oneOf('breaking', 'widened')),
      /** `is_compared`: an earlier comparison found nothing that breaks. */
      groups: Type.Array(Type.Object({ keys: Type.Array(Type.String()), is_compared: flag })),
    }),
  ),
});

const ActionArgs = Type.Object({
  name: GraphqlName,
  definition: ActionDefinition,
  comment: Type.Optional(Comment),
});
const catalogStateType = oneOf('cli', 'console', 'operator');
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
/** The id of an event. One that is no UUID is of no event. */
const EventId = Type.String();
const page = {
  limit: Type.Optional(Count),
  offset: Type.Optional(Count),
};
const scheduledEventType = oneOf('cron', 'one_off', 'declared');
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
const PermissionType = oneOf('insert', 'select', 'update', 'delete');
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
  bulk: shaped('batch', 'Performs operations in order; all or none.', Type.Array(Type.Unknown()), {
    endpoints: EVERYWHERE,
    batch: 'atomic',
  }),
  bulk_keep_going: shaped(
    'batch',
    'Performs operations in order; those that fail answer with their error.',
    Type.Array(Type.Unknown()),
    { batch: 'each' },
  ),
  bulk_atomic: shaped(
    'batch',
    'Like `bulk`; the document is validated once, at the end.',
    Type.Array(Type.Unknown()),
    { batch: 'atomic' },
  ),
  concurrent_bulk: shaped('batch', 'Performs read-only `run_sql` operations.', Type.Array(Type.Unknown()), {
    endpoints: ['/v2/query'],
    batch: 'concurrent',
  }),

  // ── SQL ──
  run_sql: sourced(
    'sql',
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

  apply_migrations: row(
    'migration',
    'Runs migrations that have not run on the database of a source. `put` and `remove` are changes of the metadata that follow. `dry_run` only lists them.',
    {
      source: ObjectName,
      migrations: Type.Array(Type.Object({ name: Type.String(), sql: Type.String() })),
      lock_timeout: Type.Optional(Seconds),
      allow_out_of_order: flag,
      allow_breaking: flag,
      dry_run: flag,
      put: Type.Optional(Type.Array(Type.Object({ key: Type.String(), definition: Type.Unknown() }))),
      remove: Type.Optional(Type.Array(Type.String())),
    },
    { takesSource: true },
  ),

  // ── sources ──
  pg_add_source: row('edit', 'Adds a database.', {
    name: ObjectName,
    kind: Type.Optional(SourceKind),
    configuration: SourceConfiguration,
    replace_configuration: flag,
    ...sourceSettings,
  }),
  pg_update_source: row(
    'edit',
    'Changes the settings of a source that are given. An empty object removes one.',
    { name: ObjectName, configuration: Type.Optional(SourceConfiguration), ...sourceSettings },
    { keepsEmpty: true },
  ),
  pg_drop_source: row('edit', 'Removes a source with everything tracked in it.', {
    name: ObjectName,
    cascade: flag,
  }),
  rename_source: row('edit', 'Renames a source.', { name: ObjectName, new_name: ObjectName }),
  set_query_tags: row('edit', 'Configures the comments that name the operation in statements of a source.', {
    source_name: ObjectName,
    ...QueryTags.properties,
  }),
  pg_test_connection_template: row(
    'read',
    'Returns the connection that a connection template chooses for a request.',
    {
      source_name: ObjectName,
      request_context: Type.Object({
        headers: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        session: Type.Optional(Type.Record(Type.String(), Type.String())),
        query: Type.Optional(
          Type.Object({
            operation_type: Type.Optional(oneOf('query', 'mutation', 'subscription')),
            operation_name: Type.Optional(Type.String()),
          }),
        ),
      }),
      connection_template: Type.Optional(ConnectionTemplate),
    },
  ),
  list_source_kinds: row('read', 'Returns the kinds of databases a source may be.', {}),
  get_source_kind_capabilities: row(
    'read',
    'Always refused: only kinds that are not built in have capabilities.',
    { name: ObjectName },
  ),
  get_source_tables: sourced('read', 'Returns the tables and views of a database, tracked or not.', {}),
  get_source_functions: sourced('read', 'Returns the functions of a database, tracked or not.', {}),
  get_table_info: sourced('read', 'Returns the columns and keys of a table or view, tracked or not.', {
    table: QualifiedName,
  }),
  get_viewdef_info: sourced('read', 'Returns the query of a view.', { view: QualifiedName }),
  explain_access: sourced(
    'read',
    'Returns whether a role may read or write rows, and which clauses of its permissions decide it. Writes nothing.',
    {
      table: QualifiedName,
      role: RoleName,
      session_variables: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      operation: Type.Optional(oneOf('select', 'insert', 'update', 'delete')),
      key: values,
      where: Type.Optional(Type.Unknown()),
      columns: Type.Optional(Type.Array(ColumnName)),
      fields: Type.Optional(Type.Array(Type.String())),
      values,
      operators: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()))),
      on_conflict: Type.Optional(
        Type.Object(
          {
            constraint: Type.String(),
            update_columns: Type.Optional(Type.Array(ColumnName)),
            where: Type.Optional(Type.Unknown()),
          },
          { additionalProperties: false },
        ),
      ),
    },
    { isForConsole: true },
  ),

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
  track_tables: sourced('edit', 'Tracks several tables. One that fails is a warning, unless all do.', {
    tables: Type.Array(Type.Object({ source: Type.Optional(ObjectName), ...tracked })),
    allow_warnings: flag,
  }),
  untrack_tables: sourced('edit', 'Untracks several tables. One that fails is a warning, unless all do.', {
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
  set_apollo_federation_config: sourced(
    'edit',
    'Makes a table an entity of a federated graph, or no longer.',
    {
      table: QualifiedName,
      apollo_federation_config: Type.Optional(Type.Union([FederationConfig, Type.Null()])),
    },
  ),
  set_table_is_enum: sourced('edit', 'Makes the rows of a table values of an enum, or no longer.', {
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
    'Replaces the definition of a remote relationship.',
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
  suggest_relationships: sourced('read', 'Returns the relationships that foreign keys allow.', {
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
  drop_insert_permission: sourced('edit', 'Removes the permission to insert.', ofRole),
  drop_select_permission: sourced('edit', 'Removes the permission to read.', ofRole),
  drop_update_permission: sourced('edit', 'Removes the permission to update.', ofRole),
  drop_delete_permission: sourced('edit', 'Removes the permission to delete.', ofRole),
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
    'Removes a function from the GraphQL schema.',
    { function: QualifiedName },
    { lenient: nameFunction },
  ),
  track_functions: sourced('edit', 'Tracks several functions. One that fails is a warning, unless all do.', {
    functions: Type.Array(Type.Object({ source: Type.Optional(ObjectName), ...trackedFunction })),
    allow_warnings: flag,
  }),
  untrack_functions: sourced(
    'edit',
    'Untracks several functions. One that fails is a warning, unless all do.',
    {
      functions: Type.Array(Type.Object({ source: Type.Optional(ObjectName), function: QualifiedName })),
      allow_warnings: flag,
    },
  ),
  set_function_customization: sourced('edit', 'Replaces the names and options of a tracked function.', {
    function: QualifiedName,
    configuration: FunctionConfiguration,
  }),
  create_function_permission: sourced('edit', 'Lets a role call a function.', {
    function: QualifiedName,
    role: RoleName,
  }),
  drop_function_permission: sourced('edit', 'Removes the permission to call a function.', {
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
  untrack_logical_model: sourced('edit', 'Removes a logical model that nothing uses.', { name: ObjectName }),
  get_logical_model: sourced('read', 'Returns the logical models of a source.', {}),
  create_logical_model_select_permission: sourced('edit', 'Lets a role read rows of a logical model.', {
    name: ObjectName,
    role: RoleName,
    permission: SelectRule,
    comment: Type.Optional(Comment),
  }),
  drop_logical_model_select_permission: sourced(
    'edit',
    'Removes the permission to read rows of a logical model.',
    { name: ObjectName, role: RoleName },
  ),
  track_native_query: sourced(
    'edit',
    'Adds SQL with arguments to the GraphQL schema.',
    NativeQuery.properties,
  ),
  untrack_native_query: sourced('edit', 'Removes a native query from the GraphQL schema.', {
    root_field_name: ObjectName,
  }),
  get_native_query: sourced('read', 'Returns the native queries of a source.', {}),

  // ── query collections and the allow list ──
  create_query_collection: shaped('edit', 'Creates a named list of GraphQL documents.', QueryCollection),
  rename_query_collection: row('edit', 'Renames a collection, wherever it is used.', {
    name: ObjectName,
    new_name: ObjectName,
  }),
  drop_query_collection: row(
    'edit',
    'Drops a collection; with `cascade` also where it is used.',
    { collection: ObjectName, cascade: flag },
    { lenient: nameCollection },
  ),
  add_query_to_collection: row('edit', 'Adds a document to a collection.', {
    collection_name: ObjectName,
    query_name: ObjectName,
    query: Type.String({ minLength: 1 }),
  }),
  drop_query_from_collection: row('edit', 'Drops a document from a collection.', {
    collection_name: ObjectName,
    query_name: ObjectName,
  }),
  add_collection_to_allowlist: row(
    'edit',
    'Allows the documents of a collection to every role or to those listed.',
    { collection: ObjectName, scope: Type.Optional(GivenScope) },
    { check: checkScope },
  ),
  update_scope_of_collection_in_allowlist: row(
    'edit',
    'Changes the roles that a collection is allowed to.',
    { collection: ObjectName, scope: GivenScope },
    { check: checkScope },
  ),
  drop_collection_from_allowlist: row('edit', 'Removes a collection from the allow list.', {
    collection: ObjectName,
  }),

  // ── REST endpoints ──
  create_rest_endpoint: shaped('edit', 'Answers a URL with the result of a stored document.', RestEndpoint),
  drop_rest_endpoint: row('edit', 'Drops a REST endpoint.', { name: ObjectName }),

  // ── actions ──
  create_action: shaped('edit', 'Makes a webhook a field of the schema.', ActionArgs),
  update_action: shaped(
    'edit',
    'Replaces the definition of an action and keeps its permissions.',
    ActionArgs,
  ),
  drop_action: row(
    'state',
    'Drops an action, its permissions and, unless `clear_data` is false, its stored calls.',
    { name: GraphqlName, clear_data: flag },
  ),
  create_action_permission: row('edit', 'Lets a role call an action.', {
    action: GraphqlName,
    role: RoleName,
    comment: Type.Optional(Comment),
  }),
  drop_action_permission: row('edit', 'Removes the permission to call an action.', {
    action: GraphqlName,
    role: RoleName,
  }),
  set_custom_types: shaped('edit', 'Replaces the types of arguments and results of actions.', CustomTypes),

  // ── event triggers ──
  create_event_trigger: sourced(
    'state',
    'Creates an event trigger, which sends changed rows to a webhook.',
    {
      table: QualifiedName,
      ...eventTrigger,
      ...EventTrigger.properties.definition.properties,
      replace: flag,
    },
    { check: checkNewTrigger },
  ),
  delete_event_trigger: sourced('edit', 'Deletes an event trigger and archives its pending events.', {
    name: ObjectName,
  }),
  invoke_event_trigger: sourced('database', 'Creates an event of an event trigger manually.', {
    name: ObjectName,
    payload: Type.Unknown(),
  }),
  redeliver_event: sourced('database', 'Delivers an event again.', { event_id: EventId }),
  get_event_logs: sourced('read', 'Returns the events of an event trigger, newest first.', {
    name: ObjectName,
    status: Type.Optional(oneOf('pending', 'processed')),
    ...page,
  }),
  get_event_invocation_logs: sourced(
    'read',
    'Returns requests for events and their responses, newest first.',
    {
      name: ObjectName,
      ...page,
    },
  ),
  get_event_by_id: sourced('read', 'Returns an event, the requests for it and their responses.', {
    event_id: EventId,
    invocation_log_limit: page.limit,
    invocation_log_offset: page.offset,
  }),
  cleanup_event_trigger_logs: row(
    'database',
    'Deletes processed events and, if requested, their invocation logs.',
    {
      event_trigger_name: ObjectName,
      source: ObjectName,
      clear_older_than: Hours,
      batch_size: Type.Optional(AtLeastOne),
      timeout: Type.Optional(Seconds),
      clean_invocation_logs: flag,
    },
    { takesSource: true },
  ),
  pause_event_trigger_cleanups: shaped(
    'edit',
    'Stops the regular deletion of events of event triggers that have a `cleanup_config`.',
    Type.Object(cleanups),
  ),
  resume_event_trigger_cleanups: shaped('edit', 'Resumes that deletion.', Type.Object(cleanups)),

  // ── scheduled events ──
  create_cron_trigger: row(
    'edit',
    'Creates a cron trigger, which calls a webhook on a schedule, or replaces it.',
    { ...CronTrigger.properties, replace: flag },
  ),
  delete_cron_trigger: row('edit', 'Deletes a cron trigger and its events that are not delivered yet.', {
    name: ObjectName,
  }),
  get_cron_triggers: row('read', 'Returns all cron triggers, with their defaults.', {}),
  create_scheduled_event: row('database', 'Schedules one call of a webhook.', {
    ...OneOffEvent.properties,
    schedule_at: Type.String({ minLength: 1 }),
  }),
  delete_scheduled_event: row('database', 'Deletes a scheduled event and its invocation logs.', {
    type: scheduledEventType,
    event_id: EventId,
  }),
  declare_scheduled_event: row(
    'edit',
    'Declares an event in the metadata, which calls a webhook once, or replaces its declaration.',
    { ...DeclaredEvent.properties, replace: flag },
  ),
  undeclare_scheduled_event: row(
    'edit',
    'Removes the declaration of an event. An event that is not delivered yet is deleted.',
    { name: ObjectName },
  ),
  get_scheduled_events: row(
    'read',
    'Returns events of cron triggers, one-off events or declared events, by time.',
    {
      ...ofScheduledEvents,
      newest_first: flag,
      status: Type.Optional(Type.Array(oneOf('scheduled', 'locked', 'delivered', 'error', 'dead'))),
    },
  ),
  get_scheduled_event_invocations: row(
    'read',
    'Returns requests for scheduled events and their responses, newest first.',
    { ...ofScheduledEvents, event_id: Type.Optional(EventId) },
  ),

  // ── what the engine does ──
  get_recent_activity: row(
    'read',
    'Returns rates, errors, latency, connections and deliveries of this replica for each minute of the last hour, and its slowest operations. Runs no statement.',
    {},
    { isForConsole: true },
  ),
  list_subscriptions: row(
    'read',
    'Returns the subscriptions of this replica by role, and the statements that are polled for them with their subscribers and their cost. Runs no statement.',
    {},
    { isForConsole: true },
  ),
  list_triggers: row(
    'read',
    'Returns the names of event triggers, cron triggers, declared events and asynchronous actions. Runs no statement.',
    {},
    { isForConsole: true },
  ),
  list_action_calls: row(
    'read',
    'Returns calls of asynchronous actions, newest first, with their input and the answer of the webhook.',
    {
      action: Type.Optional(ObjectName),
      status: Type.Optional(Type.Array(oneOf('waiting', 'running', 'answered', 'failed'))),
      ...page,
    },
  ),

  // ── webhooks ──
  test_webhook_transform: row('read', 'Returns the request that a transform creates, without sending it.', {
    webhook_url: EnvValue,
    body: Type.Unknown(),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    request_headers: Type.Optional(Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }))),
    session_variables: Type.Optional(Type.Record(Type.String(), Type.String())),
    request_transform: RequestTransform,
    response_transform: Type.Optional(ResponseTransform),
  }),

  // ── limits ──
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

  // ── roles ──
  add_inherited_role: shaped(
    'edit',
    'Creates an inherited role, or replaces its parent roles.',
    InheritedRole,
  ),
  drop_inherited_role: row('edit', 'Drops an inherited role.', { role_name: RoleName }),

  // ── remote schemas ──
  add_remote_schema: row('state', 'Adds the schema of a GraphQL service to the GraphQL schema.', {
    name: ObjectName,
    definition: RemoteSchemaDefinition,
    comment: Type.Optional(Comment),
    permissions: Type.Optional(Type.Array(RemoteSchemaPermission)),
  }),
  update_remote_schema: row('edit', 'Replaces the definition of a remote schema.', {
    name: ObjectName,
    definition: RemoteSchemaDefinition,
    comment: Type.Optional(Comment),
  }),
  remove_remote_schema: shaped('edit', 'Removes a remote schema.', remoteSchemaName),
  reload_remote_schema: shaped('state', 'Introspects a remote schema again.', remoteSchemaName),
  introspect_remote_schema: shaped('read', 'Returns the introspection of a remote schema.', remoteSchemaName),
  add_remote_schema_permissions: row('state', 'Grants a role a part of a remote schema.', {
    remote_schema: ObjectName,
    role: RoleName,
    definition: RemoteSchemaPermission.properties.definition,
    comment: Type.Optional(Comment),
  }),
  drop_remote_schema_permissions: row('edit', 'Removes the permission of a role on a remote schema.', {
    remote_schema: ObjectName,
    role: RoleName,
  }),
  create_remote_schema_remote_relationship: shaped(
    'edit',
    'Creates a relationship from objects of a remote schema to rows, or into a remote schema.',
    remoteTypeRelationship,
  ),
  update_remote_schema_remote_relationship: shaped(
    'edit',
    'Replaces the definition of a relationship of a remote schema.',
    remoteTypeRelationship,
  ),
  delete_remote_schema_remote_relationship: row('edit', 'Drops a relationship of a remote schema.', {
    remote_schema: ObjectName,
    type_name: GraphqlName,
    name: GraphqlName,
  }),

  // ── rows ──
  select: rows(
    'Returns rows of a tracked table, with columns and related rows by name.',
    {
      columns: Type.Array(Type.Unknown()),
      where: Type.Optional(Type.Unknown()),
      order_by: Type.Optional(Type.Unknown()),
      limit: Type.Optional(Type.Unknown()),
      offset: Type.Optional(Type.Unknown()),
    },
    { check: checkWindow, isReading: true },
  ),
  count: rows(
    'Returns the number of rows of a tracked table, or of distinct values.',
    {
      where: Type.Optional(Type.Unknown()),
      // Nullable: an empty list is an error, not the same as none.
      distinct: Type.Optional(nullable(Type.Array(ColumnName))),
    },
    { isReading: true },
  ),
  insert: rows('Inserts rows into a tracked table, by column name.', {
    objects: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    returning,
    on_conflict: Type.Optional(
      nullable(
        Type.Object({
          constraint: Type.Optional(ObjectName),
          constraint_on: Type.Optional(Type.Array(ColumnName)),
          action: oneOf('ignore', 'update'),
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
  export_metadata: row('read', 'Returns the document.', {}, { versions: [1, 2] }),
  replace_metadata: shaped(
    'state',
    'Replaces the whole document: version 1 takes it as its arguments, version 2 under `metadata`.',
    Type.Object(
      {
        metadata: Type.Optional(Type.Unknown()),
        allow_inconsistent_metadata: flag,
        allow_warnings: flag,
        dry_run: flag,
        include_keys: flag,
        include_effects: flag,
      },
      { additionalProperties: true },
    ),
    { versions: [1, 2] },
  ),
  patch_metadata: row(
    'state',
    'Puts and removes objects by their keys, in one change. `dry_run` only validates it; `include_effects` adds what it means for each role; `admit` makes the edits that fit and reports why it leaves out the others.',
    {
      put: Type.Optional(Type.Array(Type.Object({ key: Type.String(), definition: Type.Unknown() }))),
      remove: Type.Optional(Type.Array(Type.String())),
      admit: Type.Optional(Admit),
      allow_inconsistent_metadata: flag,
      allow_warnings: flag,
      dry_run: flag,
      include_keys: flag,
      include_effects: flag,
    },
  ),
  list_metadata_revisions: row(
    'read',
    'Returns the stored versions of the document, newest first, with their authors.',
    { limit: Type.Optional(AtLeastOne) },
    { isForConsole: true },
  ),
  compare_metadata_revisions: row(
    'read',
    'Returns the objects that differ between two stored versions of the document, or between one and the current document, without secrets.',
    { from: AtLeastOne, to: Type.Optional(AtLeastOne) },
    { isForConsole: true },
  ),
  get_ownership: row(
    'read',
    'Returns the custom resources that own objects, and the objects without an owner, as the operator has recorded them; with `resource` the objects of one. Runs no statement.',
    { resource: Type.Optional(Type.String()) },
    { isForConsole: true },
  ),
  rollback_metadata: row(
    'state',
    'Replaces the document with a previous version. `dry_run` only validates it.',
    {
      resource_version: AtLeastOne,
      allow_inconsistent_metadata: flag,
      allow_warnings: flag,
      dry_run: flag,
      include_effects: flag,
    },
  ),
  get_role_access: row(
    'read',
    'Returns the roles, and what one of them may do with each table, with the permissions that grant it. Runs no statement.',
    { role: Type.Optional(RoleName) },
    { isForConsole: true },
  ),
  list_objects: row(
    'read',
    'Returns the key of every object except permissions, with what relationships and functions lead to, and the inconsistent objects with their reasons. No secrets. Runs no statement.',
    {},
    { isForConsole: true },
  ),
  describe_object: row(
    'read',
    'Returns the definition of an object without secrets, the objects nested in it, and for a table its columns, keys and names in GraphQL. Runs no statement.',
    { key: Type.String() },
    { isForConsole: true },
  ),
  get_field_usage: row(
    'read',
    'Returns which operations of which clients used which fields, arguments, input fields and enum values of a role, by the counts of the last days. An empty `operation` or `client` is one without a name.',
    {
      role: Type.Optional(Type.String()),
      operation: Type.Optional(Type.String()),
      client: Type.Optional(Type.String()),
      coordinate: Type.Optional(Type.String()),
      days: Type.Optional(AtLeastOne),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_USAGE_LISTED })),
    },
  ),
  reload_metadata: row('state', 'Introspects databases and remote schemas again.', {
    reload_remote_schemas: Type.Optional(Type.Union([Type.Boolean(), names])),
    reload_sources: Type.Optional(Type.Union([Type.Boolean(), names])),
    recreate_event_triggers: Type.Optional(Type.Union([Type.Boolean(), names])),
  }),
  clear_metadata: row('state', 'Removes everything tracked.', {}),
  get_inconsistent_metadata: row('read', 'Returns inconsistent objects.', { include_keys: flag }),
  drop_inconsistent_metadata: row('state', 'Drops inconsistent objects.', {}),
  dump_internal_state: row(
    'read',
    'Returns the state of this replica: versions, sources, inconsistent objects.',
    {},
  ),
  get_catalog_state: row('read', 'Returns the state that clients store beside the document.', {}),
  set_catalog_state: row('client-state', 'Replaces the state that one client stores beside the document.', {
    type: catalogStateType,
    state: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
  }),
  patch_catalog_state: row(
    'client-state',
    'Applies a JSON Merge Patch (RFC 7396) to the state that one client stores beside the document.',
    {
      type: catalogStateType,
      patch: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
    },
  ),

  // ── named values ──
  set_values: row(
    'values',
    'Stores named values, which metadata refers to with from_value. Values are encrypted, and no operation returns them. `dry_run` stores ' +
      'nothing and says of each name whether its value would be new, changed or the same.',
    {
      dry_run: flag,
      values: Type.Array(
        Type.Object(
          { name: ValueName, value: Type.String({ minLength: 1, maxLength: MOST_VALUE_CHARACTERS }) },
          { additionalProperties: false },
        ),
        { maxItems: MOST_VALUES },
      ),
    },
  ),
  delete_values: row(
    'values',
    'Deletes named values. Keeps those that the metadata or a scheduled event refers to, unless force is true.',
    { names: Type.Array(ValueName, { maxItems: MOST_VALUES }), force: flag },
  ),
  list_values: row(
    'read',
    'Lists the names of named values with their version, status and the ID of their key. Never returns a value.',
    { prefix: Type.Optional(Type.String()) },
  ),
  reencrypt_values: row(
    'values',
    'Encrypts every named value again that is not encrypted under the first key, so that earlier keys can be removed.',
    {},
  ),
} as const satisfies Record<string, OperationDeclaration>;

export type OperationName = keyof typeof OPERATIONS;

export type ArgsOf<N extends OperationName> = Static<(typeof OPERATIONS)[N]['args']>;

/** The operations that edit the document. */
export type EditOperation = {
  [N in OperationName]: (typeof OPERATIONS)[N]['effect'] extends 'edit' ? N : never;
}[OperationName];

/** The edits of several objects, each of which may fail without the others. */
export type ListOperation = 'track_tables' | 'untrack_tables' | 'track_functions' | 'untrack_functions';

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

const PREFIX = /^(pg|citus|cockroach|alloy)_/;

const BY_NAME = {
  '/v1/query': namesOf('/v1/query'),
  '/v1/metadata': namesOf('/v1/metadata'),
  '/v2/query': namesOf('/v2/query'),
} as const satisfies Record<Endpoint, ReadonlyMap<string, OperationName>>;

function namesOf(endpoint: Endpoint): ReadonlyMap<string, OperationName> {
  const all = (name: OperationName) => namesAt(name, endpoint).flatMap(namesByKind);
  return new Map(OPERATION_NAMES.flatMap((name) => all(name).map((known) => [known, name])));
}

/** Returns the names of an operation on sources of each kind: `pg_track_table`, `citus_track_table`. */
function namesByKind(name: string): readonly string[] {
  if (!name.startsWith('pg_')) return [name];
  return Object.values(SOURCE_KINDS).map(({ prefix }) => name.replace(PREFIX, `${prefix}_`));
}

/** Returns the kind of source that the name of an operation says, if it says one. */
export function kindOfOperation(type: string): SourceKind | undefined {
  const prefix = PREFIX.exec(type)?.[1];
  return (Object.keys(SOURCE_KINDS) as SourceKind[]).find((kind) => SOURCE_KINDS[kind].prefix === prefix);
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

/** Raises `parseFailed` for a limit or offset that is no integer; a negative one is refused later. */
function checkWindow(args: { readonly limit?: unknown; readonly offset?: unknown }): void {
  for (const key of ['limit', 'offset'] as const) {
    const value = nearestNumber(args[key]) ?? 0;
    if (Number.isInteger(value)) continue;
    const found = typeof value === 'number' ? `${value}` : nameOfJson(value);
    const text = `parsing Int failed, expected Number, but encountered ${found}`;
    fail('parseFailed', { text }, { path: [key] });
  }
}

function nameCollection(args: unknown): unknown {
  if (!isRecord(args) || 'collection' in args || !('name' in args)) return args;
  return { ...args, collection: args['name'] };
}

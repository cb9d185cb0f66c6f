/** HANDLERS: the handler of each edit operation on one object. A missing one does not compile.
 *  Not here: operations that are not pure functions of the document (admin/perform.ts). */
import type { EditOperation, ListOperation } from '../../metadata/operations.ts';
import * as actions from './actions.ts';
import * as collections from './collections.ts';
import * as functions from './functions.ts';
import type { Handler } from './handler.ts';
import * as nativeQueries from './native-queries.ts';
import * as permissions from './permissions.ts';
import * as relationships from './relationships.ts';
import * as remoteRelationships from './remote-relationships.ts';
import * as remoteSchemas from './remote-schemas.ts';
import * as settings from './settings.ts';
import * as sources from './sources.ts';
import * as tables from './tables.ts';
import * as triggers from './triggers.ts';

export const HANDLERS: { readonly [N in Exclude<EditOperation, ListOperation>]: Handler<N> } = {
  pg_add_source: sources.addSource,
  pg_update_source: sources.updateSource,
  pg_drop_source: sources.dropSource,
  rename_source: sources.renameSource,
  set_query_tags: sources.setQueryTags,
  track_table: tables.trackTable,
  untrack_table: tables.untrackTable,
  set_table_customization: tables.setTableCustomization,
  set_table_custom_fields: tables.setTableCustomFields,
  set_apollo_federation_config: tables.setFederation,
  set_table_is_enum: tables.setTableIsEnum,
  create_object_relationship: relationships.createObjectRelationship,
  create_array_relationship: relationships.createArrayRelationship,
  create_remote_relationship: remoteRelationships.createRemoteRelationship,
  update_remote_relationship: remoteRelationships.updateRemoteRelationship,
  delete_remote_relationship: remoteRelationships.deleteRemoteRelationship,
  drop_relationship: relationships.dropRelationship,
  rename_relationship: relationships.renameRelationship,
  set_relationship_comment: relationships.setRelationshipComment,
  create_insert_permission: permissions.createInsertPermission,
  create_select_permission: permissions.createSelectPermission,
  create_update_permission: permissions.createUpdatePermission,
  create_delete_permission: permissions.createDeletePermission,
  drop_insert_permission: permissions.dropInsertPermission,
  drop_select_permission: permissions.dropSelectPermission,
  drop_update_permission: permissions.dropUpdatePermission,
  drop_delete_permission: permissions.dropDeletePermission,
  set_permission_comment: permissions.setPermissionComment,
  track_function: functions.trackFunction,
  untrack_function: functions.untrackFunction,
  set_function_customization: functions.setFunctionCustomization,
  create_function_permission: functions.createFunctionPermission,
  drop_function_permission: functions.dropFunctionPermission,
  add_computed_field: functions.addComputedField,
  drop_computed_field: functions.dropComputedField,
  track_logical_model: nativeQueries.trackLogicalModel,
  untrack_logical_model: nativeQueries.untrackLogicalModel,
  create_logical_model_select_permission: nativeQueries.createSelectPermission,
  drop_logical_model_select_permission: nativeQueries.dropSelectPermission,
  track_native_query: nativeQueries.trackNativeQuery,
  untrack_native_query: nativeQueries.untrackNativeQuery,
  create_query_collection: collections.createQueryCollection,
  rename_query_collection: collections.renameQueryCollection,
  drop_query_collection: collections.dropQueryCollection,
  add_query_to_collection: collections.addQueryToCollection,
  drop_query_from_collection: collections.dropQueryFromCollection,
  add_collection_to_allowlist: collections.addCollectionToAllowlist,
  update_scope_of_collection_in_allowlist: collections.updateScope,
  drop_collection_from_allowlist: collections.dropCollectionFromAllowlist,
  create_action: actions.createAction,
  update_action: actions.updateAction,
  create_action_permission: actions.createActionPermission,
  drop_action_permission: actions.dropActionPermission,
  set_custom_types: actions.setCustomTypes,
  delete_event_trigger: triggers.deleteEventTrigger,
  pause_event_trigger_cleanups: triggers.pauseCleanups,
  resume_event_trigger_cleanups: triggers.resumeCleanups,
  create_cron_trigger: triggers.createCronTrigger,
  delete_cron_trigger: triggers.deleteCronTrigger,
  declare_scheduled_event: triggers.declareScheduledEvent,
  undeclare_scheduled_event: triggers.undeclareScheduledEvent,
  set_api_limits: settings.setApiLimits,
  set_opentelemetry_config: settings.setOpentelemetryConfig,
  set_opentelemetry_status: settings.setOpentelemetryStatus,
  remove_api_limits: settings.removeApiLimits,
  set_graphql_schema_introspection_options: settings.setIntrospection,
  add_host_to_tls_allowlist: settings.addTlsHost,
  drop_host_from_tls_allowlist: settings.dropTlsHost,
  set_metrics_config: settings.setMetricsConfig,
  remove_metrics_config: settings.removeMetricsConfig,
  create_rest_endpoint: collections.createRestEndpoint,
  drop_rest_endpoint: collections.dropRestEndpoint,
  update_remote_schema: remoteSchemas.updateRemoteSchema,
  remove_remote_schema: remoteSchemas.removeRemoteSchema,
  drop_remote_schema_permissions: remoteSchemas.dropRemoteSchemaPermission,
  create_remote_schema_remote_relationship: remoteRelationships.createRemoteTypeRelationship,
  update_remote_schema_remote_relationship: remoteRelationships.updateRemoteTypeRelationship,
  delete_remote_schema_remote_relationship: remoteRelationships.deleteRemoteTypeRelationship,
  add_inherited_role: permissions.addInheritedRole,
  drop_inherited_role: permissions.dropInheritedRole,
};

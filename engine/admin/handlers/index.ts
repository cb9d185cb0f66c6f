/** HANDLERS: what each edit operation does to the document. A missing one does not compile.
 *  Not here: operations that are more than a function of the document (admin/perform.ts). */
import type { EditOperation } from '../../metadata/operations.ts';
import * as actions from './actions.ts';
import * as collections from './collections.ts';
import * as cronTriggers from './cron-triggers.ts';
import * as eventTriggers from './event-triggers.ts';
import * as functions from './functions.ts';
import type { Handler } from './handler.ts';
import * as inheritedRoles from './inherited-roles.ts';
import * as limits from './limits.ts';
import * as logicalModels from './logical-models.ts';
import * as nativeQueries from './native-queries.ts';
import * as opentelemetry from './opentelemetry.ts';
import * as permissions from './permissions.ts';
import * as relationships from './relationships.ts';
import * as remoteRelationships from './remote-relationships.ts';
import * as remoteSchemas from './remote-schemas.ts';
import * as restEndpoints from './rest-endpoints.ts';
import * as sources from './sources.ts';
import * as tables from './tables.ts';

export const HANDLERS: { readonly [N in EditOperation]: Handler<N> } = {
  pg_add_source: sources.addSource,
  pg_update_source: sources.updateSource,
  pg_drop_source: sources.dropSource,
  rename_source: sources.renameSource,
  set_query_tags: sources.setQueryTags,
  track_table: tables.trackTable,
  untrack_table: tables.untrackTable,
  track_tables: tables.trackTables,
  untrack_tables: tables.untrackTables,
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
  track_functions: functions.trackFunctions,
  untrack_functions: functions.untrackFunctions,
  set_function_customization: functions.setFunctionCustomization,
  create_function_permission: functions.createFunctionPermission,
  drop_function_permission: functions.dropFunctionPermission,
  add_computed_field: functions.addComputedField,
  drop_computed_field: functions.dropComputedField,
  track_logical_model: logicalModels.trackLogicalModel,
  untrack_logical_model: logicalModels.untrackLogicalModel,
  create_logical_model_select_permission: logicalModels.createSelectPermission,
  drop_logical_model_select_permission: logicalModels.dropSelectPermission,
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
  create_event_trigger: eventTriggers.createEventTrigger,
  delete_event_trigger: eventTriggers.deleteEventTrigger,
  pause_event_trigger_cleanups: eventTriggers.pauseCleanups,
  resume_event_trigger_cleanups: eventTriggers.resumeCleanups,
  create_cron_trigger: cronTriggers.createCronTrigger,
  delete_cron_trigger: cronTriggers.deleteCronTrigger,
  set_api_limits: limits.setApiLimits,
  set_opentelemetry_config: opentelemetry.setConfig,
  set_opentelemetry_status: opentelemetry.setStatus,
  remove_api_limits: limits.removeApiLimits,
  set_graphql_schema_introspection_options: limits.setIntrospection,
  add_host_to_tls_allowlist: limits.addTlsHost,
  drop_host_from_tls_allowlist: limits.dropTlsHost,
  set_metrics_config: limits.setMetricsConfig,
  remove_metrics_config: limits.removeMetricsConfig,
  create_rest_endpoint: restEndpoints.createRestEndpoint,
  drop_rest_endpoint: restEndpoints.dropRestEndpoint,
  update_remote_schema: remoteSchemas.updateRemoteSchema,
  remove_remote_schema: remoteSchemas.removeRemoteSchema,
  drop_remote_schema_permissions: remoteSchemas.dropRemoteSchemaPermission,
  create_remote_schema_remote_relationship: remoteRelationships.createRemoteTypeRelationship,
  update_remote_schema_remote_relationship: remoteRelationships.updateRemoteTypeRelationship,
  delete_remote_schema_remote_relationship: remoteRelationships.deleteRemoteTypeRelationship,
  add_inherited_role: inheritedRoles.addInheritedRole,
  drop_inherited_role: inheritedRoles.dropInheritedRole,
};

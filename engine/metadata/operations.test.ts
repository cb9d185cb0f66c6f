/** The table of operations against the specification's list, and how endpoints find their rows. */
import { expect, test } from 'vitest';
import { findOperation, newerName, OPERATION_NAMES, OPERATIONS } from './operations.ts';

/** The specification's list, as far as the engine can do it: type and version. */
const SPECIFIED = [
  ['bulk', 1],
  ['run_sql', 1],
  ['track_table', 1],
  ['track_table', 2],
  ['set_table_custom_fields', 2],
  ['set_table_customization', 1],
  ['set_table_is_enum', 1],
  ['untrack_table', 1],
  ['create_object_relationship', 1],
  ['create_array_relationship', 1],
  ['drop_relationship', 1],
  ['rename_relationship', 1],
  ['set_relationship_comment', 1],
  ['create_insert_permission', 1],
  ['create_select_permission', 1],
  ['create_update_permission', 1],
  ['create_delete_permission', 1],
  ['drop_insert_permission', 1],
  ['drop_select_permission', 1],
  ['drop_update_permission', 1],
  ['drop_delete_permission', 1],
  ['set_permission_comment', 1],
  ['export_metadata', 1],
  ['reload_metadata', 1],
  ['clear_metadata', 1],
  ['get_inconsistent_metadata', 1],
  ['drop_inconsistent_metadata', 1],
  ['replace_metadata', 1],
  ['replace_metadata', 2],
  ['create_query_collection', 1],
  ['drop_query_collection', 1],
  ['add_query_to_collection', 1],
  ['drop_query_from_collection', 1],
  ['add_collection_to_allowlist', 1],
  ['drop_collection_from_allowlist', 1],
] as const;

test.each(SPECIFIED)('/v1/query knows %s in version %i', (type, version) => {
  expect(findOperation(type, version, '/v1/query')).toMatchObject({ name: type, version });
});

/** Those of the newer endpoint (docs/reference/behaviour/metadata-api.md), by their names there. */
const NEWER = `
  export_metadata replace_metadata reload_metadata clear_metadata drop_inconsistent_metadata get_inconsistent_metadata
  get_catalog_state set_catalog_state dump_internal_state get_source_kind_capabilities list_source_kinds
  bulk bulk_keep_going bulk_atomic
  pg_add_source pg_update_source pg_drop_source rename_source pg_get_source_tables pg_get_source_functions pg_get_table_info
  pg_get_viewdef_info pg_test_connection_template set_query_tags
  pg_track_table pg_track_tables pg_untrack_table pg_untrack_tables pg_set_table_customization pg_set_table_is_enum
  pg_set_apollo_federation_config
  pg_track_function pg_untrack_function pg_set_function_customization pg_create_function_permission
  pg_drop_function_permission pg_track_functions pg_untrack_functions
  pg_create_object_relationship pg_create_array_relationship pg_drop_relationship pg_rename_relationship
  pg_set_relationship_comment pg_suggest_relationships pg_add_computed_field pg_drop_computed_field
  pg_create_insert_permission pg_create_select_permission pg_create_update_permission pg_create_delete_permission
  pg_drop_insert_permission pg_drop_select_permission pg_drop_update_permission pg_drop_delete_permission
  pg_set_permission_comment
  pg_create_remote_relationship pg_update_remote_relationship pg_delete_remote_relationship
  pg_create_event_trigger pg_delete_event_trigger pg_redeliver_event pg_invoke_event_trigger pg_get_event_logs
  pg_get_event_invocation_logs pg_get_event_by_id cleanup_event_trigger_logs
  add_remote_schema update_remote_schema remove_remote_schema reload_remote_schema introspect_remote_schema
  add_remote_schema_permissions drop_remote_schema_permissions
  create_action update_action drop_action create_action_permission drop_action_permission set_custom_types
  create_query_collection rename_query_collection drop_query_collection add_query_to_collection
  drop_query_from_collection add_collection_to_allowlist update_scope_of_collection_in_allowlist
  drop_collection_from_allowlist create_rest_endpoint drop_rest_endpoint add_inherited_role drop_inherited_role
  pg_track_native_query pg_untrack_native_query pg_get_native_query pg_track_logical_model pg_untrack_logical_model
  pg_get_logical_model pg_create_logical_model_select_permission pg_drop_logical_model_select_permission
  set_api_limits remove_api_limits set_graphql_schema_introspection_options add_host_to_tls_allowlist
  drop_host_from_tls_allowlist set_metrics_config remove_metrics_config set_opentelemetry_config set_opentelemetry_status
  test_webhook_transform`;

test('/v1/metadata knows every operation of the reference', () => {
  const unknown = NEWER.trim()
    .split(/\s+/)
    .filter((type) => !findOperation(type, 1, '/v1/metadata'));
  expect(unknown).toEqual([]);
});

test('/v1/metadata knows operations by their newer names alone', () => {
  expect(findOperation('pg_track_table', 1, '/v1/metadata')?.name).toBe('track_table');
  expect(findOperation('track_table', 1, '/v1/metadata')).toBeUndefined();
  expect(findOperation('export_metadata', 2, '/v1/metadata')?.name).toBe('export_metadata');
});

test('/v1/query knows both names', () => {
  expect(findOperation('pg_track_table', 1, '/v1/query')?.name).toBe('track_table');
});

test('/v1/query knows names of earlier times', () => {
  expect(findOperation('add_existing_table_or_view', 1, '/v1/query')?.name).toBe('track_table');
  expect(findOperation('add_existing_table_or_view', 1, '/v1/metadata')).toBeUndefined();
});

test('/v2/query is about SQL', () => {
  expect(findOperation('pg_run_sql', 1, '/v2/query')?.name).toBe('run_sql');
  expect(findOperation('bulk', 1, '/v2/query')?.name).toBe('bulk');
  expect(findOperation('track_table', 1, '/v2/query')).toBeUndefined();
  expect(findOperation('run_sql', 1, '/v1/metadata')).toBeUndefined();
});

test.each(['toString', '__proto__', '', 'Track_Table', 'add_remote_table'])('%j is no operation', (type) => {
  expect(findOperation(type, 1, '/v1/query')).toBeUndefined();
});

test('an operation is not found in a version it does not have', () => {
  expect(findOperation('untrack_table', 2, '/v1/query')).toBeUndefined();
});

test('names are unambiguous', () => {
  const names = OPERATION_NAMES.flatMap((name) => [...new Set([name, newerName(name)])]);
  expect(new Set(names).size).toBe(names.length);
});

test('every operation is said in one sentence', () => {
  const wordy = OPERATION_NAMES.filter((name) => !/^[A-Z].*\.$/.test(OPERATIONS[name].summary));
  expect(wordy).toEqual([]);
});

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

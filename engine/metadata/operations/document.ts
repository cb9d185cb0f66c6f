/** Operations on the whole document, its versions, and the state that clients store beside it. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { ObjectName, RoleName } from '../schema/common.ts';
import { AtLeastOne } from '../schema/number.ts';
import { oneOf, Type } from '../schema/type.ts';
import { flag } from './arguments.ts';
import { type OperationDeclaration, row, shaped } from './row.ts';

/** The most entries of each list of `get_field_usage`. */
const MOST_USAGE_LISTED = 10_000;

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

const catalogStateType = oneOf('cli', 'console', 'operator');

const names = Type.Array(ObjectName);

export const DOCUMENT_OPERATIONS = {
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
        include_changes: flag,
      },
      { additionalProperties: true },
    ),
    { versions: [1, 2] },
  ),
  patch_metadata: row(
    'state',
    'Puts and removes objects by their keys, in one change. `dry_run` only validates it; `include_effects` adds what it means for each role, `include_changes` the objects that differ; `admit` makes the edits that fit and reports why it leaves out the others.',
    {
      put: Type.Optional(Type.Array(Type.Object({ key: Type.String(), definition: Type.Unknown() }))),
      remove: Type.Optional(Type.Array(Type.String())),
      admit: Type.Optional(Admit),
      allow_inconsistent_metadata: flag,
      allow_warnings: flag,
      dry_run: flag,
      include_keys: flag,
      include_effects: flag,
      include_changes: flag,
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
    'Returns the custom resources that own objects, and the objects without an owner, as the operator has recorded them; with `resource` the objects of one, and its manifest without secrets. Runs no statement.',
    { resource: Type.Optional(Type.String()) },
    { isForConsole: true },
  ),
  get_permission_tests: row(
    'read',
    'Returns the last result of each PermissionTest, as the operator has recorded it, and the permissions that the tests cover; with `role` those of the role and of the roles that it inherits from. Runs no statement.',
    { role: Type.Optional(RoleName) },
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
      include_changes: flag,
    },
  ),
  get_role_access: row(
    'read',
    'Returns the roles, and what one of them may do with each table, or with the table of a GraphQL type, with the permissions that grant it. Runs no statement.',
    { role: Type.Optional(RoleName), type: Type.Optional(Type.String()) },
    { isForConsole: true },
  ),
  list_objects: row(
    'read',
    'Returns the key of every object except permissions, with what relationships and functions lead to, and with their reasons the inconsistent objects and, in `not_enforced`, those that do not do what they declare. No secrets. Runs no statement.',
    {},
    { isForConsole: true },
  ),
  describe_object: row(
    'read',
    'Returns the definition of an object without secrets, the objects nested in it, with `include_nested` their definitions, too, and for a table its columns, keys and names in GraphQL. An object that does not exist is an error; with `if_exists` the answer has no `definition`. Runs no statement.',
    { key: Type.String(), include_nested: flag, if_exists: flag },
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
    { isForConsole: true },
  ),
  reload_metadata: row(
    'state',
    'Introspects databases and remote schemas again. With `if_changed` the resource version stays the same when they have not changed.',
    {
      reload_remote_schemas: Type.Optional(Type.Union([Type.Boolean(), names])),
      reload_sources: Type.Optional(Type.Union([Type.Boolean(), names])),
      recreate_event_triggers: Type.Optional(Type.Union([Type.Boolean(), names])),
      if_changed: flag,
    },
  ),
  clear_metadata: row('state', 'Removes everything tracked.', {}),
  get_inconsistent_metadata: row('read', 'Returns inconsistent objects.', { include_keys: flag }),
  drop_inconsistent_metadata: row('state', 'Drops inconsistent objects.', {}),
  dump_internal_state: row(
    'read',
    'Returns the state of this replica: versions, sources, inconsistent objects.',
    {},
  ),
  get_catalog_state: row(
    'read',
    'Returns the state that clients store beside the document; with `type` that of one client.',
    { type: Type.Optional(catalogStateType) },
  ),
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
} as const satisfies Record<string, OperationDeclaration>;

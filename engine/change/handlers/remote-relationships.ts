/** Operations on relationships that lead out of a source, or start in a remote schema.
 *  Not here: does the target exist (resolve/remote-relationship.ts). Reference: docs/reference/behaviour/remote-schemas.md,
 *  docs/reference/behaviour/metadata-api.md. */
import { fail } from '../../errors/engine-error.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import { printQualified } from '../../metadata/schema/common.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Handler } from './handler.ts';
import { editObject, keyIn, putIn, requireTable, type TableArgs } from './handler.ts';
import { refuseTaken } from './relationships.ts';
import { requireRemoteSchema } from './remote-schemas.ts';

/** Raises `relationshipExists`. */
export const createRemoteRelationship: Handler<'create_remote_relationship'> = (draft, args) => {
  requireTable(draft, args);
  refuseTaken(draft, args);
  const { name, definition } = args;
  return putIn(draft, 'remote_relationship', args, { name, definition: { name, definition } });
};

/** Raises `remoteRelationshipNotExists`. */
export const updateRemoteRelationship: Handler<'update_remote_relationship'> = (draft, args) =>
  editObject(draft, requireRemoteRelationship(draft, args), { definition: args.definition });

/** Raises `remoteRelationshipNotExists`. */
export const deleteRemoteRelationship: Handler<'delete_remote_relationship'> = (draft, args) =>
  removeObject(draft, requireRemoteRelationship(draft, args));

/** Returns the key of a remote relationship. Raises `remoteRelationshipNotExists`. */
function requireRemoteRelationship(draft: Metadata, args: TableArgs & { readonly name: string }): string {
  requireTable(draft, args);
  const key = keyIn('remote_relationship', args, args.name);
  if (findObject(draft, key)) return key;
  const owner = `table "${printQualified(args.table)}"`;
  return fail('remoteRelationshipNotExists', { name: args.name, owner });
}

/** Raises `remoteSchemaNotExists`, `remoteTypeRelationshipExists`. */
export const createRemoteTypeRelationship: Handler<'create_remote_schema_remote_relationship'> = (
  draft,
  { remote_schema: schema, ...definition },
) => {
  const { type_name: type, name } = definition;
  const parent = requireRemoteSchema(draft, schema);
  const key = objectKey('remote_schema_relationship', schema, type, name);
  if (findObject(draft, key)) fail('remoteTypeRelationshipExists', { type, name });
  return putObject(draft, { key, kind: 'remote_schema_relationship', parent, definition });
};

/** Raises `remoteSchemaNotExists`, `remoteTypeRelationshipNotExists`. */
export const updateRemoteTypeRelationship: Handler<'update_remote_schema_remote_relationship'> = (
  draft,
  args,
) => editObject(draft, requireTypeRelationship(draft, args), { definition: args.definition });

/** Raises `remoteSchemaNotExists`, `remoteTypeRelationshipNotExists`. */
export const deleteRemoteTypeRelationship: Handler<'delete_remote_schema_remote_relationship'> = (
  draft,
  args,
) => removeObject(draft, requireTypeRelationship(draft, args));

type TypeArgs = { readonly remote_schema: string; readonly type_name: string; readonly name: string };

/** Returns the key of a relationship of a remote type. Raises `remoteTypeRelationshipNotExists`. */
function requireTypeRelationship(
  draft: Metadata,
  { remote_schema: schema, type_name, name }: TypeArgs,
): string {
  requireRemoteSchema(draft, schema);
  const key = objectKey('remote_schema_relationship', schema, type_name, name);
  return findObject(draft, key) ? key : fail('remoteTypeRelationshipNotExists', { schema, name });
}

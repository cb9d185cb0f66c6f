/** Operations on relationships of a tracked table. Spec: "create_object_relationship" to "set_relationship_comment".
 *  Not here: is there a foreign key, is there a column of that name (resolve/). */
import { fail } from '../../errors/engine-error.ts';
import { dependentsOf, fieldsOf, removeObjects } from '../../metadata/dependencies.ts';
import { removeObject } from '../../metadata/edit.ts';
import { renameObject } from '../../metadata/names.ts';
import { findObject, type ObjectKind } from '../../metadata/objects.ts';
import { printQualified } from '../../metadata/schema/common.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import { printDependents } from '../dependents.ts';
import type { Handler } from './handler.ts';
import { editObject, keyIn, putIn, requireTable, type TableArgs } from './handler.ts';

/** The kinds whose names are fields of the table. No two fields may share a name. */
const FIELDS = [
  'object_relationship',
  'array_relationship',
  'computed_field',
  'remote_relationship',
] as const satisfies readonly ObjectKind[];

/** Raises `relationshipExists`. */
export const createObjectRelationship: Handler<'create_object_relationship'> = (draft, args) =>
  create(draft, 'object_relationship', args);

/** Raises `relationshipExists`. */
export const createArrayRelationship: Handler<'create_array_relationship'> = (draft, args) =>
  create(draft, 'array_relationship', args);

/** Raises `relationshipNotExists`, `cannotDropDependents`. */
export const dropRelationship: Handler<'drop_relationship'> = (draft, args, links) => {
  const key = requireRelationship(draft, args, args.relationship);
  const users = dependentsOf(draft, key, links);
  if (users.length > 0 && !args.cascade) {
    fail('cannotDropDependents', { dependents: printDependents(users) });
  }
  return removeObject(removeObjects(draft, users), key);
};

/** Renames a relationship, also in permissions. Raises `relationshipNotExists`, `renamedRelationshipExists`. */
export const renameRelationship: Handler<'rename_relationship'> = (draft, args, links) => {
  const key = requireRelationship(draft, args, args.name);
  if (args.new_name === args.name) return draft;
  refuseTaken(draft, args);
  return renameObject(draft, key, args.new_name, fieldsOf(draft, links));
};

/** Raises `relationshipNotExists`. */
export const setRelationshipComment: Handler<'set_relationship_comment'> = (draft, args) =>
  editObject(draft, requireRelationship(draft, args, args.name), { comment: args.comment ?? undefined });

type NewRelationship = TableArgs & {
  readonly name: string;
  readonly using: object;
  readonly comment?: string | null;
};

function create(
  draft: Metadata,
  kind: 'object_relationship' | 'array_relationship',
  args: NewRelationship,
): Metadata {
  requireTable(draft, args);
  refuseTaken(draft, args);
  const { name, using, comment } = args;
  const definition = { name, using, ...(typeof comment === 'string' ? { comment } : {}) };
  return putIn(draft, kind, args, { name, definition });
}

/** Arguments that give a field of a table a name: that of a new relationship, or the new name of one. */
export type NamingArgs = TableArgs & { readonly name: string; readonly new_name?: string };

/** Raises the error of `refuseName` when a field in the document has the name. */
export function refuseTaken(draft: Metadata, args: NamingArgs): void {
  const name = args.new_name ?? args.name;
  if (FIELDS.some((kind) => findObject(draft, keyIn(kind, args, name)))) refuseName(args);
}

/** Raises `relationshipExists`, or `renamedRelationshipExists` for a new name. */
export function refuseName({ table, name, new_name: newName }: NamingArgs): never {
  const printed = printQualified(table);
  return newName === undefined
    ? fail('relationshipExists', { table: printed, name })
    : fail('renamedRelationshipExists', { table: printed, name, newName });
}

function requireRelationship(draft: Metadata, args: TableArgs, name: string): string {
  requireTable(draft, args);
  const keys = (['object_relationship', 'array_relationship'] as const).map((kind) =>
    keyIn(kind, args, name),
  );
  const found = keys.find((key) => findObject(draft, key));
  return found ?? fail('relationshipNotExists', { name });
}

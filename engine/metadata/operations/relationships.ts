/** Operations on relationships of tables. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { isRecord } from '../../json/value.ts';
import { GraphqlName, ObjectName, QualifiedName } from '../schema/common.ts';
import {
  ArrayRelationshipUsing,
  ObjectRelationshipUsing,
  RemoteRelationshipDefinition,
} from '../schema/relationship.ts';
import { type TSchema, Type } from '../schema/type.ts';
import { comment, flag } from './arguments.ts';
import { type OperationDeclaration, sourced } from './row.ts';

const remoteRelationship = {
  table: QualifiedName,
  name: GraphqlName,
  definition: RemoteRelationshipDefinition,
};

const relationship = <S extends TSchema>(using: S) => ({
  table: QualifiedName,
  name: GraphqlName,
  using,
  comment,
});

export const RELATIONSHIP_OPERATIONS = {
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
    comment,
  }),
} as const satisfies Record<string, OperationDeclaration>;

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

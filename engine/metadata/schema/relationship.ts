/** Relationships of a table: object (one row) and array (many rows) inside a source, and remote ones to other sources and remote
 *  schemas. `using` has exactly one of its two keys. Spec: "Relationship types"; docs/reference/behaviour/relationships.md, docs/reference/behaviour/remote-schemas.md. */

import { ColumnName, Comment, GraphqlName, nullable, ObjectName, QualifiedName } from './common.ts';
import { columnOf, fieldOf, ownName, ref, secret, withContent } from './marks.ts';
import { oneOf, type Static, Type } from './type.ts';

/** The order in which a nested insert writes the row of the other table. */
export const InsertionOrder = oneOf('before_parent', 'after_parent');
/** The type of a relationship: one row, or many. */
export const RelationshipType = oneOf('object', 'array');

const OtherColumn = columnOf('there', Type.String({ minLength: 1 }));
/** The columns of the other table, by the columns of this one. */
export const ColumnMapping = Type.Record(columnOf('here', Type.String()), OtherColumn);
/** The columns of the other table, by the columns and computed fields of this one. */
const FieldMapping = Type.Record(fieldOf(Type.String()), OtherColumn);

export const ManualConfiguration = Type.Object({
  remote_table: Type.Optional(ref('table', QualifiedName)),
  remote_native_query: Type.Optional(ref('native_query', GraphqlName)),
  column_mapping: ColumnMapping,
  insertion_order: Type.Optional(nullable(InsertionOrder)),
});
export type ManualConfiguration = Static<typeof ManualConfiguration>;

/** A foreign key of another table that refers to this one. */
export const ForeignKeyOn = Type.Object(
  { table: ref('table', QualifiedName), columns: Type.Array(OtherColumn, { minItems: 1 }) },
  { additionalProperties: false },
);
export type ForeignKeyOn = Static<typeof ForeignKeyOn>;

/** A foreign key in canonical form: own columns as a list, columns of another table as ForeignKeyOn. Clients may also write a bare
 *  column and `column`. */
export const ObjectRelationshipUsing = Type.Object(
  {
    foreign_key_constraint_on: Type.Optional(
      Type.Union([Type.Array(ColumnName, { minItems: 1 }), ForeignKeyOn]),
    ),
    manual_configuration: Type.Optional(ManualConfiguration),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);
export type ObjectRelationshipUsing = Static<typeof ObjectRelationshipUsing>;

export const ArrayRelationshipUsing = Type.Object(
  {
    foreign_key_constraint_on: Type.Optional(ForeignKeyOn),
    manual_configuration: Type.Optional(ManualConfiguration),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);
export type ArrayRelationshipUsing = Static<typeof ArrayRelationshipUsing>;

export const ObjectRelationship = Type.Object(
  {
    name: ownName('object_relationship', GraphqlName),
    using: ObjectRelationshipUsing,
    comment: Type.Optional(Comment),
  },
  { additionalProperties: false },
);
export type ObjectRelationship = Static<typeof ObjectRelationship>;

export const ArrayRelationship = Type.Object(
  {
    name: ownName('array_relationship', GraphqlName),
    using: ArrayRelationshipUsing,
    comment: Type.Optional(Comment),
  },
  { additionalProperties: false },
);
export type ArrayRelationship = Static<typeof ArrayRelationship>;

/** The path into a remote schema, `{field: {arguments, field?}}` of any depth. Resolve checks it against the introspection. An
 *  argument may be a constant that the remote schema takes as a key. */
export const RemoteField = secret(
  fieldOf(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }), {
    form: 'variables',
  }),
);

const JoinedFields = Type.Array(fieldOf(Type.String()));
const ToRemoteSchema = Type.Object({
  remote_schema: ref('remote_schema', ObjectName),
  lhs_fields: JoinedFields,
  remote_field: RemoteField,
});

const NestedDefinition = Type.Object(
  {
    to_source: Type.Optional(
      Type.Object({
        source: ref('source', ObjectName),
        table: ref('table', QualifiedName),
        relationship_type: RelationshipType,
        field_mapping: FieldMapping,
      }),
    ),
    to_remote_schema: Type.Optional(ToRemoteSchema),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);
/** The flat form of a relationship to a remote schema, in which a document may be kept. */
const FlatDefinition = Type.Object({ ...ToRemoteSchema.properties, hasura_fields: JoinedFields });

export const RemoteRelationshipDefinition = withContent(NestedDefinition, NestedDefinition, FlatDefinition);

export type RemoteRelationshipDefinition = Static<typeof RemoteRelationshipDefinition>;

export const RemoteRelationship = Type.Object(
  { name: ownName('remote_relationship', GraphqlName), definition: RemoteRelationshipDefinition },
  { additionalProperties: false },
);
export type RemoteRelationship = Static<typeof RemoteRelationship>;

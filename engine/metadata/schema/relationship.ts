/** Relationships of a table: object (one row) and array (many rows) inside a source, and remote ones to other sources and remote
 *  schemas. `using` has exactly one of its two keys. Spec: "Relationship types"; docs/reference/behaviour/relationships.md, docs/reference/behaviour/remote-schemas.md. */

import { ColumnName, Comment, GraphqlName, nullable, ObjectName, QualifiedName } from './common.ts';
import { oneOf, type Static, Type } from './type.ts';

/** The order in which a nested insert writes the row of the other table. */
export const InsertionOrder = oneOf('before_parent', 'after_parent');
/** The type of a relationship: one row, or many. */
export const RelationshipType = oneOf('object', 'array');

/** The columns of the other table, by the columns of this one. */
export const ColumnMapping = Type.Record(Type.String(), ColumnName);

export const ManualConfiguration = Type.Object({
  remote_table: Type.Optional(QualifiedName),
  remote_native_query: Type.Optional(GraphqlName),
  column_mapping: ColumnMapping,
  insertion_order: Type.Optional(nullable(InsertionOrder)),
});
export type ManualConfiguration = Static<typeof ManualConfiguration>;

/** A foreign key of another table that refers to this one. */
export const ForeignKeyOn = Type.Object(
  { table: QualifiedName, columns: Type.Array(ColumnName, { minItems: 1 }) },
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
  { name: GraphqlName, using: ObjectRelationshipUsing, comment: Type.Optional(Comment) },
  { additionalProperties: false },
);
export type ObjectRelationship = Static<typeof ObjectRelationship>;

export const ArrayRelationship = Type.Object(
  { name: GraphqlName, using: ArrayRelationshipUsing, comment: Type.Optional(Comment) },
  { additionalProperties: false },
);
export type ArrayRelationship = Static<typeof ArrayRelationship>;

/** The path into a remote schema, `{field: {arguments, field?}}` of any depth. Resolve checks it against the introspection. */
export const RemoteField = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  additionalProperties: true,
});

export const RemoteRelationshipDefinition = Type.Object(
  {
    to_source: Type.Optional(
      Type.Object({
        source: ObjectName,
        table: QualifiedName,
        relationship_type: RelationshipType,
        field_mapping: ColumnMapping,
      }),
    ),
    to_remote_schema: Type.Optional(
      Type.Object({
        remote_schema: ObjectName,
        lhs_fields: Type.Array(Type.String()),
        remote_field: RemoteField,
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1, maxProperties: 1 },
);

export type RemoteRelationshipDefinition = Static<typeof RemoteRelationshipDefinition>;

export const RemoteRelationship = Type.Object(
  { name: GraphqlName, definition: RemoteRelationshipDefinition },
  { additionalProperties: false },
);
export type RemoteRelationship = Static<typeof RemoteRelationship>;

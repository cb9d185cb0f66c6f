/** Native queries: SQL of the administrator as a root field. `{{name}}` in the code is an argument, which becomes a bound parameter;
 *  rows are of a logical model. Reference: docs/reference/behaviour/functions.md.
 *  Not here: types of rows and permissions (logical-model.ts), parsing the code (resolve/native-query-code.ts). */

import { Comment, GraphqlName, nullable, QualifiedName } from './common.ts';
import { ownName, ref } from './marks.ts';
import { ColumnMapping } from './relationship.ts';
import { type Static, Type } from './type.ts';

/** A relationship of a native query. Its mapping is in `using` itself, next to exactly one of the two targets. */
export const NativeRelationship = Type.Object(
  {
    name: GraphqlName,
    using: Type.Object(
      {
        column_mapping: ColumnMapping,
        remote_table: Type.Optional(ref('table', QualifiedName)),
        remote_native_query: Type.Optional(ref('native_query', GraphqlName)),
        insertion_order: Type.Optional(nullable(Type.String())),
      },
      { additionalProperties: false },
    ),
    comment: Type.Optional(Comment),
  },
  { additionalProperties: false },
);
export type NativeRelationship = Static<typeof NativeRelationship>;

export const NativeQueryArgument = Type.Object(
  {
    type: Type.String({ minLength: 1 }),
    nullable: Type.Optional(Type.Boolean()),
    description: Type.Optional(Comment),
  },
  { additionalProperties: false },
);

export const NativeQuery = Type.Object(
  {
    root_field_name: ownName('native_query', GraphqlName),
    code: Type.String({ minLength: 1 }),
    returns: ref('logical_model', GraphqlName),
    arguments: Type.Optional(Type.Record(Type.String(), NativeQueryArgument)),
    object_relationships: Type.Optional(Type.Array(NativeRelationship)),
    array_relationships: Type.Optional(Type.Array(NativeRelationship)),
    description: Type.Optional(Comment),
  },
  { additionalProperties: false },
);
export type NativeQuery = Static<typeof NativeQuery>;

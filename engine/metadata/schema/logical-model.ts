/** Logical models: named types of rows that no table declares, for native queries to return, with the permissions to read them.
 *  Reference: docs/reference/behaviour/functions.md. Not here: native queries (native-query.ts), the types of fields in a database
 *  (resolve/logical-model.ts). */

import { Comment, GraphqlName, RoleName } from './common.ts';
import { ownName, ref } from './marks.ts';
import { SelectRule } from './permission.ts';
import { type Static, Type } from './type.ts';

const isNullable = Type.Optional(Type.Boolean());

/** A Postgres type by its name, `integer`. The long form adds whether it may be null. */
export const ScalarReference = Type.Object(
  { scalar: Type.String({ minLength: 1 }), nullable: isNullable },
  { additionalProperties: false },
);
/** A field whose value is that of a relationship of the native query. */
export const LogicalModelReference = Type.Object(
  { logical_model: ref('logical_model', GraphqlName), nullable: isNullable },
  { additionalProperties: false },
);
const Single = [Type.String({ minLength: 1 }), ScalarReference, LogicalModelReference] as const;
/** An array inside an array. In Postgres it has the type of an array, so two levels are enough. */
export const NestedArrayType = Type.Object(
  { array: Type.Union([...Single]), nullable: isNullable },
  { additionalProperties: false },
);
export const ArrayType = Type.Object(
  { array: Type.Union([...Single, NestedArrayType]), nullable: isNullable },
  { additionalProperties: false },
);

/** The type of a field. */
export const LogicalModelType = Type.Union([...Single, ArrayType]);
export type LogicalModelType = Static<typeof LogicalModelType>;

/** A field in canonical form: a scalar is its name, with `nullable` next to it. */
export const LogicalModelField = Type.Object(
  {
    name: GraphqlName,
    type: LogicalModelType,
    nullable: isNullable,
    description: Type.Optional(Comment),
  },
  { additionalProperties: false },
);
export type LogicalModelField = Static<typeof LogicalModelField>;

export const LogicalModelPermission = Type.Object(
  { role: RoleName, permission: SelectRule, comment: Type.Optional(Comment) },
  { additionalProperties: false },
);
export type LogicalModelPermission = Static<typeof LogicalModelPermission>;

export const LogicalModel = Type.Object(
  {
    name: ownName('logical_model', GraphqlName),
    description: Type.Optional(Comment),
    fields: Type.Array(LogicalModelField),
    select_permissions: Type.Optional(Type.Array(LogicalModelPermission)),
  },
  { additionalProperties: false },
);
export type LogicalModel = Static<typeof LogicalModel>;

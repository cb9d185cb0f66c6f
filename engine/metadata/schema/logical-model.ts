/** Logical models: named shapes of rows that no table declares, for native queries to return, with a role's permission to
 *  read them. Reference: docs/reference/behaviour/functions.md. Not here: the queries themselves (native-query.ts), what a field's type means
 *  in a database (resolve/logical-model.ts). */

import { Comment, GraphqlName, RoleName } from './common.ts';
import { SelectRule } from './permission.ts';
import { type Static, Type } from './type.ts';

const isNullable = Type.Optional(Type.Boolean());

/** A Postgres type by its name, `integer`; the long form can say that it may be null. */
export const ScalarReference = Type.Object(
  { scalar: Type.String({ minLength: 1 }), nullable: isNullable },
  { additionalProperties: false },
);
/** A field that a relationship of the native query fills. */
export const LogicalModelReference = Type.Object(
  { logical_model: GraphqlName, nullable: isNullable },
  { additionalProperties: false },
);
const Single = [Type.String({ minLength: 1 }), ScalarReference, LogicalModelReference] as const;
export const ArrayType = Type.Object(
  { array: Type.Union([...Single]), nullable: isNullable },
  { additionalProperties: false },
);
/** An array of arrays has the type of its elements' array in Postgres: two levels say all there is to say. */
export const NestedArrayType = Type.Object(
  { array: ArrayType, nullable: isNullable },
  { additionalProperties: false },
);

export const LogicalModelType = Type.Union([...Single, ArrayType, NestedArrayType]);
export type LogicalModelType = Static<typeof LogicalModelType>;

/** Canonical: a scalar is its name, with `nullable` beside it. */
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
    name: GraphqlName,
    description: Type.Optional(Comment),
    fields: Type.Array(LogicalModelField),
    select_permissions: Type.Optional(Type.Array(LogicalModelPermission)),
  },
  { additionalProperties: false },
);
export type LogicalModel = Static<typeof LogicalModel>;

/** SQL functions: tracked as root fields, attached to tables as computed fields.
 *  Spec: "Tracked function constraints"; docs/reference/behaviour/functions.md. */

import { Comment, GraphqlName, nullable, QualifiedName, RoleName } from './common.ts';
import { ownName, ref } from './marks.ts';
import { oneOf, type Static, Type } from './type.ts';

export const FunctionConfiguration = Type.Object({
  custom_name: Type.Optional(GraphqlName),
  custom_root_fields: Type.Optional(
    Type.Object({
      function: Type.Optional(nullable(GraphqlName)),
      function_aggregate: Type.Optional(nullable(GraphqlName)),
    }),
  ),
  /** The name of the json argument that receives the session variables. */
  session_argument: Type.Optional(Type.String()),
  exposed_as: Type.Optional(oneOf('query', 'mutation')),
  response: Type.Optional(
    Type.Object({
      type: oneOf('table', 'inferred'),
      table: Type.Optional(ref('table', QualifiedName)),
    }),
  ),
});

export const TrackedFunction = Type.Object(
  {
    function: ownName('function', QualifiedName),
    configuration: Type.Optional(FunctionConfiguration),
    permissions: Type.Optional(Type.Array(Type.Object({ role: RoleName }))),
    comment: Type.Optional(Comment),
  },
  { additionalProperties: false },
);
export type TrackedFunction = Static<typeof TrackedFunction>;

export const ComputedField = Type.Object(
  {
    name: ownName('computed_field', GraphqlName),
    definition: Type.Object({
      function: ref('sql_function', QualifiedName),
      table_argument: Type.Optional(nullable(Type.String())),
      session_argument: Type.Optional(nullable(Type.String())),
    }),
    comment: Type.Optional(Comment),
  },
  { additionalProperties: false },
);
export type ComputedField = Static<typeof ComputedField>;

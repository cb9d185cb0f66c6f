/** Actions, and the custom types of their arguments and results. Spec: actions.yaml; docs/reference/behaviour/actions.md. */

import {
  Comment,
  ForwardClientHeaders,
  GraphqlName,
  Header,
  QualifiedName,
  RequestTransform,
  ResponseTransform,
  RoleName,
  UrlTemplate,
} from './common.ts';
import { columnOf, ownName, ref } from './marks.ts';
import { Seconds } from './number.ts';
import { oneOf, type Static, Type } from './type.ts';

const TypeName = ownName('custom_type', GraphqlName);
const TypeReference = ref('custom_type', Type.String({ minLength: 1 }), { form: 'type' });

export const ActionDefinition = Type.Object({
  type: Type.Optional(oneOf('mutation', 'query')),
  kind: Type.Optional(oneOf('synchronous', 'asynchronous', '')),
  handler: UrlTemplate,
  arguments: Type.Optional(
    Type.Array(
      Type.Object({ name: GraphqlName, type: TypeReference, description: Type.Optional(Type.String()) }),
    ),
  ),
  output_type: TypeReference,
  headers: Type.Optional(Type.Array(Header)),
  forward_client_headers: Type.Optional(ForwardClientHeaders),
  ignored_client_headers: Type.Optional(Type.Array(Type.String())),
  timeout: Type.Optional(Seconds),
  request_transform: Type.Optional(RequestTransform),
  response_transform: Type.Optional(ResponseTransform),
});

export const Action = Type.Object({
  name: GraphqlName,
  definition: ActionDefinition,
  comment: Type.Optional(Comment),
  permissions: Type.Optional(Type.Array(Type.Object({ role: RoleName, comment: Type.Optional(Comment) }))),
});
export type Action = Static<typeof Action>;

const Field = Type.Object({
  name: GraphqlName,
  type: TypeReference,
  description: Type.Optional(Comment),
  arguments: Type.Optional(Type.Unknown()),
});

/** A relationship from the objects of a custom type to a table. Absent `source`: `default`. */
export const TypeRelationship = Type.Object({
  name: GraphqlName,
  type: oneOf('object', 'array'),
  remote_table: ref('table', QualifiedName),
  source: Type.Optional(ref('source', Type.String(), { absent: 'default' })),
  field_mapping: Type.Record(Type.String(), columnOf('there', Type.String())),
});
export type TypeRelationship = Static<typeof TypeRelationship>;

export const CustomObject = Type.Object({
  name: TypeName,
  description: Type.Optional(Comment),
  fields: Type.Array(Field),
  relationships: Type.Optional(Type.Array(TypeRelationship)),
});

export const CustomTypes = Type.Object({
  scalars: Type.Optional(Type.Array(Type.Object({ name: TypeName, description: Type.Optional(Comment) }))),
  enums: Type.Optional(
    Type.Array(
      Type.Object({
        name: TypeName,
        description: Type.Optional(Comment),
        values: Type.Array(
          Type.Object({
            value: GraphqlName,
            description: Type.Optional(Comment),
            is_deprecated: Type.Optional(Type.Boolean()),
          }),
        ),
      }),
    ),
  ),
  input_objects: Type.Optional(
    Type.Array(
      Type.Object({ name: TypeName, description: Type.Optional(Comment), fields: Type.Array(Field) }),
    ),
  ),
  objects: Type.Optional(Type.Array(CustomObject)),
});
export type CustomTypes = Static<typeof CustomTypes>;

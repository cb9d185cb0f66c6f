/** Remote GraphQL schemas that are part of the engine's schema. Spec: "Remote schema definition"; docs/reference/behaviour/remote-schemas.md. */

import {
  Comment,
  ForwardClientHeaders,
  GraphqlName,
  Header,
  nullable,
  ObjectName,
  RoleName,
  UrlFile,
  UrlTemplate,
  UrlValue,
  UrlVariable,
} from './common.ts';
import { ownName, secret } from './marks.ts';
import { Seconds } from './number.ts';
import { RemoteRelationship } from './relationship.ts';
import { type Static, Type } from './type.ts';

const NameMapping = Type.Record(Type.String(), GraphqlName);

export const RemoteTypeNames = Type.Object({
  prefix: Type.Optional(nullable(Type.String())),
  suffix: Type.Optional(nullable(Type.String())),
  mapping: Type.Optional(NameMapping),
});
export const RemoteFieldNames = Type.Object({
  parent_type: Type.String(),
  prefix: Type.Optional(nullable(Type.String())),
  suffix: Type.Optional(nullable(Type.String())),
  mapping: Type.Optional(NameMapping),
});

export const RemoteSchemaDefinition = Type.Object({
  url: Type.Optional(UrlTemplate),
  url_from_env: Type.Optional(UrlVariable),
  url_from_value: Type.Optional(UrlValue),
  url_from_file: Type.Optional(UrlFile),
  headers: Type.Optional(Type.Array(Header)),
  forward_client_headers: Type.Optional(ForwardClientHeaders),
  timeout_seconds: Type.Optional(Seconds),
  customization: Type.Optional(
    Type.Object({
      root_fields_namespace: Type.Optional(nullable(GraphqlName)),
      type_names: Type.Optional(RemoteTypeNames),
      field_names: Type.Optional(Type.Array(RemoteFieldNames)),
    }),
  ),
});

export type RemoteSchemaDefinition = Static<typeof RemoteSchemaDefinition>;

export const RemoteSchemaPermission = Type.Object({
  role: RoleName,
  /** The part of the remote schema that the role sees, as SDL. Arguments may have `@preset`. */
  definition: Type.Object({ schema: secret(Type.String({ minLength: 1 })) }),
  comment: Type.Optional(Comment),
});

export type RemoteSchemaPermission = Static<typeof RemoteSchemaPermission>;

export const RemoteSchema = Type.Object({
  name: ownName('remote_schema', ObjectName),
  definition: RemoteSchemaDefinition,
  comment: Type.Optional(Comment),
  permissions: Type.Optional(Type.Array(RemoteSchemaPermission)),
  remote_relationships: Type.Optional(
    Type.Array(Type.Object({ type_name: Type.String(), relationships: Type.Array(RemoteRelationship) })),
  ),
});
export type RemoteSchema = Static<typeof RemoteSchema>;

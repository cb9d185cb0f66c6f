/** Query collections, the allow list of collections, and REST endpoints that run their queries.
 *  Spec: query_collections.yaml, allow_list.yaml, rest_endpoints.yaml. */

import { Comment, ObjectName, RoleName } from './common.ts';
import { type Static, Type } from './type.ts';

/** A stored GraphQL document. */
export const CollectionQuery = Type.Object(
  { name: ObjectName, query: Type.String({ minLength: 1 }) },
  { additionalProperties: false },
);
export type CollectionQuery = Static<typeof CollectionQuery>;

export const QueryCollection = Type.Object(
  {
    name: ObjectName,
    comment: Type.Optional(Comment),
    definition: Type.Object({ queries: Type.Array(CollectionQuery) }),
  },
  { additionalProperties: false },
);
export type QueryCollection = Static<typeof QueryCollection>;

/** The roles of an entry: every role, or the listed ones. */
export const AllowListScope = Type.Union([
  Type.Object({ global: Type.Literal(true) }, { additionalProperties: false }),
  Type.Object(
    { global: Type.Literal(false), roles: Type.Array(RoleName, { minItems: 1 }) },
    { additionalProperties: false },
  ),
]);
export type AllowListScope = Static<typeof AllowListScope>;

export const AllowListEntry = Type.Object(
  { collection: ObjectName, scope: Type.Optional(AllowListScope) },
  { additionalProperties: false },
);
export type AllowListEntry = Static<typeof AllowListEntry>;

export const RestMethod = Type.Union([
  Type.Literal('GET'),
  Type.Literal('POST'),
  Type.Literal('PUT'),
  Type.Literal('PATCH'),
  Type.Literal('DELETE'),
]);
export type RestMethod = Static<typeof RestMethod>;

export const RestEndpoint = Type.Object(
  {
    name: ObjectName,
    url: Type.String({ minLength: 1 }),
    methods: Type.Array(RestMethod, { minItems: 1 }),
    comment: Type.Optional(Comment),
    definition: Type.Object({
      query: Type.Object({ collection_name: ObjectName, query_name: ObjectName }),
    }),
  },
  { additionalProperties: false },
);
export type RestEndpoint = Static<typeof RestEndpoint>;

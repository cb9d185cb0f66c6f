/** Query collections, the allow list of collections, and REST endpoints that run their queries.
 *  Spec: query_collections.yaml, allow_list.yaml, rest_endpoints.yaml. */

import { fail } from '../../errors/engine-error.ts';
import { Comment, ObjectName, RoleName } from './common.ts';
import { ownName, ref } from './marks.ts';
import { oneOf, type Static, Type } from './type.ts';

/** A stored GraphQL document. */
export const CollectionQuery = Type.Object(
  { name: ObjectName, query: Type.String({ minLength: 1 }) },
  { additionalProperties: false },
);
export type CollectionQuery = Static<typeof CollectionQuery>;

export const QueryCollection = Type.Object(
  {
    name: ownName('query_collection', ObjectName),
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

/** The scope in the arguments of an operation, which `checkScope` refuses with a sentence of its own. */
export const GivenScope = Type.Object({
  global: Type.Boolean(),
  roles: Type.Optional(Type.Array(RoleName)),
});

/** Raises `parseFailed` at `scope`, and at `scope.roles` for an empty list. */
export function checkScope({ scope }: { readonly scope?: Static<typeof GivenScope> }): void {
  if (!scope) return;
  const refuse = (text: string, ...path: readonly string[]) =>
    fail('parseFailed', { text }, { path: ['scope', ...path] });
  const { global: isGlobal, roles } = scope;
  if (isGlobal) {
    if (roles) refuse('roles are not allowed when global is true');
    return;
  }
  if (!roles) refuse('key "roles" not found');
  if (roles?.length === 0) refuse('parsing NonEmpty failed, unexpected empty list', 'roles');
  if (new Set(roles).size !== roles?.length) refuse('duplicate roles are not allowed');
}

/** Returns the scope of arguments that were checked. */
export function scopeOf({ global: isGlobal, roles = [] }: Static<typeof GivenScope>): AllowListScope {
  return isGlobal ? { global: true } : { global: false, roles };
}

export const AllowListEntry = Type.Object(
  { collection: ref('query_collection', ObjectName), scope: Type.Optional(AllowListScope) },
  { additionalProperties: false },
);
export type AllowListEntry = Static<typeof AllowListEntry>;

export const RestMethod = oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE');
export type RestMethod = Static<typeof RestMethod>;

export const RestEndpoint = Type.Object(
  {
    name: ObjectName,
    url: Type.String({ minLength: 1 }),
    methods: Type.Array(RestMethod, { minItems: 1 }),
    comment: Type.Optional(Comment),
    definition: Type.Object({
      query: Type.Object({
        collection_name: ref('query_collection', ObjectName),
        query_name: ref('query', ObjectName),
      }),
    }),
  },
  { additionalProperties: false },
);
export type RestEndpoint = Static<typeof RestEndpoint>;

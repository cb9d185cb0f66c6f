/** REQUEST_DIRECTIVES: the directives that a request may have, one row each: where they are allowed and the types of their arguments. Validation
 *  and planning read it. Not here: what `@skip` and `@include` leave out (selection.ts). Reference: docs/reference/behaviour/queries.md,
 *  "Documents". */
import { GraphQLBoolean, type GraphQLInputType, GraphQLInt, GraphQLNonNull } from 'graphql';

/** An internal directive: it allows one live query to stand for several. */
export const MANY_ROOTS = '_multiple_top_level_fields';

/** The positions of a document that may have directives, as error messages call them. */
export const POSITIONS = {
  field: 'a field',
  fragment: 'an inline fragment',
  variable: 'a variable definition',
  query: 'a query',
  mutation: 'a mutation',
  subscription: 'a subscription',
} as const;

export type DirectivePosition = keyof typeof POSITIONS;

type DirectiveRow = {
  readonly on: readonly DirectivePosition[];
  readonly args: Readonly<Record<string, { readonly type: GraphQLInputType; readonly isOptional: boolean }>>;
};

/** The type of the condition of `@skip` and `@include`. */
export const CONDITION = new GraphQLNonNull(GraphQLBoolean);

const SELECTIONS = {
  on: ['field', 'fragment'],
  args: { if: { type: CONDITION, isOptional: false } },
} as const satisfies DirectiveRow;

/** The engine ignores `@cached`, which is for caching proxies. */
export const REQUEST_DIRECTIVES: Readonly<Record<string, DirectiveRow>> = {
  include: SELECTIONS,
  skip: SELECTIONS,
  cached: {
    on: ['query'],
    args: {
      ttl: { type: new GraphQLNonNull(GraphQLInt), isOptional: true },
      refresh: { type: CONDITION, isOptional: true },
    },
  },
  [MANY_ROOTS]: { on: ['subscription'], args: {} },
};

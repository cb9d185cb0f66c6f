/** The types of docs-coordinates.js for the tests. */
import type { GraphQLNamedType, GraphQLSchema } from 'graphql';

type Coordinate = { readonly type: string; readonly field?: string };
type Member = { readonly name: string };

export function foundAt(
  schema: GraphQLSchema,
  coordinate: Coordinate,
): { readonly type?: GraphQLNamedType; readonly member?: Member };
export function membersIn(type: GraphQLNamedType): readonly Member[];
export function relatedTo(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
): readonly (readonly [title: string, names: readonly string[]])[];
export function defaultOf(member: Member): string | undefined;

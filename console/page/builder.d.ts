/** The types of builder.js for the tests. */
import type { FieldNode, GraphQLArgument, GraphQLField, OperationDefinitionNode } from 'graphql';

type Owner = OperationDefinitionNode | FieldNode;
type Field = GraphQLField<unknown, unknown>;

export function operationIn(given: { readonly query: string; readonly operationName?: string }): {
  readonly operation?: OperationDefinitionNode | null;
  readonly problem?: string;
};
export function fieldsOf(owner: Owner | null): readonly FieldNode[];
export function newOperation(kind: string, field: Field): string;
export function withField(text: string, owner: Owner, field: Field): string;
export function withoutField(text: string, owner: Owner, field: FieldNode): string;
export function withArgument(text: string, node: FieldNode, argument: GraphQLArgument): string;
export function withoutArgument(text: string, node: FieldNode, name: string): string;

/** The link from a GraphQL definition back to what it stands for, kept in `extensions`: planning reads it instead of
 *  looking names up a second time. One typed writer, one typed reader a kind of definition. */

import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLFieldConfig,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLScalarType,
} from 'graphql';
import type { AggregateFunction, PredicateFunction } from '../catalog/aggregates.ts';
import type { OperatorName } from '../catalog/operators.ts';
import type { Scalar } from '../catalog/scalars.ts';
import type { PgType } from '../catalog/types.ts';
import type {
  CustomField,
  JoinKey,
  NativeArgument,
  RemoteStep,
  ResolvedAction,
  ResolvedArgument,
  ResolvedColumn,
  ResolvedComputedField,
  ResolvedEnum,
  ResolvedFunction,
  ResolvedRelationship,
  ResolvedRemoteSchema,
  ResolvedTable,
} from '../resolve/types.ts';
import type { UpstreamField, UpstreamSchema } from '../resolve/upstream.ts';

/** The values of an array type. Unlike any other list it is one value to Postgres, and may be given as its text. */
export class ArrayType extends GraphQLList<GraphQLNonNull<ValueType>> {}

/** What a value may be of. */
export type ValueType = GraphQLScalarType | GraphQLEnumType | ArrayType;

/** What an output field stands for. */
export type FieldOrigin =
  | { readonly kind: 'rows' | 'row' | 'stream'; readonly table: ResolvedTable }
  /** Holds the roots of a source. */
  | { readonly kind: 'namespace' }
  | { readonly kind: 'placeholder' }
  | { readonly kind: 'column'; readonly column: ResolvedColumn }
  | RelationshipOrigin
  | { readonly kind: 'computed'; readonly table: ResolvedTable; readonly field: ResolvedComputedField }
  | { readonly kind: 'function'; readonly fn: ResolvedFunction; readonly table: ResolvedTable }
  /** Of a remote schema; `part` is what the role sees of it. */
  | {
      readonly kind: 'remote';
      readonly remote: ResolvedRemoteSchema;
      readonly part: UpstreamSchema;
      readonly field: UpstreamField;
    }
  | JoinedOrigin
  | AggregateOrigin
  | ConnectionOrigin
  | { readonly kind: MutationKind; readonly table: ResolvedTable }
  | { readonly kind: 'affected-rows' }
  /** An action; where the answer to an asynchronous one is found; a value in an answer. */
  | { readonly kind: 'action' | 'action-result'; readonly action: ResolvedAction }
  | { readonly kind: 'output'; readonly field: CustomField }
  | { readonly kind: 'returning'; readonly table: ResolvedTable }
  /** Of a subgraph of a federated graph. */
  | { readonly kind: 'service' }
  | { readonly kind: 'sdl' }
  | { readonly kind: 'entities' };

/** Found elsewhere, by values of what it is a field of. */
export type JoinedOrigin = {
  readonly kind: 'joined';
  readonly keys: readonly JoinKey[];
  readonly to: RowsJoinOrigin | RemoteJoinOrigin;
};

/** Rows of another source; `related` joins them to rows of keys, whose columns are of these types. */
export type RowsJoinOrigin = {
  readonly kind: 'rows';
  readonly keyTypes: readonly PgType[];
  readonly related: RelationshipOrigin | RelationshipAggregate;
};

/** What a remote schema has at the end of the steps; `part` is what the role sees of it. */
export type RemoteJoinOrigin = {
  readonly kind: 'remote';
  readonly remote: ResolvedRemoteSchema;
  readonly part: UpstreamSchema;
  readonly steps: readonly RemoteStep[];
};

/** Rows taken together (of a table, a relationship, a call), and the parts of what is told about them. */
export type AggregateOrigin =
  | { readonly kind: 'rows-aggregate' | 'rows-groups'; readonly table: ResolvedTable }
  | { readonly kind: 'group-keys' }
  | RelationshipAggregate
  | { readonly kind: 'function-aggregate'; readonly fn: ResolvedFunction; readonly table: ResolvedTable }
  | { readonly kind: 'aggregate' | 'count' }
  | { readonly kind: 'nodes'; readonly table: ResolvedTable }
  | { readonly kind: 'aggregate-function'; readonly fn: AggregateFunction };

/** Rows in pages, the parts of a page, and objects found by their id. */
export type ConnectionOrigin =
  | { readonly kind: 'connection'; readonly table: ResolvedTable }
  | { readonly kind: 'edges' | 'edge-node'; readonly table: ResolvedTable }
  | {
      readonly kind: 'relationship-connection';
      readonly relationship: ResolvedRelationship;
      readonly target: ResolvedTable;
    }
  | { readonly kind: 'function-connection'; readonly fn: ResolvedFunction; readonly table: ResolvedTable }
  | { readonly kind: 'node' }
  | { readonly kind: 'page-info' | 'cursor' }
  | { readonly kind: 'page-info-part'; readonly part: PageInfoPart }
  | { readonly kind: 'node-id'; readonly table: ResolvedTable; readonly key: readonly ResolvedColumn[] };

export const PAGE_INFO = ['endCursor', 'hasNextPage', 'hasPreviousPage', 'startCursor'] as const;
export type PageInfoPart = (typeof PAGE_INFO)[number];

export type RelationshipOrigin = {
  readonly kind: 'relationship';
  readonly relationship: ResolvedRelationship;
  readonly target: ResolvedTable;
};

export type RelationshipAggregate = {
  readonly kind: 'relationship-aggregate';
  readonly relationship: ResolvedRelationship;
  readonly target: ResolvedTable;
};

export type MutationKind =
  | 'insert'
  | 'insert-one'
  | 'update'
  | 'update-by-pk'
  | 'update-many'
  | 'delete'
  | 'delete-by-pk';

/** What a field of an input object stands for. */
export type InputOrigin =
  | { readonly kind: 'and' | 'or' | 'not' }
  | { readonly kind: 'column'; readonly column: ResolvedColumn }
  | {
      readonly kind: 'relationship';
      readonly relationship: ResolvedRelationship;
      readonly target: ResolvedTable;
    }
  | { readonly kind: 'computed'; readonly table: ResolvedTable; readonly field: ResolvedComputedField }
  | { readonly kind: 'argument'; readonly argument: ResolvedArgument }
  | { readonly kind: 'native-argument'; readonly argument: NativeArgument }
  /** In an order: by a value over the rows of an array relationship or of a computed field. */
  | RelationshipAggregate
  | {
      readonly kind: 'computed-aggregate';
      readonly table: ResolvedTable;
      readonly field: ResolvedComputedField;
      readonly target: ResolvedTable;
    }
  | { readonly kind: 'count' }
  /** In the order of groups. */
  | { readonly kind: 'group-keys' | 'group-aggregate' }
  | { readonly kind: 'aggregate-function'; readonly fn: AggregateFunction }
  /** The conditions on values over the rows of an array relationship, and one of them. */
  | {
      readonly kind: 'aggregate-predicates';
      readonly relationship: ResolvedRelationship;
      readonly target: ResolvedTable;
    }
  | { readonly kind: 'aggregate-predicate'; readonly fn: PredicateFunction }
  /** A computed field that returns rows of `target`. */
  | {
      readonly kind: 'computed-rows';
      readonly table: ResolvedTable;
      readonly field: ResolvedComputedField;
      readonly target: ResolvedTable;
    }
  /** Beside the operators or the ordering of a computed field: what it is called with. */
  | { readonly kind: 'call-arguments' }
  | { readonly kind: 'operator'; readonly operator: OperatorName }
  /** The casts of a column, and one of them: conditions on its value as another type. */
  | { readonly kind: 'casts' }
  | { readonly kind: 'cast'; readonly to: PgType };

/** The object type of that name, if its objects are Nodes. */
export type FindNodeType = (name: string) => GraphQLObjectType | undefined;

/** What an object, an interface or a union of a remote schema stands for. */
export type RemoteTypeOrigin = {
  /** The remote's. */
  readonly name: string;
  /** Objects a value may be of, by the remote's names. */
  readonly possible: ReadonlySet<string>;
  /** Another type of the same remote schema, by our name. */
  readonly find: (name: string) => GraphQLCompositeType | undefined;
};

/** Our fields have neither a parent value nor a context: nothing ever resolves them. */
export type FieldConfig = GraphQLFieldConfig<unknown, unknown>;
export type FieldMap = Record<string, FieldConfig>;

const KEY = 'pergola';
const COUNT = 'pergolaCount';
const CONDITION = 'pergolaCondition';

type Extensible = { readonly extensions: Readonly<Record<string, unknown>> };

export const fieldExtensions = (origin: FieldOrigin) => ({ [KEY]: origin });
export const inputExtensions = (origin: InputOrigin) => ({ [KEY]: origin });
/** Of an input object whose fields are conditions. */
export const conditionExtensions = { [CONDITION]: true };
/** Of a `limit` or `offset` argument. */
export const countExtensions = { [COUNT]: true };
export const scalarExtensions = (scalar: Scalar) => ({ [KEY]: scalar });

export const nodeExtensions = (find: FindNodeType) => ({ [KEY]: find });
export const remoteTypeExtensions = (origin: RemoteTypeOrigin) => ({ [KEY]: origin });
export const enumExtensions = (resolved: ResolvedEnum) => ({ [KEY]: resolved });

export function fieldOrigin(field: GraphQLField<unknown, unknown> | FieldConfig): FieldOrigin {
  return required(field as Extensible & { readonly name?: string }) as FieldOrigin;
}

export function inputOrigin(field: GraphQLInputField | GraphQLArgument): InputOrigin {
  return required(field) as InputOrigin;
}

export function isCount(argument: GraphQLArgument): boolean {
  return argument.extensions[COUNT] === true;
}

export function isCondition(type: GraphQLInputObjectType): boolean {
  return type.extensions[CONDITION] === true;
}

/** The objects of an interface of our own. */
export function findNodeType(type: GraphQLInterfaceType): FindNodeType {
  return required(type) as FindNodeType;
}

/** Undefined for types of our own. */
export function remoteTypeOrigin(type: GraphQLCompositeType): RemoteTypeOrigin | undefined {
  const origin = type.extensions[KEY];
  return typeof origin === 'object' ? (origin as RemoteTypeOrigin) : undefined;
}

/** How a scalar's values are read; undefined for a scalar of GraphQL's own. */
export function scalarOrigin(type: GraphQLScalarType): Scalar | undefined {
  return type.extensions[KEY] as Scalar | undefined;
}

/** The rows an enum stands for; undefined for an enum of names (columns, constraints, directions). */
export function enumOrigin(type: GraphQLEnumType): ResolvedEnum | undefined {
  return type.extensions[KEY] as ResolvedEnum | undefined;
}

function required(definition: Extensible & { readonly name?: string }): unknown {
  const origin = definition.extensions[KEY];
  if (origin === undefined) throw new Error(`${definition.name} has no origin`);
  return origin;
}

/** The link from a GraphQL definition to the object it was built from, kept in `extensions`, so that planning does not look up
 *  names a second time. Each kind of definition has one typed writer and one typed reader. Not here: building the definitions
 *  (its siblings). */

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
import type { ResolvedAction } from '../resolve/model/action.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { CustomField } from '../resolve/model/custom-type.ts';
import type { ResolvedEnum } from '../resolve/model/enum.ts';
import type { ResolvedArgument, ResolvedComputedField, ResolvedFunction } from '../resolve/model/function.ts';
import type { NativeArgument } from '../resolve/model/native-query.ts';
import type { ResolvedRelationship } from '../resolve/model/relationship.ts';
import type { ResolvedRemoteSchema } from '../resolve/model/remote-schema.ts';
import type { RemoteStep } from '../resolve/model/remote-step.ts';
import type { JoinKey, ResolvedTable } from '../resolve/model/table.ts';
import type { UpstreamField, UpstreamSchema } from '../resolve/upstream.ts';

/** A list type for a Postgres array. Unlike other lists it is one value in Postgres, and a client may give it as text. */
export class ArrayType extends GraphQLList<GraphQLNonNull<ValueType>> {}

/** The GraphQL types of scalar values. */
export type ValueType = GraphQLScalarType | GraphQLEnumType | ArrayType;

/** The object that an output field was built from. */
export type FieldOrigin =
  | { readonly kind: 'rows' | 'row' | 'stream'; readonly table: ResolvedTable }
  /** Holds the root fields of a source. */
  | { readonly kind: 'namespace' }
  | { readonly kind: 'placeholder' }
  | { readonly kind: 'column'; readonly column: ResolvedColumn }
  | RelationshipOrigin
  | { readonly kind: 'computed'; readonly table: ResolvedTable; readonly field: ResolvedComputedField }
  | { readonly kind: 'function'; readonly fn: ResolvedFunction; readonly table: ResolvedTable }
  /** A field of a remote schema; `part` is the part of it that the role sees. */
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
  /** An action, the result of an asynchronous action, or a value in a response. */
  | { readonly kind: 'action' | 'action-result'; readonly action: ResolvedAction }
  | { readonly kind: 'output'; readonly field: CustomField }
  | { readonly kind: 'returning'; readonly table: ResolvedTable }
  /** A field of a subgraph in a federated graph. */
  | { readonly kind: 'service' }
  | { readonly kind: 'sdl' }
  | { readonly kind: 'entities' };

/** A field found by a join, from values of the object it belongs to. */
export type JoinedOrigin = {
  readonly kind: 'joined';
  readonly keys: readonly JoinKey[];
  readonly to: RowsJoinOrigin | RemoteJoinOrigin;
};

/** Rows of another source. `related` joins them to rows of keys, whose columns have the types `keyTypes`. */
export type RowsJoinOrigin = {
  readonly kind: 'rows';
  readonly keyTypes: readonly PgType[];
  readonly related: RelationshipOrigin | RelationshipAggregate;
};

/** The value a remote schema has at the end of the steps; `part` is the part of it that the role sees. */
export type RemoteJoinOrigin = {
  readonly kind: 'remote';
  readonly remote: ResolvedRemoteSchema;
  readonly part: UpstreamSchema;
  readonly steps: readonly RemoteStep[];
};

/** Aggregates over rows of a table, a relationship or a call, and the parts of an aggregate. */
export type AggregateOrigin =
  | { readonly kind: 'rows-aggregate' | 'rows-groups'; readonly table: ResolvedTable }
  | { readonly kind: 'group-keys' }
  | RelationshipAggregate
  | { readonly kind: 'function-aggregate'; readonly fn: ResolvedFunction; readonly table: ResolvedTable }
  | { readonly kind: 'aggregate' | 'count' }
  | { readonly kind: 'nodes'; readonly table: ResolvedTable }
  | { readonly kind: 'aggregate-function'; readonly fn: AggregateFunction };

/** Pages of rows, the parts of a page, and objects found by their id. */
type ConnectionOrigin =
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

type RelationshipOrigin = {
  readonly kind: 'relationship';
  readonly relationship: ResolvedRelationship;
  readonly target: ResolvedTable;
};

type RelationshipAggregate = {
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

/** The object that a field of an input object was built from. */
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
  /** An order by an aggregate over an array relationship or a computed field. */
  | RelationshipAggregate
  | {
      readonly kind: 'computed-aggregate';
      readonly table: ResolvedTable;
      readonly field: ResolvedComputedField;
      readonly target: ResolvedTable;
    }
  | { readonly kind: 'count' }
  /** An order of groups. */
  | { readonly kind: 'group-keys' | 'group-aggregate' }
  | { readonly kind: 'aggregate-function'; readonly fn: AggregateFunction }
  /** Conditions on aggregates over an array relationship, and one of them. */
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
  /** The arguments of a computed field, beside its operators or its ordering. */
  | { readonly kind: 'call-arguments' }
  | { readonly kind: 'operator'; readonly operator: OperatorName }
  /** The casts of a column, and one of them: conditions on its value as another type. */
  | { readonly kind: 'casts' }
  | { readonly kind: 'cast'; readonly to: PgType };

/** Returns the object type of that name, if its objects are Nodes. */
type FindNodeType = (name: string) => GraphQLObjectType | undefined;

/** The upstream type that an object, an interface or a union of a remote schema was built from. */
export type RemoteTypeOrigin = {
  /** The name of the type in the remote schema. */
  readonly name: string;
  /** The remote schema's names of the object types that a value may have. */
  readonly possible: ReadonlySet<string>;
  /** Returns another type of the same remote schema by its name in this schema. */
  readonly find: (name: string) => GraphQLCompositeType | undefined;
};

/** The configuration of a field. There is no parent value and no context, because no resolver runs. */
export type FieldConfig = GraphQLFieldConfig<unknown, unknown>;
export type FieldMap = Record<string, FieldConfig>;

const KEY = 'pergola';
const FORWARDED = Symbol('forwarded');
const COUNT = 'pergolaCount';
const NULL = 'pergolaNull';
const CONDITION = 'pergolaCondition';

type Extensible = { readonly extensions: Readonly<Record<string, unknown>> };

export const fieldExtensions = (origin: FieldOrigin) => ({ [KEY]: origin });
export const inputExtensions = (origin: InputOrigin) => ({ [KEY]: origin });
/** Marks an input object whose fields are conditions. */
export const conditionExtensions = { [CONDITION]: true };
/** Marks a `limit` or `offset` argument. */
export const countExtensions = { [COUNT]: true };
/** Marks a scalar in arguments of a remote schema: the service judges its values. */
export const forwardedExtensions = { [FORWARDED]: true };
/** Marks a field or argument of a nullable type that may be left out but not be null. */
export const nullRefused = { [NULL]: 'refused' };
/** Marks a field of a condition that may be null. */
export const nullTaken = { [NULL]: 'taken' };
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

/** True when null is refused although the type of the field is nullable. Conditions refuse it unless the field is marked, since a
 *  variable without a value must not make a condition true. */
export function refusesNull(
  { extensions }: GraphQLInputField | GraphQLArgument,
  parent: GraphQLInputObjectType | null,
): boolean {
  if (extensions[NULL] !== undefined) return extensions[NULL] === 'refused';
  return parent !== null && isCondition(parent);
}

/** Returns the function that finds objects of the interface `Node`. */
export function findNodeType(type: GraphQLInterfaceType): FindNodeType {
  return required(type) as FindNodeType;
}

/** Returns the origin of a remote type; undefined for other types. */
export function remoteTypeOrigin(type: GraphQLCompositeType): RemoteTypeOrigin | undefined {
  const origin = type.extensions[KEY];
  return typeof origin === 'object' ? (origin as RemoteTypeOrigin) : undefined;
}

/** Returns the Postgres scalar of a GraphQL scalar; undefined for GraphQL's own. An `Int` that is the type of a column has one. */
export function scalarOrigin(type: GraphQLScalarType): Scalar | undefined {
  return type.extensions[KEY] as Scalar | undefined;
}

/** True for scalars whose values another service judges. */
export function isForwarded(type: GraphQLScalarType): boolean {
  return type.extensions[FORWARDED] === true;
}

/** Returns the enum table of an enum; undefined for enums of names (columns, constraints, directions). */
export function enumOrigin(type: GraphQLEnumType): ResolvedEnum | undefined {
  return type.extensions[KEY] as ResolvedEnum | undefined;
}

function required(definition: Extensible & { readonly name?: string }): unknown {
  const origin = definition.extensions[KEY];
  if (origin === undefined) throw new Error(`${definition.name} has no origin`);
  return origin;
}

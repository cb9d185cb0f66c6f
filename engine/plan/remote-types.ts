/** The parts of a Plan that come from outside its statements: requests to remote schemas, and joins, which find what belongs to
 *  the keys in an earlier response. Pure data, built by remote-schema.ts, remote-relationship.ts, remote-keys.ts and
 *  join-places.ts, run by execute/. Not here: calls of actions (action-types.ts), the Plan itself (types.ts). */
import type { ValueNode } from 'graphql';
import type { ResolvedRemoteSchema, StepValue } from '../resolve/types.ts';
import type { Preset, UpstreamSchema } from '../resolve/upstream.ts';
import type { QueryRoot } from './query-types.ts';

/** The document a remote schema is asked; all its fields at one level of the request. */
export type RemoteCall = {
  readonly kind: 'remote';
  readonly remote: ResolvedRemoteSchema;
  /** What the role sees of it, with its presets. */
  readonly part: UpstreamSchema;
  readonly isRepeatable: boolean;
  readonly operationName: string | null;
  readonly query: string;
  readonly variables: readonly RemoteVariable[];
  /** In the order of the document. */
  readonly fields: readonly RemoteField[];
};

export type RemoteVariable =
  /** The client's, under its own name; `type` where presets go into its value. */
  | { readonly kind: 'given'; readonly name: string; readonly type: string | null }
  | { readonly kind: 'preset'; readonly name: string; readonly preset: Preset };

/** A root field of the sent document. */
export type RemoteField = {
  /** Its name in the answer, and the whole way to it in ours. */
  readonly path: readonly string[];
  /** A value is passed on whatever it is: the reference does, and services rely on it. */
  readonly shape: 'object' | 'list' | 'any';
  readonly isNullable: boolean;
  /** Where names of types stand in it that are other names here; null: nowhere. */
  readonly typeNames: TypeNamePlaces | null;
  /** Where keys stand in it for what is found elsewhere. */
  readonly places: JoinPlaces | null;
};

export type TypeNamePlaces = {
  readonly own: ReadonlySet<string>;
  readonly inner: ReadonlyMap<string, TypeNamePlaces>;
};

/** Where in a JSON value there are keys, by response name: fields of its objects that are a join of that number, and fields
 *  with such objects inside. Lists are looked through. */
export type JoinPlaces = {
  readonly own: ReadonlyMap<string, number>;
  readonly inner: ReadonlyMap<string, JoinPlaces>;
  /** In what a remote schema answers: members that hold one value each of the keys they belong to. */
  readonly spread?: ReadonlyMap<string, SpreadKeys>;
};

/** The values a field is joined by, each a member of the object. */
export type SpreadKeys = {
  /** The field. */
  readonly alias: string;
  readonly join: number;
  readonly names: readonly string[];
  /** Of those the first, which is where the field stands; where there is none, a member that says no more than that. */
  readonly first: string;
};

export type RemoteJoin = RowsJoin | RemoteSchemaJoin;

/** Rows of a source. */
export type RowsJoin = {
  readonly kind: 'rows';
  readonly source: string;
  /** An object for each of the distinct keys, in their order; what belongs to the key is its member of that name. */
  readonly query: QueryRoot;
  readonly member: string;
  /** One row or none, and not a list or what is told about one. */
  readonly isNullable: boolean;
  /** How many values a key has. */
  readonly width: number;
  /** In what belongs to a key. */
  readonly places: JoinPlaces | null;
};

/** What a remote schema has at the end of the steps, for each key; nothing for a key with a null. */
export type RemoteSchemaJoin = {
  readonly kind: 'remote';
  readonly remote: ResolvedRemoteSchema;
  readonly part: UpstreamSchema;
  readonly steps: readonly JoinStep[];
  /** Of what is there. */
  readonly shape: RemoteField['shape'];
  /** As GraphQL prints it; empty for a value that has no fields. */
  readonly selection: string;
  /** As GraphQL prints their definitions, and what they are. */
  readonly definitions: readonly string[];
  readonly variables: readonly RemoteVariable[];
  /** What names of variables for keys begin with: no other variable's does. */
  readonly prefix: string;
  /** Where names of types stand that are other names here. */
  readonly typeNames: TypeNamePlaces | null;
  readonly places: JoinPlaces | null;
};

export type JoinStep = {
  readonly field: string;
  /** The arguments that are the same for all keys, as GraphQL prints them. */
  readonly fixed: readonly string[];
  readonly filled: readonly FilledArgument[];
};

/** Made for each key: what the relationship says, and beside it what the client gives. */
export type FilledArgument = {
  readonly name: string;
  readonly type: string;
  readonly value: StepValue;
  readonly given: ValueNode | null;
};

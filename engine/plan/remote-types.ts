/** The parts of a Plan that are not its statements: requests to remote schemas, and joins, which fetch the values that belong to
 *  the keys in an earlier response. Pure data, built by remote-schema.ts, remote-relationship.ts, remote-keys.ts and
 *  join-paths.ts, run by execute/. Not here: calls of actions (action-types.ts), the Plan itself (types.ts). */
import type { ValueNode } from 'graphql';
import type { ResolvedRemoteSchema } from '../resolve/model/remote-schema.ts';
import type { StepValue } from '../resolve/model/remote-step.ts';
import type { Preset, UpstreamSchema } from '../resolve/upstream.ts';
import type { QueryRoot } from './query-types.ts';

/** A document for a remote schema, with all its fields at one level of the request. */
export type RemoteCall = {
  readonly kind: 'remote';
  readonly remote: ResolvedRemoteSchema;
  /** The part of the schema that the role may use, with its presets. */
  readonly part: UpstreamSchema;
  readonly isRepeatable: boolean;
  readonly operationName: string | null;
  readonly query: string;
  readonly variables: readonly RemoteVariable[];
  readonly fields: readonly RemoteField[];
};

export type RemoteVariable =
  /** A variable of the client, under its own name; `type` is set when presets are added to its value. */
  | { readonly kind: 'given'; readonly name: string; readonly type: string | null }
  | { readonly kind: 'preset'; readonly name: string; readonly preset: Preset };

/** A root field of the sent document. */
export type RemoteField = {
  /** The path of the field in our response; the last item is its name in the remote's answer. */
  readonly path: readonly string[];
  readonly shape: AnswerShape;
  readonly isNullable: boolean;
  /** The positions of keys of joins; null when there are none. */
  readonly paths: JoinPaths | null;
};

/** The value of a field in an answer, or of an item of a list in it. A leaf is a value of a scalar of GraphQL itself or of an enum: it is no object,
 *  whose fields nobody has asked for, and no list. Which scalar it is is not checked, and a scalar of the service's own may be anything but null
 *  where null is not allowed: the reference passes everything on, and services rely on it. */
export type AnswerShape = { readonly isNullable: boolean } & (
  | { readonly kind: 'any' }
  | { readonly kind: 'leaf'; readonly mayBeObject?: true }
  | { readonly kind: 'list'; readonly item: AnswerShape }
  /** Null: nothing is known of the members. */
  | { readonly kind: 'object'; readonly members: AnswerMembers | null }
);

/** The members of an object, by response name. */
export type AnswerMembers = {
  /** The type names that have to be renamed. */
  readonly typeNames: ReadonlySet<string>;
  readonly shapes: ReadonlyMap<string, AnswerShape>;
};

/** The positions of keys in a JSON value, by response name. `own` are fields of its objects that hold keys, with the index of the
 *  join; `inner` are fields with such objects inside. Items of a list count as the list. */
export type JoinPaths = {
  readonly own: ReadonlyMap<string, number>;
  readonly inner: ReadonlyMap<string, JoinPaths>;
  /** Members in answers of remote schemas that hold a single value of a key each. */
  readonly spread?: ReadonlyMap<string, SpreadKeys>;
};

/** The key of a joined field whose values are members of the object. */
export type SpreadKeys = {
  readonly alias: string;
  readonly join: number;
  readonly names: readonly string[];
  /** The first of the names, where the joined field is inserted; for a key without values, a member that only marks the position. */
  readonly first: string;
};

export type RemoteJoin = RowsJoin | RemoteSchemaJoin;

/** A join with rows of a source. */
export type RowsJoin = {
  readonly kind: 'rows';
  readonly source: string;
  /** Returns an object for each of the distinct keys, in their order; its member of the name `member` belongs to the key. */
  readonly query: QueryRoot;
  readonly member: string;
  /** True when the joined value is one row or null, and not a list or an aggregate. */
  readonly isNullable: boolean;
  /** The number of values in a key. */
  readonly width: number;
  readonly paths: JoinPaths | null;
};

/** A join with a remote schema: the value at the end of the steps, for each key; null for a key with a null. */
export type RemoteSchemaJoin = {
  readonly kind: 'remote';
  readonly remote: ResolvedRemoteSchema;
  readonly part: UpstreamSchema;
  readonly steps: readonly JoinStep[];
  readonly shape: AnswerShape;
  /** The printed selection set; empty for a value without fields. */
  readonly selection: string;
  /** The printed definitions of the variables. */
  readonly definitions: readonly string[];
  readonly variables: readonly RemoteVariable[];
  /** The prefix of variables for keys; the names of other variables do not begin with it. */
  readonly prefix: string;
  readonly paths: JoinPaths | null;
};

export type JoinStep = {
  readonly field: string;
  /** The arguments that are the same for all keys, as GraphQL prints them. */
  readonly fixed: readonly string[];
  readonly filled: readonly FilledArgument[];
};

/** An argument that differs between keys: the value from the relationship, and the client's value beside it. */
export type FilledArgument = {
  readonly name: string;
  readonly type: string;
  readonly value: StepValue;
  /** The client's value for the fields that the relationship leaves open. */
  readonly given: ValueNode | null;
  /** The argument's own preset, which also hides it from the client. */
  readonly preset: Preset | null;
};

/** The Model and its parts: the metadata, resolved against the catalogs of its sources. A model is immutable and belongs to one
 *  snapshot; schema/, plan/ and sql/ read nothing else. Objects that do not resolve are not part of it but are listed as
 *  inconsistencies. Not here: how the parts are resolved (one file each), GraphQL types (schema/), SQL (sql/). */

import type { Scalar } from '../catalog/scalars.ts';
import type { CatalogIndex, PgType, Reaction } from '../catalog/types.ts';
import type { EngineError } from '../errors/engine-error.ts';
import type {
  Header,
  QualifiedName,
  RequestTransform,
  ResponseTransform,
} from '../metadata/schema/common.ts';
import type { NamingConvention, QueryTags } from '../metadata/schema/source.ts';
import type { RootFieldKind } from '../metadata/schema/table.ts';
import type { Distributions } from './distributions.ts';
import type { Environment, ReferenceReader } from './environment-variables.ts';
import type { Naming, Part } from './naming.ts';
import type { Join, Leaf, Predicate } from './predicate.ts';
import type { RequestBounds, RequestPolicies } from './request-policy.ts';
import type { Routes } from './routes.ts';
import type { TypeDefinition } from './type-definition.ts';
import type { UpstreamField, UpstreamSchema } from './upstream.ts';

export type Model = {
  /** By source name, in metadata order. */
  readonly sources: ReadonlyMap<string, ResolvedSource>;
  /** By name, in metadata order. */
  readonly actions: ReadonlyMap<string, ResolvedAction>;
  /** The types that arguments and results of actions may have. */
  readonly customTypes: ActionTypes;
  /** By name, in metadata order. */
  readonly remoteSchemas: ReadonlyMap<string, ResolvedRemoteSchema>;
  /** By name, in metadata order. */
  readonly cronTriggers: ReadonlyMap<string, ResolvedCronTrigger>;
  /** The declared events, by name, in metadata order. */
  readonly scheduledEvents: ReadonlyMap<string, ResolvedScheduledEvent>;
  /** The names of all types except scalars. */
  readonly typeNames: { readonly has: (name: string) => boolean };
  readonly typeRelationships: TypeRelationships;
  /** Every role that an object names. Any other role has an empty schema. */
  readonly roles: ReadonlySet<string>;
  /** The names in --experimental-features, and those of the flags that ResolveOptions names. */
  readonly features: ReadonlySet<string>;
  readonly requestPolicies: RequestPolicies;
  readonly requestBounds: RequestBounds;
  /** REST endpoints, by path. */
  readonly routes: Routes;
};

/** The feature of the option --v1-boolean-null-collapse: an operator whose operand is null is true. */
export const NULL_COLLAPSE = 'v1_boolean_null_collapse';

/** The feature of the option --strict-returning: mutations return only rows that the role may read. */
export const STRICT_RETURNING = 'strict_returning';

/** A GraphQL service whose schema is part of the engine's schema. */
export type ResolvedRemoteSchema = {
  readonly name: string;
  readonly endpoint: RemoteEndpoint;
  readonly names: RemoteNames;
  readonly schema: UpstreamSchema;
  /** The part that a role sees, by role; null when every role sees the whole schema. Read through remoteSchemaFor (access.ts). */
  readonly permissions: ReadonlyMap<string, UpstreamSchema> | null;
  /** The option --remote-schema-prioritize-data: data of an answer is used even when the answer has errors. */
  readonly prioritizesData: boolean;
  /** The option --remote-schema-skip-nulls: arguments that are null are not sent. */
  readonly skipsNulls: boolean;
};

/** How requests reach a remote schema. */
export type RemoteEndpoint = {
  /** The URL of the metadata, which may contain `{{NAME}}` for environment variables. */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly forwardsClientHeaders: boolean;
  readonly timeoutSeconds: number;
};

export type ResolvedSource = {
  readonly name: string;
  readonly naming: Naming;
  /** The tracked tables, by qualifiedKey. */
  readonly tables: ReadonlyMap<string, ResolvedTable>;
  /** Tracked functions, by qualifiedKey. */
  readonly functions: ReadonlyMap<string, ResolvedFunction>;
  /** Rows of native queries, by qualifiedKey of nativeName (names.ts). */
  readonly nativeQueries: ReadonlyMap<string, ResolvedTable>;
  /** By name, in metadata order. */
  readonly eventTriggers: ReadonlyMap<string, ResolvedEventTrigger>;
  /** The reactions to writes of tables that need the session of the writer, by qualifiedKey. */
  readonly reactions: ReadonlyMap<string, Reaction>;
  /** The distributions of tables, by qualifiedKey, when the database is a Citus cluster; otherwise null. */
  readonly distributions: Distributions | null;
  /** The configuration of comments on statements; null when there are none. */
  readonly queryTags: QueryTags | null;
};

export type ResolvedTable = {
  readonly source: string;
  readonly table: QualifiedName;
  /** How the source spells names. */
  readonly naming: Naming;
  /** The part that names of fields and types are composed of: `author`, `sales_order`, or the custom name. */
  readonly base: Part;
  /** The name of the object type. */
  readonly typeName: string;
  /** Present when GraphQL cannot spell its name. No schema has the table; operations on rows and event triggers do. */
  readonly isUnnameable?: true;
  readonly description: string | null;
  /** Columns in catalog order, without those whose name is no GraphQL name. */
  readonly columns: readonly ResolvedColumn[];
  /** Every column, by SQL name. */
  readonly columnByName: ReadonlyMap<string, ResolvedColumn>;
  /** Columns of the primary key, in key order; null without one. */
  readonly primaryKey: readonly ResolvedColumn[] | null;
  /** Present when a federated graph may fetch rows by their key. */
  readonly isEntity?: true;
  /** The primary key, then the unique keys. `on_conflict` may name those that are constraints. */
  readonly uniqueKeys: readonly ResolvedKey[];
  /** Unique indexes that `on_conflict` may name because the metadata lists them. */
  readonly conflictIndexes: readonly CatalogIndex[];
  /** True for a partitioned table, where Postgres does not tell which row an upsert found. */
  readonly isPartitioned: boolean;
  /** Present when other tables inherit from it: its keys do not cover all of its rows. */
  readonly isParent?: true;
  /** Every root field, by kind, with its final name. */
  readonly rootFields: Readonly<Record<RootFieldKind, RootField>>;
  /** By name, in metadata order, object relationships first. */
  readonly relationships: ReadonlyMap<string, ResolvedRelationship>;
  /** By name, in metadata order. */
  readonly computedFields: ReadonlyMap<string, ResolvedComputedField>;
  /** Keyed by name; absent when there are none. */
  readonly remoteRelationships?: ReadonlyMap<string, ResolvedRemoteRelationship>;
  /** The enum that its rows are, when it is an enum table. */
  readonly enum?: ResolvedEnum;
  /** By role, without the administrator. Read through accessOf (access.ts). */
  readonly permissions: ReadonlyMap<string, TableAccess>;
  /** The access of the administrator: everything the database allows. */
  readonly adminAccess: TableAccess;
  readonly isInsertable: boolean;
  readonly isUpdatable: boolean;
  readonly isDeletable: boolean;
  /** Present for the rows of a native query, which are no table. */
  readonly native?: NativeRows;
};

/** The SQL of a native query. */
export type NativeRows = {
  readonly code: readonly (string | { readonly argument: string })[];
  readonly arguments: readonly NativeArgument[];
  /** The name of the logical model, which the types of `where` and `order_by` are named after. */
  readonly model: string;
};

export type NativeArgument = {
  readonly name: string;
  readonly type: PgType;
  readonly scalar: Scalar;
  readonly isNullable: boolean;
  readonly description: string;
};

export type RootField = { readonly name: string; readonly description: string | null };

export type ResolvedColumn = {
  readonly name: string;
  readonly graphqlName: string;
  readonly type: PgType;
  readonly scalar: Scalar;
  readonly json: JsonForm;
  /** True when the field is nullable in the schema. */
  readonly isNullable: boolean;
  /** True when only the metadata says that the column is not null. */
  readonly isDeclared: boolean;
  /** The value is the result of an expression, evaluated when it is read. */
  readonly isComputed?: true;
  readonly hasDefault: boolean;
  /** False for generated and `always` identity columns, which no client can write. */
  readonly isWritable: boolean;
  /** True for the distribution column of a table of a Citus cluster, which can be inserted and not updated. */
  readonly isFixed?: boolean;
  readonly description: string | null;
  /** The enum of its values, when it refers to the key of an enum table. */
  readonly enum?: ResolvedEnum;
  /** Set for one role (schema/builder.ts): the column is null in rows that do not satisfy this. */
  readonly visibleIf?: Predicate;
};

/** A GraphQL enum made of the rows of a table. */
export type ResolvedEnum = {
  readonly typeName: string;
  /** The name of the comparison type of its columns. */
  readonly comparisonName: string;
  /** `name` in GraphQL, `value` in the database: a naming convention may have them in capitals. */
  readonly values: readonly {
    readonly name: string;
    readonly value: string;
    readonly description: string | null;
  }[];
  readonly valueByName: ReadonlyMap<string, string>;
  /** True when some name differs from its value. */
  readonly isRespelled: boolean;
};

/** How a value becomes JSON text. `bare`: the text of the value is JSON (integers, booleans, json, jsonb). `quoted`: through to_json
 *  (text, timestamps, floats). `stringified`: the text as a JSON string (--stringify-numeric-types). `geojson`: an object that
 *  PostGIS prints. `capitals`: the name of an enum value, where names are written in capitals. */
export type JsonForm = 'bare' | 'quoted' | 'stringified' | 'geojson' | 'capitals';

type ResolvedKey = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isConstraint: boolean;
};

export type ResolvedRelationship = {
  readonly kind: 'object' | 'array';
  readonly name: string;
  readonly join: Join;
  /** True when an object relationship may be null: a key column is nullable, or no foreign key guarantees the row. */
  readonly isNullable: boolean;
  /** The order of a nested insert. `before`: our columns take its values. `after`: its columns take ours. */
  readonly insertion: 'before' | 'after';
  /** The comment of the metadata; see descriptionOf (names.ts). */
  readonly comment: string | null;
};

/** An SQL function that is a root field and returns rows of a tracked table. */
export type ResolvedFunction = {
  readonly source: string;
  readonly function: QualifiedName;
  /** The name of the input type of its arguments. */
  readonly argsTypeName: string;
  readonly rootField: string;
  readonly aggregateRootField: string;
  readonly description: string | null;
  readonly returns: QualifiedName;
  readonly returnsSet: boolean;
  readonly exposedAs: 'query' | 'mutation';
  readonly isVolatile: boolean;
  /** True when every role that may read the returned table may call the function (--infer-function-permissions). False when its
   *  permissions name roles: then only those may. */
  readonly isForReaders: boolean;
  /** Arguments in call order. */
  readonly arguments: readonly ResolvedArgument[];
  /** The roles that have or inherit a permission. */
  readonly roles: ReadonlySet<string>;
};

export type ResolvedArgument = {
  /** The origin of the value: the row itself, the session variables as json, or the client. */
  readonly kind: 'row' | 'session' | 'user';
  /** The SQL name; null for an argument without a name, which is passed by position. */
  readonly name: string | null;
  readonly graphqlName: string;
  readonly type: PgType;
  readonly scalar: Scalar;
  readonly hasDefault: boolean;
};

/** A field of a table whose value an SQL function computes from the row. */
export type ResolvedComputedField = {
  readonly name: string;
  readonly description: string | null;
  readonly function: QualifiedName;
  readonly arguments: readonly ResolvedArgument[];
  readonly returns:
    | { readonly kind: 'scalar'; readonly type: PgType; readonly scalar: Scalar; readonly json: JsonForm }
    | { readonly kind: 'rows'; readonly table: QualifiedName; readonly isSet: boolean };
  /** Set for one role (schema/function.ts): the field is null in rows that do not satisfy this. */
  readonly visibleIf?: Predicate;
};

/** The operations that a role may do with a table; null means none. */
export type TableAccess = {
  readonly select: SelectAccess | null;
  readonly insert: InsertAccess | null;
  readonly update: UpdateAccess | null;
  readonly delete: DeleteAccess | null;
};

/** Conditions on cells: columns by SQL name, computed fields by name. */
export type Cells = {
  readonly columns: ReadonlyMap<string, Predicate>;
  readonly computedFields: ReadonlyMap<string, Predicate>;
};

export type SelectAccess = {
  /** The SQL names of columns. */
  readonly columns: ReadonlySet<string>;
  /** The names of scalar computed fields; null means all. Those that return rows follow the permission of their table. */
  readonly computedFields: ReadonlySet<string> | null;
  /** Columns and computed fields that are visible only in rows that satisfy a condition, and null in others (inherited-roles.ts). */
  readonly cells: Cells;
  readonly filter: Predicate;
  readonly limit: number | null;
  readonly allowsAggregation: boolean;
  /** The ways to read at the root; null means all. */
  readonly queryRootFields: ReadonlySet<string> | null;
  readonly subscriptionRootFields: ReadonlySet<string> | null;
};

export type InsertAccess = {
  /** The columns that a client may give, without those with a preset. */
  readonly columns: ReadonlySet<string>;
  readonly check: Predicate;
  readonly presets: ReadonlyMap<string, Leaf>;
  readonly backendOnly: boolean;
  readonly validation?: InputValidation;
};

export type UpdateAccess = {
  readonly columns: ReadonlySet<string>;
  readonly filter: Predicate;
  readonly check: Predicate;
  readonly presets: ReadonlyMap<string, Leaf>;
  readonly backendOnly: boolean;
  readonly validation?: InputValidation;
};

export type DeleteAccess = {
  readonly filter: Predicate;
  readonly backendOnly: boolean;
  readonly validation?: InputValidation;
};

/** A webhook that validates the input of a mutation before anything is written. */
export type InputValidation = {
  /** The URL, which may contain `{{NAME}}` for environment variables. */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly forwardsClientHeaders: boolean;
  readonly timeoutSeconds: number;
};

export type InheritedWrite = {
  readonly permission_type: 'insert' | 'update' | 'delete';
  readonly source: string;
  readonly table: string;
};
export type InheritedEntity = InheritedWrite | { readonly remote_schema: string };

/** A metadata object that does not fit the database or another object. It stays in the document and is not part of the model. */
export type Inconsistency = {
  /** The type as get_inconsistent_metadata prints it: `table`, `object_relation`, `select_permission` and so on. */
  readonly type: string;
  /** A description such as `object_relation author in table article in source default`. */
  readonly name: string;
  /** The sentence `Inconsistent object: …`. */
  readonly reason: string;
  /** The definition of the object in the metadata. */
  readonly definition: unknown;
  /** Replaces `definition` for an inherited role whose parents disagree. Nothing of the document is wrong then, so only a
   *  replacement that allows no inconsistency is refused. */
  readonly entity?: InheritedEntity;
  /** True for an object that is served without a part of it, which dropping inconsistent objects keeps. */
  readonly isServed?: true;
  /** The key of the object (metadata/objects.ts), for drop_inconsistent_metadata and the operator. */
  readonly key: string;
  /** The keys of the objects that have names which this one wants; absent where its names are not the reason. */
  readonly rivals?: readonly string[];
  /** The name of the query that does not fit; absent when the whole object does not. */
  readonly query?: string;
  /** The error of an operation that causes this. In the specification's wording its code and text are those of the failure itself;
   *  in the newer wording they are `invalid-configuration` and `reason`. `conflictingRootFields` concerns the whole schema,
   *  whichever table is new. The path starts at the arguments of the object. */
  readonly cause?: EngineError;
};

/** The reason why a source has no catalog. */
export type Unreached = {
  readonly error: string;
  /** Present when the configuration of the source is wrong, at the path of the error, so that no database could be reached. */
  readonly fault?: EngineError;
  /** The named value or file of the configuration that cannot be read, as a reference text. */
  readonly lacks?: string | undefined;
  /** Present when there is no answer yet: the reading that is in progress. */
  readonly awaits?: object;
};

export type ResolveOptions = {
  /** The environment of the engine. Without it, every variable that an object names counts as set. */
  readonly env?: Environment;
  /** The reader of named values and files. Without it, every one that an object names counts as set. */
  readonly references?: ReferenceReader | undefined;
  /** The option --infer-function-permissions: roles that may read a table may call functions that only read it. Default true. */
  readonly inferFunctionPermissions?: boolean;
  /** The option --stringify-numeric-types: bigint, numeric and float8 are sent as JSON strings. */
  readonly stringifyNumericTypes: boolean;
  /** The option --default-naming-convention, for sources that name no convention. Without it, conventions are off. */
  readonly namingConvention?: NamingConvention | undefined;
  /** The names in --experimental-features, and `v1_boolean_null_collapse`, `null_in_nonnullable_variables` and
   *  `strict_returning` for the flags of that name. Default none. */
  readonly features?: readonly string[];
  /** The option --strict-writes: a role writes only rows that it may read. Default false. */
  readonly strictWrites?: boolean;
  /** The option --header-prefix: how names of session variables begin in documents. Default SESSION_PREFIX. */
  readonly headerPrefix?: string | undefined;
  /** The option --enable-remote-schema-permissions. Default true. With false, every role sees the whole of a remote schema without
   *  permissions; one with permissions is visible to administrators only, and its permissions are inconsistent. */
  readonly enableRemoteSchemaPermissions?: boolean;
  /** True when a remote schema whose permissions are off is open to every role although permissions are declared, as in the reference.
   *  Otherwise only administrators have access to it. */
  readonly opensRemoteSchemas?: boolean;
  /** The option --remote-schema-prioritize-data. Default false. */
  readonly remoteSchemaPrioritizeData?: boolean;
  /** The option --remote-schema-skip-nulls. Default false. */
  readonly remoteSchemaSkipNulls?: boolean;
  /** The option --enable-allowlist: roles may run only documents of the allow list. Default false. */
  readonly enableAllowlist?: boolean;
  /** The time limit of statements of roles without one of their own; absent or null: none. */
  readonly defaultTimeLimitMs?: number | null;
  /** The most bytes in a response to a role without a limit of its own; absent or null: no limit. */
  readonly defaultResponseBytes?: number | null;
  /** The limits of one request; absent: the defaults of the options. */
  readonly requestBounds?: RequestBounds;
  /** Finds the definitions of the engine's types, to compare remote types of the same names with. Without it no two are equal. */
  readonly typeDefinitions?: TypeDefinitions;
};

/** Returns a function that finds the definition of a type of the model by its name. The schema of a model is built by a later stage,
 *  so the function is passed in. */
export type TypeDefinitions = (model: Model) => (name: string) => TypeDefinition | undefined;

export type ResolvedAction = {
  readonly name: string;
  readonly description: string | null;
  readonly type: 'query' | 'mutation';
  /** True when the action returns an id, and its result is read later by that id. */
  readonly isAsynchronous: boolean;
  readonly arguments: readonly CustomField[];
  readonly output: TypeUse;
  readonly webhook: ActionWebhook;
  readonly responseTransform?: ResponseTransform;
  /** The roles that may run it besides the administrator. */
  readonly roles: ReadonlySet<string>;
};

export type ActionWebhook = InputValidation & {
  readonly ignoredClientHeaders?: readonly string[];
  readonly requestTransform?: RequestTransform;
};

export type ActionTypes = {
  /** Declared types, by name. */
  readonly declared: ReadonlyMap<string, CustomType>;
  /** Returns the declared type or the scalar of the database with the name. GraphQL's own scalars are not among them. */
  readonly find: (name: string) => ActionType | undefined;
};

/** A declared type, or a scalar of the database, which needs no declaration. */
export type ActionType = CustomType | { readonly kind: 'database'; readonly scalar: Scalar };

export type CustomType = { readonly name: string; readonly description: string | null } & (
  | { readonly kind: 'scalar' }
  | {
      readonly kind: 'enum';
      readonly values: readonly {
        readonly name: string;
        readonly description: string | null;
        readonly isDeprecated: boolean;
      }[];
    }
  | { readonly kind: 'input'; readonly fields: readonly CustomField[] }
  | ({ readonly kind: 'object' } & CustomObject)
);

export type CustomObject = {
  readonly fields: readonly CustomField[];
  readonly relationships: readonly CustomRelationship[];
  /** The fields whose values join rows, each as a value of a type. Relationships refer to them in their join. */
  readonly keys: readonly CustomKey[];
};

export type CustomField = {
  readonly name: string;
  readonly type: TypeUse;
  readonly description: string | null;
};

export type CustomKey = { readonly column: string; readonly field: string; readonly type: PgType };

export type CustomRelationship = { readonly source: string; readonly relationship: ResolvedRelationship };

/** A reference to a type: `[Book!]`. */
export type TypeUse =
  | { readonly kind: 'named'; readonly name: string; readonly isNullable: boolean }
  | { readonly kind: 'list'; readonly item: TypeUse; readonly isNullable: boolean };

export type ResolvedEventTrigger = {
  readonly name: string;
  readonly table: QualifiedName;
  readonly captures: readonly Capture[];
  /** True when administrators may create its events by hand. */
  readonly isManual: boolean;
  /** True when rows written by replication are captured too. */
  readonly isAlways: boolean;
  readonly webhook: EventWebhook;
  readonly responseTransform?: ResponseTransform;
  readonly retries: Retries;
  /** True when an environment variable that it sends is missing or forbidden: rows are captured, and their events wait. */
  readonly isHeld: boolean;
  /** The schedule and the scope of deleting old events; absent when cleanup is paused or not configured. */
  readonly cleanup?: Cleanup;
};

export type Capture = {
  readonly operation: 'INSERT' | 'UPDATE' | 'DELETE';
  /** The columns of which an update must change one; null means any column. */
  readonly watched: readonly string[] | null;
  /** The columns that are sent; null means the whole row as Postgres prints it. */
  readonly sent: readonly Pick<ResolvedColumn, 'name' | 'json' | 'type'>[] | null;
};

export type EventWebhook = InputValidation & { readonly requestTransform?: RequestTransform };

/** Retries after the first attempt. */
export type Retries = { readonly most: number; readonly intervalSeconds: number };

export type Cleanup = { readonly schedule: string } & CleanupScope;

/** The part of the event log that is deleted, and how. */
export type CleanupScope = {
  readonly olderThanHours: number;
  /** The number of events that one statement deletes. */
  readonly batchSize: number;
  /** The time limit of one statement. */
  readonly timeoutSeconds: number;
  readonly withInvocations: boolean;
};

export type ResolvedCronTrigger = ScheduledDelivery & {
  readonly name: string;
  /** The schedule, with its time zone. */
  readonly schedule: string;
  /** True when an environment variable that it sends is missing or forbidden: its events wait. */
  readonly isHeld: boolean;
};

/** A scheduled event that the document declares. */
export type ResolvedScheduledEvent = ScheduledDelivery & {
  readonly name: string;
  /** The time in UTC: `2026-01-31T12:00:00.000Z`. */
  readonly time: string;
  /** True when an environment variable that it sends is missing or forbidden: the event waits. */
  readonly isHeld: boolean;
};

/** The delivery of a scheduled event: its webhook, payload and retries. */
export type ScheduledDelivery = {
  readonly webhook: EventWebhook;
  readonly responseTransform?: ResponseTransform;
  readonly retries: Retries;
  /** An event that is later than this is not delivered. */
  readonly toleranceSeconds: number;
  readonly payload: unknown;
  readonly comment: string | null;
};

/** Relationships that start in remote schemas, by remote schema, type and name. Types are spelled as the remote schema spells them. */
export type TypeRelationships = ReadonlyMap<
  string,
  ReadonlyMap<string, ReadonlyMap<string, ResolvedRemoteRelationship>>
>;

/** A relationship that leads out of its source or starts in a remote schema. */
export type ResolvedRemoteRelationship = {
  readonly name: string;
  /** The values by which it is joined. */
  readonly keys: readonly JoinKey[];
  readonly target: /** Rows of a source. `relationship` joins them to rows of keys, whose columns have the types `keyTypes`. */
    | {
        readonly kind: 'source';
        readonly source: string;
        readonly keyTypes: readonly PgType[];
        readonly relationship: ResolvedRelationship;
      }
    /** The field of a remote schema that the steps lead to. */
    | {
        readonly kind: 'remote';
        readonly remote: ResolvedRemoteSchema;
        readonly steps: readonly RemoteStep[];
      };
};

/** A value of a row, or of an object of a remote schema. */
export type JoinKey =
  /** A field of an object; `isEnum` is true when its type is an enum. */
  | { readonly kind: 'upstream'; readonly field: UpstreamField; readonly isEnum: boolean }
  | { readonly kind: 'column'; readonly column: ResolvedColumn }
  | {
      readonly kind: 'computed';
      readonly table: ResolvedTable;
      readonly field: ResolvedComputedField;
      readonly returns: Extract<ResolvedComputedField['returns'], { kind: 'scalar' }>;
    };

/** A field of a remote schema, by its own name, and its arguments. */
export type RemoteStep = {
  readonly field: string;
  readonly arguments: ReadonlyMap<string, StepValue>;
};

export type StepValue =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'key'; readonly index: number }
  | { readonly kind: 'list'; readonly items: readonly StepValue[] }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, StepValue> };

export type RemoteNames = {
  /** The root field that contains the root fields of the remote schema; null when there is none. */
  readonly namespace: string | null;
  /** Our name of each type, by the remote name. */
  readonly types: ReadonlyMap<string, string>;
  /** The remote name of each type, by our name. */
  readonly upstreamTypes: ReadonlyMap<string, string>;
  /** Our names of fields, by the remote names of type and field. A field that is not listed keeps its name. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** True when an object type has another name here. */
  readonly renamesObjects: boolean;
};

/** An object that declares something without effect. */
export type Unenforced = {
  /** The key of the object. */
  readonly key: string;
  readonly type: string;
  readonly name: string;
  /** The cause, and what to do about it. */
  readonly reason: string;
};

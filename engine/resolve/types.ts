/** The Model: metadata made definite against a catalog. Immutable; one per snapshot; everything to the right of resolve/
 *  reads only this. What did not resolve is not in it but in the list of inconsistencies.
 *  Not here: GraphQL types (schema/), SQL (sql/). */

import type { Scalar } from '../catalog/scalars.ts';
import type { CatalogIndex, PgType } from '../catalog/types.ts';
import type { EngineError } from '../errors/engine-error.ts';
import type {
  Header,
  QualifiedName,
  RequestTransform,
  ResponseTransform,
} from '../metadata/schema/common.ts';
import type { NamingConvention, QueryTags } from '../metadata/schema/source.ts';
import type { RootFieldKind } from '../metadata/schema/table.ts';
import type { Environment } from './environment-variables.ts';
import type { Naming, Part } from './naming.ts';
import type { Join, Leaf, Predicate } from './predicate.ts';
import type { RequestPolicies } from './request-policy.ts';
import type { Routes } from './routes.ts';
import type { UpstreamField, UpstreamSchema } from './upstream.ts';

export type Model = {
  /** By source name, in metadata order. */
  readonly sources: ReadonlyMap<string, ResolvedSource>;
  /** By name, in metadata order. */
  readonly actions: ReadonlyMap<string, ResolvedAction>;
  /** Those actions speak, by name. */
  readonly customTypes: ActionTypes;
  /** By name, in metadata order. */
  readonly remoteSchemas: ReadonlyMap<string, ResolvedRemoteSchema>;
  /** By name, in metadata order. */
  readonly cronTriggers: ReadonlyMap<string, ResolvedCronTrigger>;
  /** Those of all types but scalars; the owner of each, in words. */
  readonly typeNames: { readonly has: (name: string) => boolean };
  readonly typeRelationships: TypeRelationships;
  /** Every role some object names; any other role has an empty schema. */
  readonly roles: ReadonlySet<string>;
  /** --experimental-features that schemas depend on. */
  readonly features: ReadonlySet<string>;
  readonly requestPolicies: RequestPolicies;
  /** REST endpoints, by path. */
  readonly routes: Routes;
};

/** A GraphQL service whose schema is part of ours. */
export type ResolvedRemoteSchema = {
  readonly name: string;
  readonly endpoint: RemoteEndpoint;
  readonly names: RemoteNames;
  /** All of it. */
  readonly schema: UpstreamSchema;
  /** What a role sees of it, by role; null: every role sees all. See remoteSchemaFor in resolve/access.ts. */
  readonly permissions: ReadonlyMap<string, UpstreamSchema> | null;
  /** --remote-schema-prioritize-data: what came counts, whatever errors came with it. */
  readonly prioritizesData: boolean;
  /** --remote-schema-skip-nulls: an argument that is null is not sent. */
  readonly skipsNulls: boolean;
};

/** Where and how a remote schema is asked. */
export type RemoteEndpoint = {
  /** As the metadata has it: with `{{NAME}}` for variables of the environment. */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly forwardsClientHeaders: boolean;
  readonly timeoutSeconds: number;
};

export type ResolvedSource = {
  readonly name: string;
  readonly naming: Naming;
  /** By qualifiedKey. */
  readonly tables: ReadonlyMap<string, ResolvedTable>;
  /** Tracked functions, by qualifiedKey. */
  readonly functions: ReadonlyMap<string, ResolvedFunction>;
  /** Rows of native queries, by qualifiedKey of nativeName (native-query.ts). */
  readonly nativeQueries: ReadonlyMap<string, ResolvedTable>;
  /** By name, in metadata order. */
  readonly eventTriggers: ReadonlyMap<string, ResolvedEventTrigger>;
  /** Has a table of it triggers: they may ask who wrote. */
  readonly hasTriggers: boolean;
  /** What its statements say of themselves; null: nothing. */
  readonly queryTags: QueryTags | null;
};

export type ResolvedTable = {
  readonly source: string;
  readonly table: QualifiedName;
  /** How its source spells names. */
  readonly naming: Naming;
  /** What its names are made of: `author`, `sales_order`, or the custom name. */
  readonly base: Part;
  /** Of its object type. */
  readonly typeName: string;
  readonly description: string | null;
  /** In catalog order, without those whose name GraphQL cannot spell. By SQL name, all of them, in `columnByName`. */
  readonly columns: readonly ResolvedColumn[];
  readonly columnByName: ReadonlyMap<string, ResolvedColumn>;
  /** Columns of the primary key, in key order; null without one. */
  readonly primaryKey: readonly ResolvedColumn[] | null;
  /** Rows may be asked for by a federated graph. */
  readonly isEntity?: true;
  /** The primary key first, then the unique ones. Those that are constraints can be named in `on_conflict`. */
  readonly uniqueKeys: readonly ResolvedKey[];
  /** Unique indexes that `on_conflict` can name, too, because the metadata says so. */
  readonly conflictIndexes: readonly CatalogIndex[];
  /** Its rows are in partitions, where Postgres keeps some things to itself: which row an upsert has found. */
  readonly isPartitioned: boolean;
  /** Every root field, by kind, with its final name. */
  readonly rootFields: Readonly<Record<RootFieldKind, RootField>>;
  /** By name, in metadata order, object relationships first. */
  readonly relationships: ReadonlyMap<string, ResolvedRelationship>;
  /** By name, in metadata order. */
  readonly computedFields: ReadonlyMap<string, ResolvedComputedField>;
  /** By name; absent: there are none. */
  readonly remoteRelationships?: ReadonlyMap<string, ResolvedRemoteRelationship>;
  /** What its rows are, when it is an enum table. */
  readonly enum?: ResolvedEnum;
  /** By role, without the administrator. Read through accessOf (access.ts). */
  readonly permissions: ReadonlyMap<string, TableAccess>;
  /** What the administrator may do: everything the database allows. */
  readonly adminAccess: TableAccess;
  readonly isInsertable: boolean;
  readonly isUpdatable: boolean;
  readonly isDeletable: boolean;
  /** There is no such table: the rows are those of a native query. */
  readonly native?: NativeRows;
};

/** What makes the rows of a native query. */
export type NativeRows = {
  readonly code: readonly (string | { readonly argument: string })[];
  readonly arguments: readonly NativeArgument[];
  /** The logical model they are of: names the types of `where` and `order_by`. */
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
  /** As the schema says it. */
  readonly isNullable: boolean;
  /** That it is not null is what the metadata says, not what the database knows. */
  readonly isDeclared: boolean;
  /** The value is the result of an expression, evaluated when it is read. */
  readonly isComputed?: true;
  readonly hasDefault: boolean;
  /** May a client write it: false for generated and `always` identity columns. */
  readonly isWritable: boolean;
  readonly description: string | null;
  /** The enum its values are of, when it refers to the key of an enum table. */
  readonly enum?: ResolvedEnum;
  /** As one role sees it (schema/builder.ts): null in rows that do not satisfy this. */
  readonly visibleIf?: Predicate;
};

/** A GraphQL enum made of the rows of a table. */
export type ResolvedEnum = {
  readonly typeName: string;
  /** Of the type its columns are compared with. */
  readonly comparisonName: string;
  /** `name` in GraphQL, `value` in the database: a naming convention may have them in capitals. */
  readonly values: readonly {
    readonly name: string;
    readonly value: string;
    readonly description: string | null;
  }[];
  readonly valueByName: ReadonlyMap<string, string>;
  /** Is some name not the value itself? */
  readonly isRespelled: boolean;
};

/** How a value becomes JSON text. `bare`: its text is JSON already (integers, booleans, json, jsonb). `quoted`: through
 *  to_json (text, timestamps, floats). `stringified`: its text as a JSON string (--stringify-numeric-types). `geojson`: an object
 *  that PostGIS prints. `capitals`: the name of an enum's value, where those are written in capitals. */
export type JsonForm = 'bare' | 'quoted' | 'stringified' | 'geojson' | 'capitals';

export type ResolvedKey = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isConstraint: boolean;
};

export type ResolvedRelationship = {
  readonly kind: 'object' | 'array';
  readonly name: string;
  readonly join: Join;
  /** May an object relationship be null: a key column is nullable, or no foreign key guarantees the row. */
  readonly isNullable: boolean;
  /** Of the other row, when both are inserted at once. `before`: our columns take its values. `after`: its columns take ours. */
  readonly insertion: 'before' | 'after';
  /** What the metadata says of it; see describe in resolve/description.ts. */
  readonly comment: string | null;
};

/** An SQL function that is a root field and answers with rows of a tracked table. */
export type ResolvedFunction = {
  readonly source: string;
  readonly function: QualifiedName;
  /** Name of the input type of its arguments. */
  readonly argsTypeName: string;
  readonly rootField: string;
  readonly aggregateRootField: string;
  readonly description: string | null;
  readonly returns: QualifiedName;
  readonly returnsSet: boolean;
  readonly exposedAs: 'query' | 'mutation';
  readonly isVolatile: boolean;
  /** May every role call it that may read the table it returns (--infer-function-permissions)? False where its permissions name
   *  roles: then those roles may call it. */
  readonly isForReaders: boolean;
  /** In call order. */
  readonly arguments: readonly ResolvedArgument[];
  /** Roles with a permission of their own, and those that inherit one. */
  readonly roles: ReadonlySet<string>;
};

export type ResolvedArgument = {
  /** Who gives it: the row itself, the session variables as json, or the client. */
  readonly kind: 'row' | 'session' | 'user';
  /** SQL name; null for an argument without one, which is passed by position. */
  readonly name: string | null;
  readonly graphqlName: string;
  readonly type: PgType;
  readonly scalar: Scalar;
  readonly hasDefault: boolean;
};

/** A field of a table whose value an SQL function makes from the row. */
export type ResolvedComputedField = {
  readonly name: string;
  readonly description: string | null;
  readonly function: QualifiedName;
  readonly arguments: readonly ResolvedArgument[];
  readonly returns:
    | { readonly kind: 'scalar'; readonly type: PgType; readonly scalar: Scalar; readonly json: JsonForm }
    | { readonly kind: 'rows'; readonly table: QualifiedName; readonly isSet: boolean };
  /** As one role sees it (schema/function.ts): null for rows that do not satisfy this. */
  readonly visibleIf?: Predicate;
};

/** What one role may do with one table; an absent part means not at all. */
export type TableAccess = {
  readonly select: SelectAccess | null;
  readonly insert: InsertAccess | null;
  readonly update: UpdateAccess | null;
  readonly delete: DeleteAccess | null;
};

/** By SQL name, and by name. */
export type Cells = {
  readonly columns: ReadonlyMap<string, Predicate>;
  readonly computedFields: ReadonlyMap<string, Predicate>;
};

export type SelectAccess = {
  /** SQL names. */
  readonly columns: ReadonlySet<string>;
  /** Scalar computed fields, by name; those that return rows follow the permission of their table. null is all. */
  readonly computedFields: ReadonlySet<string> | null;
  /** What of these is shown only in rows that satisfy a condition, and null in the others: see resolve/inherited-roles.ts. */
  readonly cells: Cells;
  readonly filter: Predicate;
  readonly limit: number | null;
  readonly allowsAggregation: boolean;
  /** null is all. */
  readonly queryRootFields: ReadonlySet<string> | null;
  readonly subscriptionRootFields: ReadonlySet<string> | null;
};

export type InsertAccess = {
  /** Columns a client may give; presets are not among them. */
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

/** A webhook that is asked before anything is written. */
export type InputValidation = {
  /** With `{{NAME}}` for variables of the environment. */
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

/** A metadata object that does not fit the database (or another object). It stays in the document, outside the model. */
export type Inconsistency = {
  /** `table`, `object_relation`, `array_relation`, `select_permission`, … as get_inconsistent_metadata prints it. */
  readonly type: string;
  /** A sentence: `object_relation author in table article in source default`. */
  readonly name: string;
  /** `Inconsistent object: …`. */
  readonly reason: string;
  /** The object as it stands in the metadata. */
  readonly definition: unknown;
  /** Stands in place of `definition`: what an inherited role cannot inherit because its parents disagree. Nothing of the
   *  document is wrong then, so it refuses no operation but a replacement that allows no inconsistency. */
  readonly entity?: InheritedEntity;
  /** Key of the object as metadata/objects.ts spells it, for drop_inconsistent_metadata and the operator. */
  readonly key: string;
  /** Only this query of the collection does not fit. */
  readonly query?: string;
  /** What an operation that causes this is refused with: its code and text in the specification's wording are those of
   *  the failure itself; in the newer wording `invalid-configuration` and `reason`. `conflictingRootFields` is about the
   *  whole schema, whichever of the tables is the new one. The path starts at the object's own arguments. */
  readonly cause?: EngineError;
};

/** Why there is no catalog of a source. */
export type Unreached = {
  readonly error: string;
  /** The source cannot be reached wherever its database is: its configuration is at fault, at the error's path. */
  readonly fault?: EngineError;
};

export type ResolveOptions = {
  /** The environment of the engine. Absent: every variable that an object names counts as set. */
  readonly env?: Environment;
  /** --infer-function-permissions: whoever may read a table may call functions that only read it. Absent: yes. */
  readonly inferFunctionPermissions?: boolean;
  /** --stringify-numeric-types: bigint, numeric and float8 leave as JSON strings. */
  readonly stringifyNumericTypes: boolean;
  /** --default-naming-convention: how sources spell names that do not say it themselves. Absent: conventions are off. */
  readonly namingConvention?: NamingConvention | undefined;
  /** --experimental-features. Absent: none. */
  readonly features?: readonly string[];
  /** --strict-writes. Absent: writes reach every row their own filter lets through. */
  readonly strictWrites?: boolean;
  /** --header-prefix: how session variables begin where documents are not rewritten. Absent: as inside the engine. */
  readonly headerPrefix?: string | undefined;
  /** --enable-remote-schema-permissions. Absent: yes. With false, every role sees all of every remote schema that declares
   *  no permissions; one that declares some is visible to administrators only, and its permissions are inconsistent. */
  readonly enforcesRemotePermissions?: boolean;
  /** --remote-schema-prioritize-data, --remote-schema-skip-nulls. Absent: no. */
  readonly prioritizesRemoteData?: boolean;
  readonly skipsRemoteNulls?: boolean;
  /** --enable-allowlist. Absent: anything may be asked. */
  readonly enforcesAllowList?: boolean;
  /** The time limit of statements of roles without one of their own; absent or null: none. */
  readonly defaultTimeLimitMs?: number | null;
};

export type ResolvedAction = {
  readonly name: string;
  readonly description: string | null;
  readonly type: 'query' | 'mutation';
  /** Answers with an id, and later to it. */
  readonly isAsynchronous: boolean;
  readonly arguments: readonly CustomField[];
  readonly output: TypeUse;
  readonly webhook: ActionWebhook;
  readonly responseTransform?: ResponseTransform;
  /** Besides the administrator. */
  readonly roles: ReadonlySet<string>;
};

export type ActionWebhook = InputValidation & {
  readonly ignoredClientHeaders?: readonly string[];
  readonly requestTransform?: RequestTransform;
};

export type ActionTypes = {
  /** By name. */
  readonly declared: ReadonlyMap<string, CustomType>;
  /** Of any kind; undefined when nobody has it. GraphQL's own scalars have no declaration. */
  readonly find: (name: string) => KnownType | undefined;
};

/** A scalar of the database, which needs no declaration; or one that is. */
export type KnownType = CustomType | { readonly kind: 'database'; readonly scalar: Scalar };

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
  /** What rows are joined by: values of fields, as values of a type. Relationships name them in their join. */
  readonly keys: readonly CustomKey[];
};

export type CustomField = {
  readonly name: string;
  readonly type: TypeUse;
  readonly description: string | null;
};

export type CustomKey = { readonly column: string; readonly field: string; readonly type: PgType };

export type CustomRelationship = { readonly source: string; readonly relationship: ResolvedRelationship };

/** How a type is used: `[Book!]`. */
export type TypeUse =
  | { readonly kind: 'named'; readonly name: string; readonly isNullable: boolean }
  | { readonly kind: 'list'; readonly item: TypeUse; readonly isNullable: boolean };

export type ResolvedEventTrigger = {
  readonly name: string;
  readonly table: QualifiedName;
  readonly captures: readonly Capture[];
  /** May administrators make events of it themselves. */
  readonly isManual: boolean;
  /** Rows that replication brings count, too. */
  readonly isAlways: boolean;
  readonly webhook: EventWebhook;
  readonly responseTransform?: ResponseTransform;
  readonly retries: Retries;
  /** A variable that it sends is not set or is never sent: rows are captured, and their events wait. */
  readonly isHeld: boolean;
  /** When and which of its events are deleted; absent: never, or not for now. */
  readonly cleanup?: Cleanup;
};

export type Capture = {
  readonly operation: 'INSERT' | 'UPDATE' | 'DELETE';
  /** Of an update: one of these must have changed; null is any column at all. */
  readonly watched: readonly string[] | null;
  /** What is sent of a row; null is the whole row as Postgres prints it. */
  readonly sent: readonly Pick<ResolvedColumn, 'name' | 'json' | 'type'>[] | null;
};

export type EventWebhook = InputValidation & { readonly requestTransform?: RequestTransform };

/** After the first try. */
export type Retries = { readonly most: number; readonly intervalSeconds: number };

export type Cleanup = { readonly schedule: string } & CleanupScope;

/** What of the log of events is deleted, and how. */
export type CleanupScope = {
  readonly olderThanHours: number;
  /** Deleted by one statement. */
  readonly batchSize: number;
  /** For each of them. */
  readonly timeoutSeconds: number;
  readonly withInvocations: boolean;
};

export type ResolvedCronTrigger = Appointment & {
  readonly name: string;
  readonly schedule: string;
  /** A variable that it sends is not set or is never sent: its events wait. */
  readonly isHeld: boolean;
};

/** What is told at a time, and to whom. */
export type Appointment = {
  readonly webhook: EventWebhook;
  readonly responseTransform?: ResponseTransform;
  readonly retries: Retries;
  /** Later than this it is not told at all. */
  readonly toleranceSeconds: number;
  readonly payload: unknown;
  readonly comment: string | null;
};

/** Those that start in remote schemas, by remote schema, type and name; the first two are the remote's own names. */
export type TypeRelationships = ReadonlyMap<
  string,
  ReadonlyMap<string, ReadonlyMap<string, ResolvedRemoteRelationship>>
>;

/** A relationship to what is not in the same source. */
export type ResolvedRemoteRelationship = {
  readonly name: string;
  /** The values that decide what belongs to it. */
  readonly keys: readonly JoinKey[];
  readonly target: /** Rows of a source: `relationship` joins them to rows of keys, whose columns are of these types. */
    | {
        readonly kind: 'source';
        readonly source: string;
        readonly keyTypes: readonly PgType[];
        readonly relationship: ResolvedRelationship;
      }
    /** What is found at the end of the steps. */
    | {
        readonly kind: 'remote';
        readonly remote: ResolvedRemoteSchema;
        readonly steps: readonly RemoteStep[];
      };
};

/** A value of a row, or of an object of a remote schema. */
export type JoinKey =
  /** `isEnum`: what is not GraphQL's own scalar, is it an enum? */
  | { readonly kind: 'upstream'; readonly field: UpstreamField; readonly isEnum: boolean }
  | { readonly kind: 'column'; readonly column: ResolvedColumn }
  | {
      readonly kind: 'computed';
      readonly table: ResolvedTable;
      readonly field: ResolvedComputedField;
      readonly returns: Extract<ResolvedComputedField['returns'], { kind: 'scalar' }>;
    };

/** A field of a remote schema, by its own name, and what it is given. */
export type RemoteStep = {
  readonly field: string;
  readonly arguments: ReadonlyMap<string, StepValue>;
};

export type StepValue =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'key'; readonly place: number }
  | { readonly kind: 'list'; readonly items: readonly StepValue[] }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, StepValue> };

export type RemoteNames = {
  /** The root field all others are in; null: they are roots themselves. */
  readonly namespace: string | null;
  /** By the remote's name. */
  readonly types: ReadonlyMap<string, string>;
  /** The remote's names by ours. */
  readonly upstreamTypes: ReadonlyMap<string, string>;
  /** By type, and by the remote's name; a field that is not listed keeps its name. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Does any object type have another name here? */
  readonly renamesObjects: boolean;
};

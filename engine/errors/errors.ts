/** ERRORS: every failure a client can see, one row each: HTTP status, code and message.
 *  Grouped by the stage that raises them, inside a group as in the specification ("Errors"); docs/reference/errors.md is
 *  printed from it. Rows that no code raises yet document future operations for clients.
 *  A row has one wording, or two: the specification's, used by /v1/query, then that of /v1/metadata and /v1/graphql
 *  (docs/reference/behaviour/errors.md).
 *  Not here: how an error is raised or encoded (engine-error.ts), how SQLSTATEs map to rows (database/pg-errors.ts). */

export type ErrorDialect = 'specification' | 'newer';

/** The text of a message, with its parameters in braces: `table {table} does not exist`. */
type Template = string;
/** One template, or the specification's and the newer one. */
type Wording = Template | readonly [specified: Template, newer: Template];
type Placeholders<T extends Template> = T extends `${string}{${infer N}}${infer R}`
  ? N | Placeholders<R>
  : never;
type Params<W extends Wording> = {
  readonly [N in Placeholders<W extends readonly Template[] ? W[number] : W>]:
    | string
    | number
    | readonly string[];
};

export type ErrorRow<P> = {
  readonly status: 200 | 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 429 | 431 | 499 | 500 | 503;
  readonly code: string | ((params: P) => string);
  readonly message: (params: P) => string;
  readonly newer?: { readonly code?: string; readonly message?: (params: P) => string };
  /** The extensions of a GraphQL error in place of path and code, for errors that come from external services. */
  readonly extensions?: (params: P) => object | undefined;
};

/** Returns a row whose message is a template, or a function where a template cannot say it. */
function row<const W extends Wording>(
  status: ErrorRow<never>['status'],
  code: string,
  wording: W,
  newerCode?: string,
): ErrorRow<Params<W>>;
function row<P>(
  status: ErrorRow<P>['status'],
  code: ErrorRow<P>['code'],
  message: ErrorRow<P>['message'],
  newer?: ErrorRow<P>['newer'],
): ErrorRow<P>;
function row(
  status: ErrorRow<never>['status'],
  code: ErrorRow<never>['code'],
  wording: Wording | ErrorRow<never>['message'],
  newer?: string | ErrorRow<never>['newer'],
): ErrorRow<never> {
  if (typeof wording === 'function') {
    return { status, code, message: wording, ...(typeof newer === 'object' ? { newer } : {}) };
  }
  if (typeof wording === 'string') return { status, code, message: filled(wording) };
  const [specified, message] = wording.map(filled) as [Filled, Filled];
  return {
    status,
    code,
    message: specified,
    newer: { message, ...(newer ? { code: newer as string } : {}) },
  };
}

/** Returns rows that share a status and a code. */
function rows<const W extends Readonly<Record<string, Wording>>>(
  status: ErrorRow<never>['status'],
  code: string,
  wordings: W,
): { readonly [N in keyof W]: ErrorRow<Params<W[N]>> } {
  const entries = Object.entries(wordings).map(([name, wording]) => [name, row(status, code, wording)]);
  return Object.fromEntries(entries);
}

export const ERRORS = {
  // ── the request itself ──
  invalidJson: row(400, 'invalid-json', 'invalid json'),
  parseFailed: row(400, 'parse-failed', '{text}'),
  ...rows(404, 'not-found', {
    resourceNotFound: ['No such resource exists', 'resource does not exist'],
    /** No REST endpoint matches the URL. */
    endpointNotFound: 'Endpoint not found',
  }),
  methodNotAllowed: row(405, 'method-not-allowed', 'Allowed methods: {allowed}'),
  bodyTooLarge: row(413, 'bad-request', 'request body is larger than {mostBytes} bytes'),
  headersTooLarge: row(
    431,
    'bad-request',
    'request headers are more than {most} or larger than {mostBytes} bytes',
  ),
  overloaded: row(503, 'overloaded', '{text}'),
  /** The client disconnected; only the log has it. */
  clientGone: row(499, 'cancelled', 'the client closed the connection or stopped the operation'),
  requestTooSlow: row(408, 'bad-request', 'the request did not arrive in time'),
  originNotAllowed: row(
    400,
    'access-denied',
    'received origin header does not match configured CORS domains',
  ),
  hostNotAllowed: row<{ host: string }>(
    403,
    'access-denied',
    (p) =>
      `host "${p.host}" is not allowed: without an admin secret the engine answers to loopback names, IP addresses, ` +
      '--server-host and --allowed-hosts',
  ),
  preflightMissing: row(
    415,
    'bad-request',
    'expected the header "Content-Type: application/json", a bearer token or a {prefix}* header',
  ),

  // ── who asks; `prefix` is that of the headers, `x-engine-` ──
  ...rows(401, 'access-denied', {
    adminSecretMissing: '{prefix}admin-secret/{prefix}access-key required, but not found',
    adminSecretInvalid: 'invalid {prefix}admin-secret/{prefix}access-key',
    consoleSecretInvalid: 'invalid {prefix}console-secret',
    hookUnauthorized: 'Authentication hook unauthorized this request',
  }),
  ...rows(400, 'invalid-headers', {
    emptyRole: '{prefix}role must not be empty',
    tokenMissing: "Missing 'Authorization' or 'Cookie' header in JWT authentication mode",
    authorizationMalformed: 'Malformed Authorization header',
    severalTokens: 'Could not verify JWT: Multiple JWTs found',
    missingHeader: 'missing header : {name}',
    userIdNotInteger: 'X-Engine-User-Id should be an integer',
  }),
  jwtUnverified: row(400, 'invalid-jwt', 'Could not verify JWT: {reason}'),
  jwtMissingRoleClaim: row(400, 'jwt-missing-role-claims', 'JWT claim does not contain {claim}'),
  jwtInvalidClaims: row(400, 'jwt-invalid-claims', '{text}'),
  ...rows(400, 'access-denied', {
    roleNotAllowed: 'Your requested role is not in allowed roles',
    accessDenied: 'You have to be admin to access this endpoint',
    consoleRoleMissing: 'with the console secret, operations run as a role: {prefix}role is required',
    consoleRoleNotAllowed: 'with the console secret, {prefix}role must be a role other than admin',
    consoleReadOnly: 'the console secret may not run mutations',
    consoleOperationRefused: 'the console secret may not perform this operation',
    transactionDenied: 'not authorised to access this tx',
  }),
  hookFailed: row(500, 'unexpected', 'webhook authentication request failed'),
  hookMalformed: row(500, 'unexpected', 'Invalid response from authorization hook{reason}'),
  hookRoleMissing: row(400, 'invalid-params', '{prefix}role not found in session variables'),
  backendOnlyNotBoolean: row<{ prefix: string }>(
    400,
    'bad-request',
    (p) =>
      `${p.prefix}use-backend-only-permissions:  Not a valid boolean text. True values are ["true","t","yes","y"] ` +
      'and  False values are ["false","f","no","n"]. All values are case insensitive',
  ),

  // ── objects of the document ──
  alreadyTracked: row(400, 'already-tracked', [
    'view/table already tracked : {table}',
    'view/table already tracked: "{table}"',
  ]),
  alreadyUntracked: row(400, 'already-untracked', [
    'view/table already untracked : {table}',
    'view/table already untracked: "{table}"',
  ]),
  permissionExists: row(
    400,
    'permission-error',
    [
      '{type} permission on {table} for role {role} already exists',
      '{type} permission already defined on table "{table}" with role "{role}"',
    ],
    'already-exists',
  ),
  permissionNotExists: row(
    400,
    'permission-error',
    [
      '{type} permission on {table} for role {role} does not exist',
      '{type} permission on "{table}" for role "{role}" does not exist',
    ],
    'permission-denied',
  ),
  ...rows(400, 'already-exists', {
    relationshipExists: [
      'column/relationship of table {table} already exists',
      'field with name "{name}" already exists in table "{table}"',
    ],
    renamedRelationshipExists: [
      'column/relationship of table {table} already exists',
      'cannot rename relationship "{name}" to "{newName}" in table "{table}" as a column/relationship with the name already exists',
    ],
    sourceExists: 'source with name "{source}" already exists',
    tlsHostExists: 'the host "{host}" is on the TLS allow list already',
    collectionExists: 'query collection with name "{name}" already exists',
    queryExists: 'query with name "{name}" already exists in collection "{collection}"',
    endpointExists: 'Endpoint with name: {name} already exists',
  }),
  multipleDeclarations: row(
    400,
    'already-exists',
    [
      'multiple declarations exist for the following {kind} : {names}',
      'multiple declarations exist for the following {kind}: {names}',
    ],
    'parse-failed',
  ),
  ...rows(400, 'not-exists', {
    relationshipNotExists: ['{name} does not exist', 'relationship "{name}" does not exist'],
    objectNotExists: 'the metadata has no object with the key {key}',
    sourceNotFound: 'source with name "{source}" does not exist',
    tlsHostNotExists: 'the host "{host}" is not on the TLS allow list',
    /** The version of the document was never stored or is not kept any more. */
    revisionNotExists: 'metadata revision {version} does not exist',
    collectionNotExists: 'query collection with name "{name}" does not exist',
    collectionNotAllowed: 'collection "{name}" doesn\'t exist in the allowlist',
    endpointNotExists: 'endpoint with name: {name} does not exist',
  }),
  onlyReadOnlySql: row(400, 'bad-request', 'Only read-only queries are allowed in a concurrent_bulk'),
  /** The endpoint needs a program that is not installed beside the engine. */
  pgDumpMissing: row(
    400,
    'not-supported',
    'pg_dump is not installed where the engine runs; install the client programs of PostgreSQL',
  ),
  /** The program's own message is in `internal`. */
  pgDumpFailed: row(500, 'unexpected', 'error while executing pg_dump'),
  /** Every table or function of a list failed. The failures are in `internal`. */
  allItemsFailed: row(400, 'invalid-configuration', 'all {items} failed to {verb}'),
  repeatedItems: row(
    400,
    'bad-request',
    'The following {items} occur more than once in the request: {names}',
  ),
  /** Raised for `allow_warnings: false`. The warnings are in `internal`. */
  metadataWarnings: row(
    400,
    'metadata-warnings',
    'the metadata has warnings, which are not allowed: {reason}',
  ),
  ...rows(400, 'dependency-error', {
    collectionAllowed: 'query collection with name "{name}" is present in allowlist; cannot proceed to drop',
    collectionInUse:
      'query collection with name "{name}" is used by {users}; pass cascade to drop it from there too',
    queryInUse: 'query with name "{name}" in collection "{collection}" is used by {users}',
  }),
  ...rows(400, 'not-found', {
    notAllowlisted: 'collection "{name}" doesn\'t exist in the allowlist',
    queryNotExists: 'query with name "{name}" not found in collection "{collection}"',
  }),

  // ── who may see what ──
  ...rows(400, 'permission-denied', {
    columnNotPermitted: [
      'role {role} does not have permission to {type} column {column}',
      'role "{role}" does not have permission to {type} column "{column}"',
    ],
    operationNotPermitted: [
      '{type} on {table} for role {role} is not allowed',
      '{type} on "{table}" for role "{role}" is not allowed. ',
    ],
  }),
  selectNotPermitted: row<{ name: string; role: string; needs?: string }>(
    400,
    'permission-denied',
    (p) => `select on ${p.name} for role ${p.role} is not allowed.`,
    { message: (p) => `select on "${p.name}" for role "${p.role}" is not allowed. ${onlyReaders(p.needs)}` },
  ),
  rootReadNotPermitted: row<{ name: string; role: string; way: string; isHidden: boolean }>(
    400,
    'permission-denied',
    (p) =>
      p.isHidden
        ? `"${p.way}" on "${p.name}" for role "${p.role}" is not allowed: its "query_root_fields" leave it out`
        : `"${p.way}" on "${p.name}" for role "${p.role}" is not allowed: its permission has no "allow_aggregations"`,
  ),
  upsertNotPermitted: row(400, 'unexpected-payload', [
    'upsert is not allowed for role {role}',
    'upsert is not allowed for role "{role}"',
  ]),
  notFoundInType: row(400, 'validation-failed', "field '{field}' not found in type: '{type}'"),
  /** A value in a permission is spelled like a session variable and is none. */
  unknownVariable: row<{ text: string; meant: string }>(
    400,
    'parse-failed',
    (p) =>
      `"${p.text}" looks like a session variable, and no session has it: did you mean "${p.meant}"? ` +
      `If the text itself is meant, write {"$literal": ${JSON.stringify(p.text)}}`,
  ),
  variableInsideJson: row<{ text: string }>(
    400,
    'parse-failed',
    (p) =>
      `"${p.text}" is inside a JSON value, where session variables are not replaced. ` +
      'If the text itself is meant, write the whole value as {"$literal": …}',
  ),
  dumpSourceNotFound: row(400, 'not-found', 'source {name} not found'),
  missingSessionVariable: row(400, 'not-found', 'missing session variable: "{name}"'),

  // ── admin operations: the document, its store, run_sql ──
  maintenanceMode: row(500, 'unexpected', 'metadata cannot be modified in maintenance mode'),
  valuesKeyMissing: row(
    400,
    'not-supported',
    'the engine has no key for named values; start it with --values-key or --values-key-file',
  ),
  adminOnly: row(400, 'access-denied', 'restricted access : admin only'),
  conflict: row(
    409,
    'conflict',
    'metadata resource version referenced ({version}) did not match current version',
  ),
  ...rows(400, 'not-supported', {
    unsupportedCatalogVersion: 'unsupported version : {version}',
    functionVolatile: 'type of function "{name}" is altered to "VOLATILE" which is not supported now',
    functionsOverloaded: 'the following tracked function(s) cannot be overloaded: {names}',
    fieldFunctionVolatile:
      'The type of function "{name}" associated with computed field "{field}" of table "{table}" is being altered to "VOLATILE"',
    fieldFunctionOverloaded:
      'The function "{name}" associated with computed field"{field}" of table "{table}" is being overloaded',
    tableRenameNotSupported: 'table renames are not yet supported : {table}',
    columnRenameNotSupported: 'column renames are not yet supported : {table}.{column}',
  }),
  ...rows(400, 'unexpected', {
    constraintNotExists: 'constraint "{constraint}" for table "{table}" does not exist',
    newInconsistencies: 'cannot continue due to new inconsistent metadata',
    inconsistentMetadata: [
      'cannot continue due to inconsistent metadata: {reasons}',
      'cannot continue due to inconsistent metadata',
    ],
  }),
  /** The stored document does not fit the schema any more. */
  newlyInconsistent: row(500, 'unexpected', 'cannot continue due to newly found inconsistent metadata'),
  queryExecutionFailed: row(400, 'postgres-error', 'query execution failed'),
  tableLocked: row(
    400,
    'postgres-error',
    'event trigger {trigger}: other transactions kept its table locked for {seconds} s; end them (pg_stat_activity), or try again',
  ),
  sourceUnreachable: row(500, 'postgres-error', ['connection error', 'connection error: {reason}']),
  /** A machine of a Citus cluster does not answer its coordinator. `internal` names it. */
  workerUnreachable: row(
    503,
    'worker-unreachable',
    'a worker of the Citus cluster cannot be reached; try again when it is back. Requests for rows of other workers are answered',
  ),
  /** The database or the engine has reached its limit of connections and waiting requests. */
  databaseBusy: row(503, 'postgres-max-connections-error', '{text}'),
  ...rows(400, 'dependency-error', {
    cannotDropDependents: [
      'cannot drop due to the following dependent objects : {dependents}',
      'cannot drop due to the following dependent objects: {dependents}',
    ],
    cannotChangeType: [
      'cannot change type of column {column} in table {table} because of the following dependencies : {dependents}',
      'cannot change type of column "{column}" in table "{table}" because of the following dependencies: {dependents}',
    ],
  }),
  alreadyInitialised: row(
    400,
    'already-initialised',
    'the state seems to be initialised already. you may need to migrate from this version: {version}',
  ),
  transactionNotExists: row(400, 'not-exists', 'tx does not exists'),
  ...rows(400, 'already-exists', {
    templateExists: 'the query template already exists {name}',
    columnNamedLikeRelationship: [
      'cannot add column {column} in table {table} as a relationship with the name already exists',
      'cannot add column "{column}" in table "{table}" as a relationship with the name already exists',
    ],
  }),
  mixedAccessModes: row<{ expected: string; path: string; forced: string }>(
    400,
    'bad-request',
    (p) =>
      `incompatible access mode requirements in bulk query, expected access mode: ${p.expected}` +
      ` but ${p.path} forces ${p.forced}`,
  ),

  // ── metadata against a database ──
  ...rows(400, 'not-exists', {
    tableNotInDatabase: [
      'no such table/view exists in the database: {table}',
      'no such table/view exists in source: "{table}"',
    ],
    tableNotInSource: ['table {table} does not exist', 'table "{table}" does not exist in source: {source}'],
    tableNotTracked: ['table {table} does not exist', 'table "{table}" is not tracked'],
    columnNotExists: ['{name} does not exist', 'column "{name}" does not exist'],
    /** The name is neither a column nor a relationship. */
    fieldNotExists: ['{name} does not exist', '"{name}" does not exist'],
    computedFieldNotExists: 'computed field "{name}" does not exist',
    /** The specification says nothing of computed fields, so that their errors have one wording. */
    tableOfComputedFieldNotExists: 'table "{table}" does not exist in source: {source}',
  }),
  /** The name is that of a column in GraphQL only, of which the specification says nothing. */
  customNameConflict: row(
    400,
    'invalid-configuration',
    'Inconsistent object: field definition conflicts with {with}',
  ),
  /** The administrator has every permission. */
  permissionOfAdmin: row(
    400,
    'already-exists',
    '{type} permission already defined on table "{table}" with role "admin"',
  ),
  fieldConflict: row(400, 'already-exists', [
    'column/relationship of table {table} already exists',
    'field definition conflicts with {with}',
  ]),
  ...rows(400, 'constraint-error', {
    noForeignKey: [
      'no foreign constraint exists on the given column',
      'no foreign constraint exists on the given column(s)',
    ],
    severalForeignKeys: [
      'more than one foreign key constraint exists on the given column',
      'more than one foreign key constraint exists on the given column(s)',
    ],
  }),
  ...rows(400, 'unexpected-payload', {
    unknownOperator: 'Unknown operator : {name}',
    operatorNotForType: 'is of type {type}; this operator works only on column of types [{types}]',
    columnOperandNotText: 'expecting a string for column operator',
    incompatibleColumns: 'incompatible column types : {left}, {right}',
    subscriptionOverHttp: 'subscriptions are not supported over HTTP, use websockets instead',
    unexpectedPayload: '{text}',
  }),
  /** The field has another answer since the metadata changed. */
  subscriptionChanged: row(
    400,
    'validation-failed',
    'the subscription means something else since the metadata has changed',
  ),
  /** An operation over a WebSocket cannot begin. */
  startFailed: row(400, 'start-failed', '{text}'),
  notSupported: row(400, 'not-supported', '{text}'),
  /** A declaration that a Citus cluster cannot serve, because of how its tables are distributed. */
  distributionUnsupported: row(400, 'distribution-unsupported', '{text}'),
  ...rows(400, 'invalid-configuration', {
    invalidConfiguration: '{text}',
    /** A variable or file that a source's connection needs is missing. It may appear later, so the source is retried like one whose
     *  database does not answer. */
    connectionSecretMissing: '{text}',
    /** The TLS configuration of a source's connection is unusable, whatever its database. */
    tlsUnusable: '{text}',
    /** An object that a request adds, and that conflicts with others. */
    conflictingObject: '{reason}',
  }),
  conflictingRootFields: row(500, 'unexpected', '{text}'),
  /** An earlier error as an object's inconsistency. In the newer wording all of them are `invalid-configuration`. */
  inconsistentObject: row<{ code: string; text: string; reason: string }>(
    400,
    (p) => `${p.code}`,
    (p) => `${p.text}`,
    { code: 'invalid-configuration', message: (p) => `${p.reason}` },
  ),

  // ── the older data operations of /v1/query ──
  ...rows(400, 'invalid-params', {
    invalidParameters: '{text}',
    missingParameter: 'missing parameter : {name}',
  }),
  dottedTable: row(400, 'parse-failed', 'parsing dotted table failed : {table}'),
  ...rows(400, 'unexpected-payload', {
    conflictTargetMissing: 'Expecting constraint or constraint_on when the action is update',
    conflictTargetTwice: 'constraint and constraint_on cannot be set at a time',
    noObjects: 'objects should not be empty',
    empty: "can't be empty",
    relationshipNotExpanded: '{name} is a relationship and should be expanded',
    columnNotIncluded: '{name} should be included in columns',
    orderByArrayRelationship: "{name} is an array relationship and can't be used in order_by",
    columnChained: '{name} is a database column and cannot be chained further',
    emptyOrderBy: 'order_by array should not be empty',
    argumentsOnObjectRelationship:
      "when selecting an obj_relationship where, order_by, limit and offset can't be used",
    nothingToUpdate: 'atleast one of $set, $inc, $mul has to be present',
    columnExpected: 'expecting a database column; but, {name} is relationship',
    jsonColumnInWhere: 'JSON column can not be part of where clause',
  }),
  noSuchColumn: row(400, 'not-exists', ['no such column exists : {name}', 'no such column exists: "{name}"']),

  // ── functions ──
  functionAlreadyTracked: row(400, 'already-tracked', [
    'function already tracked : {name}',
    'function already tracked: "{name}"',
  ]),
  ...rows(400, 'not-exists', {
    functionNotInDatabase: 'no such function exists: "{name}"',
    functionNotTracked: ['function {name} does not exist', 'function "{name}" does not exist'],
    inheritedRoleNotExists: '"{role}" inherited role doesn\'t exist',
    functionPermissionMissing: 'permission of role "{role}" does not exist for function "{name}"',
  }),
  functionPermissionExists: row(
    400,
    'already-exists',
    'permission of role "{role}" already exists for function "{name}"',
  ),
  cyclicRoles: row<{ roles: readonly string[] }>(
    400,
    'cyclic-dependency',
    (p) => `found cycle(s) in roles: ${JSON.stringify(p.roles)}`,
  ),
  roleInheritsItself: row(400, 'invalid-params', 'an inherited role name cannot be in the role combination'),
  parentRolesNotFound: row<{ roles: readonly string[]; role: string }>(
    400,
    'not-exists',
    (p) =>
      `the following parent role(s) are not found: ${p.roles.join(', ')} ` +
      `which are required to construct the inherited role: ${p.role}`,
  ),
  /** `entity` is the object as clients see it: `insert permission, table: author, source: 'default'`. */
  inheritedPermissionConflict: row(
    400,
    'unexpected',
    "Could not inherit permission for the role '{role}' for the entity: '{entity}'",
  ),

  // ── logical models and native queries ──
  ...rows(400, 'already-tracked', {
    logicalModelAlreadyTracked: "Logical model '{name}' is already tracked.",
    nativeQueryAlreadyTracked: "Native query '{name}' is already tracked.",
  }),
  ...rows(400, 'not-found', {
    logicalModelNotFound: 'Logical model "{name}" not found in source "{source}".',
    logicalModelPermissionMissing:
      'select permission on logical model "{name}" for role "{role}" does not exist',
    nativeQueryNotFound: 'Native query "{name}" not found in source "{source}".',
  }),
  logicalModelInUse: row(
    400,
    'constraint-violation',
    'Logical model "{name}" still being used by native query "{query}".',
  ),
  logicalModelPermissionExists: row(
    400,
    'already-exists',
    'select permission already defined on logical model "{name}" with role "{role}"',
  ),
  /** The message of PREPARE is in `internal` and in the reason of the inconsistency. */
  nativeQueryInvalid: row(400, 'validation-failed', 'Failed to validate query: {reason}'),

  // ── actions ──
  ...rows(400, 'already-exists', {
    actionExists: 'action with name "{name}" already exists',
    actionPermissionExists: 'permission for role "{role}" is already defined on action "{name}"',
    eventTriggerExists: 'Event trigger with name "{name}" already exists',
    cronTriggerExists: 'cron trigger with name: {name} already exists',
    scheduledEventExists: 'scheduled event "{name}" is already declared',
  }),
  /** An asynchronous action whose calls never ended before the engine did. */
  actionInterrupted: row(500, 'unexpected', 'the engine ended during each of {calls} calls of the webhook'),
  ...rows(400, 'not-exists', {
    actionNotExists: 'action with name "{name}" does not exist',
    actionPermissionNotExists: 'permission for role "{role}" is not defined on action "{name}"',
    eventTriggerNotExists: 'event trigger "{name}" does not exist',
    eventNotExists: 'event not found',
    eventIdNotExists: 'event id {id} does not exist',
    eventTriggerWithoutCleanup: 'cleanup config does not exist for {name}',
    cronTriggerNotExists: 'cron trigger with name: {name} does not exist',
    scheduledEventNotExists: 'scheduled event "{name}" is not declared',
  }),
  ...rows(400, 'parse-failed', {
    scheduleInvalid: '"{schedule}" is not a cron schedule: {reason}',
    timeZoneUnknown: '"{timeZone}" is not a time zone',
    timeInvalid: '"{text}" is not a time such as 2026-01-31T12:00:00Z',
  }),
  eventTriggerNotManual: row(400, 'not-supported', 'manual mode is not enabled for event trigger'),
  eventTriggerElsewhere: row(400, 'not-supported', 'cannot replace table or schema for trigger'),
  eventBusy: row(400, 'busy', 'event is already being processed'),
  customTypesInvalid: row(
    400,
    'invalid-configuration',
    'validation for the given custom types failed because {reason}',
  ),

  // ── remote schemas ──
  ...rows(400, 'already-exists', {
    remoteSchemaExists: 'remote schema with name "{name}" already exists',
    remoteTypeRelationshipExists: 'remote relationship "{name}" on type "{type}" already exists',
    remoteSchemaPermissionExists: 'permissions for role: "{role}" for remote schema: "{name}" already exists',
  }),
  ...rows(400, 'not-exists', {
    remoteSchemaNotExists: 'remote schema with name "{name}" does not exist',
    remoteRelationshipNotExists: 'remote relationship "{name}" on {owner} does not exist',
    remoteTypeRelationshipNotExists: 'no relationship defined on remote schema "{schema}" with name "{name}"',
    remoteSchemaPermissionNotExists:
      'permissions for role: "{role}" for remote schema: "{name}" does not exist',
  }),
  ...rows(400, 'remote-schema-error', {
    /** The introspection of a remote schema is invalid or describes no schema, or its names cannot be customized like that. */
    remoteSchemaInvalid: '{text}',
    /** The query that a relationship sends to a remote schema is invalid. */
    remoteRelationshipInvalid: '{text}',
    /** `url` is the URL as the metadata has it, because the environment may hold secrets. */
    remoteSchemaUnreachable: 'HTTP exception occurred while sending the request to "{url}"',
  }),
  /** The type that a relationship starts from does not exist. */
  remoteNodeExists: row(
    400,
    'remote-schema-conflicts',
    'node {name} already exists in current graphql schema',
  ),
  remoteTypeNotFound: row(400, 'not-found', 'no type named {type} defined in remote schema "{schema}"'),
  remoteTypeNotObject: row<object>(400, 'not-supported', () => {
    return 'remote relationships on a remote schema can only be defined on object types';
  }),
  remoteSchemaPermissionsOff: row<object>(
    400,
    'constraint-violation',
    () =>
      'remote schema permissions can only be added when remote schema permissions are enabled: ' +
      'start the engine with --enable-remote-schema-permissions',
  ),
  remoteSchemaPermissionOfAdmin: row(400, 'constraint-violation', 'cannot define permission for admin role'),
  /** The part of a remote schema that a permission grants to a role is invalid. */
  remoteSchemaPermissionInvalid: row(
    400,
    'validation-failed',
    'validation for the given role-based schema failed {why}',
  ),

  // ── a GraphQL request ──
  ...rows(400, 'validation-failed', {
    notGraphql: 'not a valid graphql query',
    validationFailed: '{text}',
    noSuchArgument: "'{field}' has no argument named '{argument}'",
    expectedButFound: "expected {expected} for type '{type}', but found {found}",
    unexpectedNull: "unexpected null value for type '{type}'",
    missingValue: "missing required field '{name}'",
    variableMismatch:
      "variable '{name}' is declared as '{declared}', but used where '{expected}' is expected",
    unexpectedVariables: 'unexpected variables in variableValues: {names}',
    missingVariable: 'expecting a value for non-nullable variable: "{name}"',
    nullVariable: 'null value found for non-nullable type: "{type}"',
    unboundVariable: 'unbound variable "{name}"',
    unknownDirective: "directive '{name}' is not defined in the schema",
    unknownFragment: 'reference to undefined fragment "{name}"',
    misplacedDirective: "directive '{name}' is not allowed on {on}",
    repeatedDirectives: 'the following directives are used more than once: [{names}]',
    ambiguousAlias: "selection of both '{one}' and '{other}' specify the same response name, '{alias}'",
    inconsistentArguments: "inconsistent arguments between multiple selections of field '{field}'",
  }),
  multipleDefinitions: row(400, 'parse-failed', 'multiple definitions for {kind} "{name}"'),

  // ── request policies ──
  /** `internal` holds the error of the template and its position. */
  /** A source's connection template selects no connection for a request. */
  templateResolutionFailed: row(400, 'template-resolution-failed', '{text}'),
  ...rows(400, 'validation-failed', {
    requestTransformInvalid: 'request transform validation failed',
    responseTransformInvalid: 'response transform validation failed',
    queryNotAllowed: 'query is not allowed',
    tooDeep: 'the request is nested too deeply',
    /** A limit of Postgres is exceeded: columns of a result, arguments of a function, depth of an expression. */
    tooComplex: 'the request is too complex for the database: {text}',
    patternTooComplex: 'the pattern is too complex: Postgres would take too long for it',
    tooManyFields: 'the request selects more than {most} fields',
    tooManyWrites:
      'the request needs more than {most} statements that write; divide it: an object with related objects, its related rows and an update of a list are a statement each',
    tooManyInputs: 'the request has more than {most} input values',
    introspectionTooLarge: 'the introspection is larger than {most} characters',
    schemaBeyondMemory:
      "the role's schema does not fit into the engine's heap of {mebibytes} MiB; give the engine more memory, or ask as a role with fewer tables",
    distinctNotLeading: '"distinct_on" columns must match initial "order_by" columns',
  }),
  ...rows(400, 'not-supported', {
    introspectionDisabled: 'introspection is disabled for role: "{role}"',
    persistedQueriesDisabled: 'Automatic Persisted Queries is not enabled',
    persistedQueryNotSupported: 'PersistedQueryNotSupported',
  }),
  depthLimitExceeded: row(
    400,
    'depth-limit-exceeded',
    'depth limit exceeded: the operation is {found} levels deep, the limit is {most}',
  ),
  nodeLimitExceeded: row(
    400,
    'node-limit-exceeded',
    'node limit exceeded: the operation has {found} nodes, the limit is {most}',
  ),
  batchLimitExceeded: row(
    400,
    'batch-limit-exceeded',
    'batch limit exceeded: the body has {found} operations, the limit is {most}',
  ),
  rateLimitExceeded: row(
    429,
    'rate-limit-exceeded',
    'rate limit exceeded: no more than {most} operations a minute',
  ),
  subscriptionLimitExceeded: row(
    429,
    'subscription-limit-exceeded',
    'subscription limit exceeded: no more than {most} of a {of} at a time',
  ),
  timeLimitExceeded: row(
    400,
    'time-limit-exceeded',
    'time limit exceeded: the operation took longer than {most} s',
  ),
  responseTooLarge: row(
    400,
    'response-limit-exceeded',
    'response limit exceeded: the response is larger than {most} bytes{note}',
  ),
  fragmentCycle: row<{ names: readonly string[] }>(
    400,
    'validation-failed',
    (p) =>
      `the fragment definition(s) ${p.names.length > 2 ? `${p.names.slice(0, -1).join(', ')}, and ${p.names.at(-1)}` : p.names.join(' and ')} form a cycle`,
  ),
  /** A remote schema's permission presets an argument with a session variable that the request lacks. */
  sessionVariableExpected: row(400, 'not-found', '"{name}" session variable expected, but not found'),
  notCoercible: row(400, 'coercion-error', '"{value}" cannot be coerced into an {type} value'),
  /** A remote schema's answer is not a GraphQL response to the request. */
  remoteAnswerInvalid: row(
    400,
    'remote-schema-error',
    'the remote schema at "{url}" did not answer with a GraphQL response: {reason}',
  ),
  /** Raised where the response cannot hold the errors themselves. They are in `internal`. */
  remoteErrors: row(500, 'unexpected', 'Errors from remote server'),
  badRequest: row(400, 'bad-request', '{text}'),
  onlyQueriesExplained: row(400, 'invalid-params', 'only queries can be explained'),

  // ── Postgres, while a request runs ──
  /** `text` is the database's message, which includes the name of the table. */
  notNullViolation: row(
    400,
    'postgres-error',
    [
      'Not-NULL violation. null value in column {name} violates not-null constraint',
      'Not-NULL violation. {text}',
    ],
    'constraint-violation',
  ),
  constraintViolation: row(400, 'constraint-violation', '{text}'),
  constraintError: row(400, 'constraint-error', '{text}'),
  dataException: row(400, 'data-exception', '{text}'),
  concurrentUpdate: row(400, 'concurrent-update', '{text}'),
  checkFailed: row(400, 'permission-error', 'check constraint of an insert/update permission has failed'),
  ...rows(500, 'unexpected', {
    /** A permission's webhook neither allowed nor refused. Only administrators see its address. */
    inputNotValidated: 'the webhook that validates the input failed: {reason}',
    /** An action's webhook did not answer, or not as the action declares. */
    actionFailed: '{text}',
    databaseQueryFailed: 'database query error',
  }),
  /** The error of an action's webhook; `extensions` are its own. */
  actionRefused: {
    ...row<{ code: string; message: string; extensions?: object }>(
      400,
      (p) => `${p.code}`,
      (p) => `${p.message}`,
    ),
    extensions: (p: { extensions?: object }) => p.extensions,
  },
  ...rows(500, 'postgres-error', {
    transactionFailed: 'postgres transaction error',
    postgresQueryFailed: 'postgres query error',
  }),

  // ── what should not happen ──
  ...rows(500, 'unexpected', {
    relationshipDependency: 'unexpected dependency of relationship : {dependency}',
    unexpectedDependent: 'unexpected dependent object : {dependency}',
    fieldAlreadyThere: 'field already exists',
    fieldNotThere: 'field does not exist',
    permissionNotThere: 'permission does not exist',
    unexpected: '{text}',
  }),
} as const satisfies Record<string, ErrorRow<never>>;

export type ErrorName = keyof typeof ERRORS;
export type ErrorParams<N extends ErrorName> = (typeof ERRORS)[N] extends ErrorRow<infer P> ? P : never;

type Filled = (params: object) => string;

/** Puts parameters into a template, lists with commas. */
function filled(template: Template): Filled {
  return (params) =>
    template.replace(/\{(\w+)\}/g, (_, name) => printed((params as Record<string, unknown>)[name]));
}

function printed(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function onlyReaders(operation: string | undefined): string {
  if (operation === undefined) return '';
  return `; "${operation}" is only allowed if the role has "select" permissions on the table`;
}

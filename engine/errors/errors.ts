/** ERRORS: every failure a client can see, one row each: HTTP status, code and message.
 *  Grouped by the stage that raises them, inside a group as in the specification ("Errors"); docs/reference/errors.md is
 *  printed from it. Rows that no code raises yet document future operations for clients.
 *  A row's own wording is the specification's, used by /v1/query. `newer` holds the wording of /v1/metadata and
 *  /v1/graphql where the two differ (docs/reference/behaviour/errors.md).
 *  Not here: how an error is raised or encoded (engine-error.ts), how SQLSTATEs map to rows (database/pg-errors.ts). */

export type ErrorDialect = 'specification' | 'newer';

export type ErrorRow<P> = {
  readonly status: 200 | 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 429 | 431 | 499 | 500 | 503;
  readonly code: string | ((params: P) => string);
  readonly message: (params: P) => string;
  readonly newer?: { readonly code?: string; readonly message?: (params: P) => string };
  /** The extensions of a GraphQL error in place of path and code, for errors that come from external services. */
  readonly extensions?: (params: P) => object | undefined;
};

const row = <P>(
  status: ErrorRow<P>['status'],
  code: ErrorRow<P>['code'],
  message: ErrorRow<P>['message'],
  newer?: ErrorRow<P>['newer'],
): ErrorRow<P> => ({ status, code, message, ...(newer ? { newer } : {}) });

type Table = { readonly table: string };
type Named = { readonly name: string };
type Permission = { readonly type: string; readonly table: string; readonly role: string };
type Text = { readonly text: string };
type Prefixed = { readonly prefix: string };
type Reason = { readonly reason: string };
type Limited = { readonly found: number; readonly most: number };

export const ERRORS = {
  // ── the request itself ──
  invalidJson: row<object>(400, 'invalid-json', () => 'invalid json'),
  parseFailed: row<Text>(400, 'parse-failed', (p) => p.text),
  resourceNotFound: row<object>(404, 'not-found', () => 'No such resource exists', {
    message: () => 'resource does not exist',
  }),
  /** No REST endpoint matches the URL. */
  endpointNotFound: row<object>(404, 'not-found', () => 'Endpoint not found'),
  methodNotAllowed: row<{ allowed: string }>(
    405,
    'method-not-allowed',
    (p) => `Allowed methods: ${p.allowed}`,
  ),
  bodyTooLarge: row<{ mostBytes: number }>(
    413,
    'bad-request',
    (p) => `request body is larger than ${p.mostBytes} bytes`,
  ),
  headersTooLarge: row<{ most: number; mostBytes: number }>(
    431,
    'bad-request',
    (p) => `request headers are more than ${p.most} or larger than ${p.mostBytes} bytes`,
  ),
  overloaded: row<Text>(503, 'overloaded', (p) => p.text),
  /** The client disconnected; only the log has it. */
  clientGone: row<object>(
    499,
    'cancelled',
    () => 'the client closed the connection or stopped the operation',
  ),
  requestTooSlow: row<object>(408, 'bad-request', () => 'the request did not arrive in time'),
  originNotAllowed: row<object>(
    400,
    'access-denied',
    () => 'origin header does not match configured CORS domains',
  ),
  hostNotAllowed: row<{ host: string }>(
    403,
    'access-denied',
    (p) =>
      `host "${p.host}" is not allowed: without an admin secret the engine answers to loopback names, IP addresses, ` +
      '--server-host and --allowed-hosts',
  ),
  preflightMissing: row<Prefixed>(
    415,
    'bad-request',
    (p) => `expected the header "Content-Type: application/json", a bearer token or a ${p.prefix}* header`,
  ),
  // ── who asks; `prefix` is that of the headers, `x-engine-` ──
  adminSecretMissing: row<Prefixed>(
    401,
    'access-denied',
    (p) => `${p.prefix}admin-secret/${p.prefix}access-key required, but not found`,
  ),
  adminSecretInvalid: row<Prefixed>(
    401,
    'access-denied',
    (p) => `invalid ${p.prefix}admin-secret/${p.prefix}access-key`,
  ),
  emptyRole: row<Prefixed>(400, 'invalid-headers', (p) => `${p.prefix}role must not be empty`),
  tokenMissing: row<object>(
    400,
    'invalid-headers',
    () => "Missing 'Authorization' or 'Cookie' header in JWT authentication mode",
  ),
  jwtUnverified: row<Reason>(400, 'invalid-jwt', (p) => `Could not verify JWT: ${p.reason}`),
  jwtMissingRoleClaim: row<{ claim: string }>(
    400,
    'jwt-missing-role-claims',
    (p) => `JWT claim does not contain ${p.claim}`,
  ),
  jwtInvalidClaims: row<Text>(400, 'jwt-invalid-claims', (p) => p.text),
  roleNotAllowed: row<object>(400, 'access-denied', () => 'Your requested role is not in allowed roles'),
  hookUnauthorized: row<object>(401, 'access-denied', () => 'Authentication hook unauthorized this request'),
  hookFailed: row<Reason>(500, 'unexpected', (p) => `the authentication hook failed: ${p.reason}`),
  hookRoleMissing: row<Prefixed>(
    400,
    'invalid-params',
    (p) => `${p.prefix}role not found in session variables`,
  ),
  backendOnlyNotBoolean: row<Prefixed>(
    400,
    'bad-request',
    (p) =>
      `${p.prefix}use-backend-only-permissions:  Not a valid boolean text. True values are ["true","t","yes","y"] ` +
      'and  False values are ["false","f","no","n"]. All values are case insensitive',
  ),
  accessDenied: row<object>(400, 'access-denied', () => 'You have to be admin to access this endpoint'),
  transactionDenied: row<object>(400, 'access-denied', () => 'not authorised to access this tx'),
  missingHeader: row<Named>(400, 'invalid-headers', (p) => `missing header : ${p.name}`),
  userIdNotInteger: row<object>(400, 'invalid-headers', () => 'X-Engine-User-Id should be an integer'),
  // ── objects of the document ──
  alreadyTracked: row<Table>(400, 'already-tracked', (p) => `view/table already tracked : ${p.table}`, {
    message: (p) => `view/table already tracked: "${p.table}"`,
  }),
  alreadyUntracked: row<Table>(400, 'already-untracked', (p) => `view/table already untracked : ${p.table}`, {
    message: (p) => `view/table already untracked: "${p.table}"`,
  }),
  permissionExists: row<Permission>(
    400,
    'permission-error',
    (p) => `${p.type} permission on ${p.table} for role ${p.role} already exists`,
    {
      code: 'already-exists',
      message: (p) => `${p.type} permission already defined on table "${p.table}" with role "${p.role}"`,
    },
  ),
  permissionNotExists: row<Permission>(
    400,
    'permission-error',
    (p) => `${p.type} permission on ${p.table} for role ${p.role} does not exist`,
    {
      code: 'permission-denied',
      message: (p) => `${p.type} permission on "${p.table}" for role "${p.role}" does not exist`,
    },
  ),
  relationshipExists: row<Table & Named>(
    400,
    'already-exists',
    (p) => `column/relationship of table ${p.table} already exists`,
    { message: (p) => `column/relationship "${p.name}" of table "${p.table}" already exists` },
  ),
  relationshipNotExists: row<Table & Named>(400, 'not-exists', (p) => `${p.name} does not exist`, {
    message: (p) => `relationship "${p.name}" does not exist in table "${p.table}"`,
  }),
  multipleDeclarations: row<{ kind: string; names: string }>(
    400,
    'already-exists',
    (p) => `multiple declarations exist for the following ${p.kind} : ${p.names}`,
    { message: (p) => `multiple declarations exist for the following ${p.kind}: ${p.names}` },
  ),
  sourceNotFound: row<{ source: string }>(
    400,
    'not-exists',
    (p) => `source with name "${p.source}" does not exist`,
  ),
  sourceExists: row<{ source: string }>(
    400,
    'already-exists',
    (p) => `source with name "${p.source}" already exists`,
  ),
  tlsHostExists: row<{ host: string }>(
    400,
    'already-exists',
    (p) => `the host "${p.host}" is on the TLS allow list already`,
  ),
  tlsHostNotExists: row<{ host: string }>(
    400,
    'not-exists',
    (p) => `the host "${p.host}" is not on the TLS allow list`,
  ),
  onlyReadOnlySql: row<object>(
    400,
    'bad-request',
    () => 'Only read-only queries are allowed in a concurrent_bulk',
  ),
  /** The endpoint needs a program that is not installed beside the engine. */
  pgDumpMissing: row<object>(
    400,
    'not-supported',
    () => 'pg_dump is not installed where the engine runs; install the client programs of PostgreSQL',
  ),
  /** The program's own message is in `internal`. */
  pgDumpFailed: row<object>(500, 'unexpected', () => 'error while executing pg_dump'),
  /** The version of the document was never stored or is not kept any more. */
  revisionNotExists: row<{ version: number }>(
    400,
    'not-exists',
    (p) => `metadata revision ${p.version} does not exist`,
  ),
  /** Raised for `allow_warnings: false`. The warnings are in `internal`. */
  metadataWarnings: row<Reason>(
    400,
    'metadata-warnings',
    (p) => `the metadata has warnings, which are not allowed: ${p.reason}`,
  ),
  collectionExists: row<Named>(
    400,
    'already-exists',
    (p) => `query collection with name "${p.name}" already exists`,
  ),
  collectionNotExists: row<Named>(
    400,
    'not-exists',
    (p) => `query collection with name "${p.name}" does not exist`,
  ),
  collectionInUse: row<Named & { users: string }>(
    400,
    'dependency-error',
    (p) =>
      `query collection with name "${p.name}" is used by ${p.users}; pass cascade to drop it from there too`,
  ),
  queryExists: row<Named & { collection: string }>(
    400,
    'already-exists',
    (p) => `query with name "${p.name}" already exists in collection "${p.collection}"`,
  ),
  queryNotExists: row<Named & { collection: string }>(
    400,
    'not-exists',
    (p) => `query with name "${p.name}" does not exist in collection "${p.collection}"`,
  ),
  queryInUse: row<Named & { collection: string; users: string }>(
    400,
    'dependency-error',
    (p) => `query with name "${p.name}" in collection "${p.collection}" is used by ${p.users}`,
  ),
  endpointExists: row<Named>(400, 'already-exists', (p) => `Endpoint with name: ${p.name} already exists`),
  endpointNotExists: row<Named>(400, 'not-exists', (p) => `endpoint with name: ${p.name} does not exist`),
  allowedElsewhere: row<Named>(
    400,
    'already-exists',
    (p) => `collection "${p.name}" already exists in the allowlist with a different scope`,
  ),
  notAllowlisted: row<Named>(
    400,
    'not-found',
    (p) => `collection "${p.name}" does not exist in the allowlist`,
  ),
  // ── who may see what ──
  columnNotPermitted: row<{ type: string; column: string; role: string }>(
    400,
    'permission-denied',
    (p) => `role ${p.role} does not have permission to ${p.type} column ${p.column}`,
    { message: (p) => `role "${p.role}" does not have permission to ${p.type} column "${p.column}"` },
  ),
  operationNotPermitted: row<Permission>(
    400,
    'permission-denied',
    (p) => `${p.type} on ${p.table} for role ${p.role} is not allowed`,
    { message: (p) => `${p.type} on "${p.table}" for role "${p.role}" is not allowed. ` },
  ),
  selectNotPermitted: row<Named & { role: string; needs?: string }>(
    400,
    'permission-denied',
    (p) => `select on ${p.name} for role ${p.role} is not allowed.`,
    { message: (p) => `select on "${p.name}" for role "${p.role}" is not allowed. ${onlyReaders(p.needs)}` },
  ),
  rootReadNotPermitted: row<Named & { role: string; way: string; isHidden: boolean }>(
    400,
    'permission-denied',
    (p) =>
      p.isHidden
        ? `"${p.way}" on "${p.name}" for role "${p.role}" is not allowed: its "query_root_fields" leave it out`
        : `"${p.way}" on "${p.name}" for role "${p.role}" is not allowed: its permission has no "allow_aggregations"`,
  ),
  upsertNotPermitted: row<{ role: string }>(
    400,
    'unexpected-payload',
    (p) => `upsert is not allowed for role ${p.role}`,
    { message: (p) => `upsert is not allowed for role "${p.role}"` },
  ),
  notFoundInType: row<{ field: string; type: string }>(
    400,
    'validation-failed',
    (p) => `field '${p.field}' not found in type: '${p.type}'`,
  ),
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
  missingSessionVariable: row<Named>(400, 'not-found', (p) => `missing session variable: "${p.name}"`),
  // ── admin operations: the document, its store, run_sql ──
  adminOnly: row<object>(400, 'access-denied', () => 'restricted access : admin only'),
  conflict: row<{ version: string }>(
    409,
    'conflict',
    (p) => `metadata resource version referenced (${p.version}) did not match current version`,
  ),
  unsupportedCatalogVersion: row<{ version: string }>(
    400,
    'not-supported',
    (p) => `unsupported version : ${p.version}`,
  ),
  newInconsistencies: row<object>(
    400,
    'unexpected',
    () => 'cannot continue due to new inconsistent metadata',
  ),
  /** The stored document does not fit the schema any more. */
  newlyInconsistent: row<object>(
    500,
    'unexpected',
    () => 'cannot continue due to newly found inconsistent metadata',
  ),
  inconsistentMetadata: row<{ reasons: string }>(
    400,
    'unexpected',
    (p) => `cannot continue due to inconsistent metadata: ${p.reasons}`,
    { message: () => 'cannot continue due to inconsistent metadata' },
  ),
  queryExecutionFailed: row<object>(400, 'postgres-error', () => 'query execution failed'),
  sourceUnreachable: row<{ source: string; reason: string }>(
    500,
    'postgres-error',
    () => 'connection error',
    { message: (p) => `connection error: ${p.reason}` },
  ),
  /** The database or the engine has reached its limit of connections and waiting requests. */
  databaseBusy: row<Text>(503, 'postgres-max-connections-error', (p) => p.text),
  cannotDropDependents: row<{ dependents: string }>(
    400,
    'dependency-error',
    (p) => `cannot drop due to the following dependent objects : ${p.dependents}`,
    { message: (p) => `cannot drop due to the following dependent objects: ${p.dependents}` },
  ),
  cannotChangeType: row<{ column: string; table: string; dependents: string }>(
    400,
    'dependency-error',
    (p) =>
      `cannot change type of column ${p.column} in table ${p.table} because of the following dependencies : ${p.dependents}`,
    {
      message: (p) =>
        `cannot change type of column "${p.column}" in table "${p.table}" because of the following dependencies: ${p.dependents}`,
    },
  ),
  tableRenameNotSupported: row<Table>(
    400,
    'not-supported',
    (p) => `table renames are not yet supported : ${p.table}`,
  ),
  columnRenameNotSupported: row<Table & { column: string }>(
    400,
    'not-supported',
    (p) => `column renames are not yet supported : ${p.table}.${p.column}`,
  ),
  alreadyInitialised: row<{ version: string }>(
    400,
    'already-initialised',
    (p) =>
      `the state seems to be initialised already. you may need to migrate from this version: ${p.version}`,
  ),
  transactionNotExists: row<object>(400, 'not-exists', () => 'tx does not exists'),
  templateExists: row<Named>(400, 'already-exists', (p) => `the query template already exists ${p.name}`),
  columnNamedLikeRelationship: row<{ column: string; table: string }>(
    400,
    'already-exists',
    (p) => `cannot add column ${p.column} in table ${p.table} as a relationship with the name already exists`,
    {
      message: (p) =>
        `cannot add column "${p.column}" in table "${p.table}" as a relationship with the name already exists`,
    },
  ),
  mixedAccessModes: row<{ expected: string; path: string; forced: string }>(
    400,
    'bad-request',
    (p) =>
      `incompatible access mode requirements in bulk query, expected access mode: ${p.expected}` +
      ` but ${p.path} forces ${p.forced}`,
  ),
  // ── metadata against a database ──
  tableNotInDatabase: row<Table>(
    400,
    'not-exists',
    (p) => `no such table/view exists in the database: ${p.table}`,
    { message: (p) => `no such table/view exists in source: "${p.table}"` },
  ),
  tableNotInSource: row<Table & { source: string }>(
    400,
    'not-exists',
    (p) => `table ${p.table} does not exist`,
    { message: (p) => `table "${p.table}" does not exist in source: ${p.source}` },
  ),
  tableNotTracked: row<Table>(400, 'not-exists', (p) => `table ${p.table} does not exist`, {
    message: (p) => `table "${p.table}" is not tracked`,
  }),
  columnNotExists: row<Named>(400, 'not-exists', (p) => `${p.name} does not exist`, {
    message: (p) => `column "${p.name}" does not exist`,
  }),
  /** The name is neither a column nor a relationship. */
  fieldNotExists: row<Named>(400, 'not-exists', (p) => `${p.name} does not exist`, {
    message: (p) => `"${p.name}" does not exist`,
  }),
  computedFieldNotExists: row<Named>(400, 'not-exists', (p) => `${p.name} does not exist`, {
    message: (p) => `computed field "${p.name}" does not exist`,
  }),
  fieldConflict: row<Table & { with: string }>(
    400,
    'already-exists',
    (p) => `column/relationship of table ${p.table} already exists`,
    { message: (p) => `field definition conflicts with ${p.with}` },
  ),
  noForeignKey: row<object>(
    400,
    'constraint-error',
    () => 'no foreign constraint exists on the given column',
    { message: () => 'no foreign constraint exists on the given column(s)' },
  ),
  severalForeignKeys: row<object>(
    400,
    'constraint-error',
    () => 'more than one foreign key constraint exists on the given column',
    { message: () => 'more than one foreign key constraint exists on the given column(s)' },
  ),
  unknownOperator: row<Named>(400, 'unexpected-payload', (p) => `Unknown operator : ${p.name}`),
  operatorNotForType: row<{ type: string; types: string }>(
    400,
    'unexpected-payload',
    (p) => `is of type ${p.type}; this operator works only on column of types [${p.types}]`,
  ),
  columnOperandNotText: row<object>(
    400,
    'unexpected-payload',
    () => 'expecting a string for column operator',
  ),
  incompatibleColumns: row<{ left: string; right: string }>(
    400,
    'unexpected-payload',
    (p) => `incompatible column types : ${p.left}, ${p.right}`,
  ),
  subscriptionOverHttp: row<object>(
    400,
    'unexpected-payload',
    () => 'subscriptions are not supported over HTTP, use websockets instead',
  ),
  /** The field has another answer since the metadata changed. */
  subscriptionChanged: row<object>(
    400,
    'validation-failed',
    () => 'the subscription means something else since the metadata has changed',
  ),
  /** An operation over a WebSocket cannot begin. */
  startFailed: row<Text>(400, 'start-failed', (p) => p.text),
  unexpectedPayload: row<Text>(400, 'unexpected-payload', (p) => p.text),
  notSupported: row<Text>(400, 'not-supported', (p) => p.text),
  invalidConfiguration: row<Text>(400, 'invalid-configuration', (p) => p.text),
  /** A variable or file that a source's connection needs is missing. It may appear later, so the source is retried like one whose
   *  database does not answer. */
  connectionSecretMissing: row<Text>(400, 'invalid-configuration', (p) => p.text),
  /** The TLS configuration of a source's connection is unusable, whatever its database. */
  tlsUnusable: row<Text>(400, 'invalid-configuration', (p) => p.text),
  conflictingRootFields: row<Text>(500, 'unexpected', (p) => p.text),
  /** An earlier error as an object's inconsistency. In the newer wording all of them are `invalid-configuration`. */
  inconsistentObject: row<{ code: string; text: string; reason: string }>(
    400,
    (p) => p.code,
    (p) => p.text,
    { code: 'invalid-configuration', message: (p) => p.reason },
  ),
  // ── the older data operations of /v1/query ──
  invalidParameters: row<Text>(400, 'invalid-params', (p) => p.text),
  missingParameter: row<Named>(400, 'invalid-params', (p) => `missing parameter : ${p.name}`),
  dottedTable: row<Table>(400, 'parse-failed', (p) => `parsing dotted table failed : ${p.table}`),
  conflictTargetMissing: row<object>(
    400,
    'unexpected-payload',
    () => 'Expecting constraint or constraint_on when the action is update',
  ),
  conflictTargetTwice: row<object>(
    400,
    'unexpected-payload',
    () => 'constraint and constraint_on cannot be set at a time',
  ),
  noObjects: row<object>(400, 'unexpected-payload', () => 'objects should not be empty'),
  empty: row<object>(400, 'unexpected-payload', () => "can't be empty"),
  relationshipNotExpanded: row<Named>(
    400,
    'unexpected-payload',
    (p) => `${p.name} is a relationship and should be expanded`,
  ),
  columnNotIncluded: row<Named>(400, 'unexpected-payload', (p) => `${p.name} should be included in columns`),
  orderByArrayRelationship: row<Named>(
    400,
    'unexpected-payload',
    (p) => `${p.name} is an array relationship and can't be used in order_by`,
  ),
  columnChained: row<Named>(
    400,
    'unexpected-payload',
    (p) => `${p.name} is a database column and cannot be chained further`,
  ),
  emptyOrderBy: row<object>(400, 'unexpected-payload', () => 'order_by array should not be empty'),
  argumentsOnObjectRelationship: row<object>(
    400,
    'unexpected-payload',
    () => "when selecting an obj_relationship where, order_by, limit and offset can't be used",
  ),
  nothingToUpdate: row<object>(
    400,
    'unexpected-payload',
    () => 'atleast one of $set, $inc, $mul has to be present',
  ),
  noSuchColumn: row<Named>(400, 'not-exists', (p) => `no such column exists : ${p.name}`, {
    message: (p) => `no such column exists: "${p.name}"`,
  }),
  columnExpected: row<Named>(
    400,
    'unexpected-payload',
    (p) => `expecting a database column; but, ${p.name} is relationship`,
  ),
  jsonColumnInWhere: row<object>(
    400,
    'unexpected-payload',
    () => 'JSON column can not be part of where clause',
  ),
  // ── functions ──
  functionAlreadyTracked: row<Named>(400, 'already-tracked', (p) => `function already tracked : ${p.name}`, {
    message: (p) => `function already tracked: "${p.name}"`,
  }),
  functionNotInDatabase: row<Named>(400, 'not-exists', (p) => `no such function exists: "${p.name}"`),
  functionNotTracked: row<Named>(400, 'not-exists', (p) => `function ${p.name} does not exist`, {
    message: (p) => `function "${p.name}" does not exist`,
  }),
  functionPermissionExists: row<Named & { role: string }>(
    400,
    'already-exists',
    (p) => `permission of role "${p.role}" already exists for function "${p.name}"`,
  ),
  cyclicRoles: row<{ roles: readonly string[] }>(
    400,
    'cyclic-dependency',
    (p) => `found cycle(s) in roles: ${JSON.stringify(p.roles)}`,
  ),
  roleInheritsItself: row<object>(
    400,
    'invalid-params',
    () => 'an inherited role name cannot be in the role combination',
  ),
  parentRolesNotFound: row<{ roles: readonly string[]; role: string }>(
    400,
    'not-exists',
    (p) =>
      `the following parent role(s) are not found: ${p.roles.join(', ')} ` +
      `which are required to construct the inherited role: ${p.role}`,
  ),
  inheritedRoleNotExists: row<{ role: string }>(
    400,
    'not-exists',
    (p) => `"${p.role}" inherited role doesn't exist`,
  ),
  /** `entity` is the object as clients see it: `insert permission, table: author, source: 'default'`. */
  inheritedPermissionConflict: row<{ role: string; entity: string }>(
    400,
    'unexpected',
    (p) => `Could not inherit permission for the role '${p.role}' for the entity: '${p.entity}'`,
  ),
  functionPermissionMissing: row<Named & { role: string }>(
    400,
    'not-exists',
    (p) => `permission of role "${p.role}" does not exist for function "${p.name}"`,
  ),
  // ── logical models and native queries ──
  logicalModelAlreadyTracked: row<Named>(
    400,
    'already-tracked',
    (p) => `Logical model '${p.name}' is already tracked.`,
  ),
  logicalModelNotFound: row<Named & { source: string }>(
    400,
    'not-found',
    (p) => `Logical model "${p.name}" not found in source "${p.source}".`,
  ),
  logicalModelInUse: row<Named & { query: string }>(
    400,
    'constraint-violation',
    (p) => `Logical model "${p.name}" still being used by native query "${p.query}".`,
  ),
  logicalModelPermissionExists: row<Named & { role: string }>(
    400,
    'already-exists',
    (p) => `select permission already defined on logical model "${p.name}" with role "${p.role}"`,
  ),
  logicalModelPermissionMissing: row<Named & { role: string }>(
    400,
    'not-found',
    (p) => `select permission on logical model "${p.name}" for role "${p.role}" does not exist`,
  ),
  nativeQueryAlreadyTracked: row<Named>(
    400,
    'already-tracked',
    (p) => `Native query '${p.name}' is already tracked.`,
  ),
  nativeQueryNotFound: row<Named & { source: string }>(
    400,
    'not-found',
    (p) => `Native query "${p.name}" not found in source "${p.source}".`,
  ),
  /** The message of PREPARE is in `internal` and in the reason of the inconsistency. */
  nativeQueryInvalid: row<{ reason: string }>(
    400,
    'validation-failed',
    (p) => `Failed to validate query: ${p.reason}`,
  ),
  // ── actions ──
  actionExists: row<Named>(400, 'already-exists', (p) => `action with name "${p.name}" already exists`),
  actionNotExists: row<Named>(400, 'not-exists', (p) => `action with name "${p.name}" does not exist`),
  actionPermissionExists: row<Named & { role: string }>(
    400,
    'already-exists',
    (p) => `permission for role "${p.role}" is already defined on action "${p.name}"`,
  ),
  actionPermissionNotExists: row<Named & { role: string }>(
    400,
    'not-exists',
    (p) => `permission for role "${p.role}" is not defined on action "${p.name}"`,
  ),
  eventTriggerExists: row<Named>(
    400,
    'already-exists',
    (p) => `event trigger with name "${p.name}" already exists`,
  ),
  eventTriggerNotExists: row<Named>(
    400,
    'not-exists',
    (p) => `event trigger with name "${p.name}" does not exist`,
  ),
  /** The event trigger would not react to anything. */
  eventTriggerWithoutEvents: row<object>(
    400,
    'parse-failed',
    () => 'atleast one amongst insert/update/delete/enable_manual spec must be provided',
  ),
  eventTriggerNotManual: row<Named>(
    400,
    'not-supported',
    (p) => `manual mode is not enabled for event trigger "${p.name}"`,
  ),
  eventNotExists: row<object>(400, 'not-exists', () => 'event not found'),
  eventTriggerWithoutCleanup: row<Named>(
    400,
    'not-exists',
    (p) => `cleanup config does not exist for the event trigger with name "${p.name}"`,
  ),
  cronTriggerExists: row<Named>(
    400,
    'already-exists',
    (p) => `cron trigger with name: ${p.name} already exists`,
  ),
  cronTriggerNotExists: row<Named>(
    400,
    'not-exists',
    (p) => `cron trigger with name: ${p.name} does not exist`,
  ),
  scheduleInvalid: row<{ schedule: string; reason: string }>(
    400,
    'parse-failed',
    (p) => `"${p.schedule}" is not a cron schedule: ${p.reason}`,
  ),
  eventBusy: row<object>(400, 'busy', () => 'event is already being processed'),
  customTypesInvalid: row<{ reason: string }>(
    400,
    'invalid-configuration',
    (p) => `validation for the given custom types failed because ${p.reason}`,
  ),
  // ── remote schemas ──
  remoteSchemaExists: row<Named>(
    400,
    'already-exists',
    (p) => `remote schema with name "${p.name}" already exists`,
  ),
  remoteSchemaNotExists: row<Named>(
    400,
    'not-exists',
    (p) => `remote schema with name "${p.name}" does not exist`,
  ),
  /** The introspection of a remote schema is invalid or describes no schema, or its names cannot be customized like that. */
  remoteSchemaInvalid: row<Text>(400, 'remote-schema-error', (p) => p.text),
  /** The query that a relationship sends to a remote schema is invalid. */
  remoteRelationshipInvalid: row<Text>(400, 'remote-schema-error', (p) => p.text),
  remoteRelationshipNotExists: row<Named & { owner: string }>(
    400,
    'not-exists',
    (p) => `remote relationship "${p.name}" on ${p.owner} does not exist`,
  ),
  remoteTypeRelationshipExists: row<Named & { type: string }>(
    400,
    'already-exists',
    (p) => `remote relationship "${p.name}" on type "${p.type}" already exists`,
  ),
  remoteTypeRelationshipNotExists: row<Named & { schema: string }>(
    400,
    'not-exists',
    (p) => `no relationship defined on remote schema "${p.schema}" with name "${p.name}"`,
  ),
  /** The type that a relationship starts from does not exist. */
  remoteTypeNotFound: row<{ schema: string; type: string }>(
    400,
    'not-found',
    (p) => `no type named ${p.type} defined in remote schema "${p.schema}"`,
  ),
  remoteTypeNotObject: row<object>(400, 'not-supported', () => {
    return 'remote relationships on a remote schema can only be defined on object types';
  }),
  /** `url` is the URL as the metadata has it, because the environment may hold secrets. */
  remoteSchemaUnreachable: row<{ url: string }>(
    400,
    'remote-schema-error',
    (p) => `HTTP exception occurred while sending the request to "${p.url}"`,
  ),
  remoteSchemaPermissionExists: row<Named & { role: string }>(
    400,
    'already-exists',
    (p) => `permissions for role: "${p.role}" for remote schema: "${p.name}" already exists`,
  ),
  remoteSchemaPermissionNotExists: row<Named & { role: string }>(
    400,
    'not-exists',
    (p) => `permissions for role: "${p.role}" for remote schema: "${p.name}" does not exist`,
  ),
  remoteSchemaPermissionsOff: row<object>(
    400,
    'constraint-violation',
    () =>
      'remote schema permissions can only be added when remote schema permissions are enabled: ' +
      'start the engine with --enable-remote-schema-permissions',
  ),
  remoteSchemaPermissionOfAdmin: row<object>(
    400,
    'constraint-violation',
    () => 'cannot define permission for admin role',
  ),
  /** The part of a remote schema that a permission grants to a role is invalid. */
  remoteSchemaPermissionInvalid: row<{ why: string }>(
    400,
    'validation-failed',
    (p) => `validation for the given role-based schema failed ${p.why}`,
  ),
  // ── a GraphQL request ──
  notGraphql: row<object>(400, 'validation-failed', () => 'not a valid graphql query'),
  validationFailed: row<Text>(400, 'validation-failed', (p) => p.text),
  noSuchArgument: row<{ field: string; argument: string }>(
    400,
    'validation-failed',
    (p) => `'${p.field}' has no argument named '${p.argument}'`,
  ),
  expectedButFound: row<{ expected: string; type: string; found: string }>(
    400,
    'validation-failed',
    (p) => `expected ${p.expected} for type '${p.type}', but found ${p.found}`,
  ),
  unexpectedNull: row<{ type: string }>(
    400,
    'validation-failed',
    (p) => `unexpected null value for type '${p.type}'`,
  ),
  missingValue: row<Named>(400, 'validation-failed', (p) => `missing required field '${p.name}'`),
  variableMismatch: row<{ name: string; declared: string; expected: string }>(
    400,
    'validation-failed',
    (p) => `variable '${p.name}' is declared as '${p.declared}', but used where '${p.expected}' is expected`,
  ),
  unexpectedVariables: row<{ names: readonly string[] }>(
    400,
    'validation-failed',
    (p) => `unexpected variables in variableValues: ${p.names.join(', ')}`,
  ),
  missingVariable: row<Named>(
    400,
    'validation-failed',
    (p) => `expecting a value for non-nullable variable: "${p.name}"`,
  ),
  nullVariable: row<{ type: string }>(
    400,
    'validation-failed',
    (p) => `null value found for non-nullable type: "${p.type}"`,
  ),
  unboundVariable: row<Named>(400, 'validation-failed', (p) => `unbound variable "${p.name}"`),
  unknownDirective: row<Named>(
    400,
    'validation-failed',
    (p) => `directive '${p.name}' is not defined in the schema`,
  ),
  unknownFragment: row<Named>(400, 'validation-failed', (p) => `reference to undefined fragment "${p.name}"`),
  impossibleFragment: row<{ on: string; type: string }>(
    400,
    'validation-failed',
    (p) => `a fragment on type '${p.on}' cannot be spread where the type is '${p.type}'`,
  ),
  ambiguousAlias: row<{ alias: string }>(
    400,
    'validation-failed',
    (p) => `different fields, or different arguments, are selected under the same name '${p.alias}'`,
  ),
  // ── request policies ──
  /** `internal` holds the error of the template and its position. */
  /** A source's connection template selects no connection for a request. */
  templateResolutionFailed: row<Text>(400, 'template-resolution-failed', (p) => p.text),
  requestTransformInvalid: row<object>(400, 'validation-failed', () => 'request transform validation failed'),
  responseTransformInvalid: row<object>(
    400,
    'validation-failed',
    () => 'response transform validation failed',
  ),
  queryNotAllowed: row<object>(400, 'validation-failed', () => 'query is not allowed'),
  introspectionDisabled: row<{ role: string }>(
    400,
    'not-supported',
    (p) => `introspection is disabled for role: "${p.role}"`,
  ),
  persistedQueriesDisabled: row<object>(
    400,
    'not-supported',
    () => 'Automatic Persisted Queries is not enabled',
  ),
  depthLimitExceeded: row<Limited>(
    400,
    'depth-limit-exceeded',
    (p) => `depth limit exceeded: the operation is ${p.found} levels deep, the limit is ${p.most}`,
  ),
  nodeLimitExceeded: row<Limited>(
    400,
    'node-limit-exceeded',
    (p) => `node limit exceeded: the operation has ${p.found} nodes, the limit is ${p.most}`,
  ),
  batchLimitExceeded: row<Limited>(
    400,
    'batch-limit-exceeded',
    (p) => `batch limit exceeded: the body has ${p.found} operations, the limit is ${p.most}`,
  ),
  rateLimitExceeded: row<{ most: number }>(
    429,
    'rate-limit-exceeded',
    (p) => `rate limit exceeded: no more than ${p.most} operations a minute`,
  ),
  subscriptionLimitExceeded: row<{ most: number; of: string }>(
    429,
    'subscription-limit-exceeded',
    (p) => `subscription limit exceeded: no more than ${p.most} of a ${p.of} at a time`,
  ),
  timeLimitExceeded: row<{ most: number }>(
    400,
    'time-limit-exceeded',
    (p) => `time limit exceeded: the operation took longer than ${p.most} s`,
  ),
  tooDeep: row<object>(400, 'validation-failed', () => 'the request is nested too deeply'),
  /** A limit of Postgres is exceeded: columns of a result, arguments of a function, depth of an expression. */
  tooComplex: row<Text>(
    400,
    'validation-failed',
    (p) => `the request is too complex for the database: ${p.text}`,
  ),
  tooManyFields: row<{ most: number }>(
    400,
    'validation-failed',
    (p) => `the request selects more than ${p.most} fields`,
  ),
  fragmentCycle: row<{ names: readonly string[] }>(
    400,
    'validation-failed',
    (p) => `the fragment definition(s) ${p.names.join(' and ')} form a cycle`,
  ),
  distinctNotLeading: row<object>(
    400,
    'validation-failed',
    () => '"distinct_on" columns must match initial "order_by" columns',
  ),
  /** A remote schema's permission presets an argument with a session variable that the request lacks. */
  sessionVariableExpected: row<Named>(
    400,
    'not-found',
    (p) => `"${p.name}" session variable expected, but not found`,
  ),
  notCoercible: row<{ value: string; type: string }>(
    400,
    'coercion-error',
    (p) => `"${p.value}" cannot be coerced into an ${p.type} value`,
  ),
  /** A remote schema's answer is not a GraphQL response to the request. */
  remoteAnswerInvalid: row<{ url: string; reason: string }>(
    400,
    'remote-schema-error',
    (p) => `the remote schema at "${p.url}" did not answer with a GraphQL response: ${p.reason}`,
  ),
  /** Raised where the response cannot hold the errors themselves. They are in `internal`. */
  remoteErrors: row<object>(500, 'unexpected', () => 'Errors from remote server'),
  badRequest: row<Text>(400, 'bad-request', (p) => p.text),
  onlyQueriesExplained: row<object>(400, 'invalid-params', () => 'only queries can be explained'),
  // ── Postgres, while a request runs ──
  /** `text` is the database's message, which includes the name of the table. */
  notNullViolation: row<Named & Text>(
    400,
    'postgres-error',
    (p) => `Not-NULL violation. null value in column ${p.name} violates not-null constraint`,
    {
      code: 'constraint-violation',
      message: (p) => `Not-NULL violation. ${p.text}`,
    },
  ),
  constraintViolation: row<Text>(400, 'constraint-violation', (p) => p.text),
  constraintError: row<Text>(400, 'constraint-error', (p) => p.text),
  dataException: row<Text>(400, 'data-exception', (p) => p.text),
  concurrentUpdate: row<Text>(400, 'concurrent-update', (p) => p.text),
  checkFailed: row<object>(
    400,
    'permission-error',
    () => 'check constraint of an insert/update permission has failed',
  ),
  /** A permission's webhook neither allowed nor refused. Only administrators see its address. */
  inputNotValidated: row<{ reason: string }>(
    500,
    'unexpected',
    (p) => `the webhook that validates the input failed: ${p.reason}`,
  ),
  /** An action's webhook did not answer, or not as the action declares. */
  actionFailed: row<Text>(500, 'unexpected', (p) => p.text),
  /** The error of an action's webhook; `extensions` are its own. */
  actionRefused: {
    ...row<{ code: string; message: string; extensions?: object }>(
      400,
      (p) => p.code,
      (p) => p.message,
    ),
    extensions: (p: { extensions?: object }) => p.extensions,
  },
  databaseQueryFailed: row<object>(500, 'unexpected', () => 'database query error'),
  transactionFailed: row<object>(500, 'postgres-error', () => 'postgres transaction error'),
  postgresQueryFailed: row<object>(500, 'postgres-error', () => 'postgres query error'),
  // ── what should not happen ──
  relationshipDependency: row<{ dependency: string }>(
    500,
    'unexpected',
    (p) => `unexpected dependency of relationship : ${p.dependency}`,
  ),
  unexpectedDependent: row<{ dependency: string }>(
    500,
    'unexpected',
    (p) => `unexpected dependent object : ${p.dependency}`,
  ),
  fieldAlreadyThere: row<object>(500, 'unexpected', () => 'field already exists'),
  fieldNotThere: row<object>(500, 'unexpected', () => 'field does not exist'),
  permissionNotThere: row<object>(500, 'unexpected', () => 'permission does not exist'),
  unexpected: row<Text>(500, 'unexpected', (p) => p.text),
} as const satisfies Record<string, ErrorRow<never>>;

export type ErrorName = keyof typeof ERRORS;
export type ErrorParams<N extends ErrorName> = (typeof ERRORS)[N] extends ErrorRow<infer P> ? P : never;

function onlyReaders(operation: string | undefined): string {
  if (operation === undefined) return '';
  return `; "${operation}" is only allowed if the role has "select" permissions on the table`;
}

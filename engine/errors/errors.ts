/** ERRORS: every failure a client can see, one row each: HTTP status, code and message.
 *  Row order is the specification's ("Errors"), grouped by the stage that raises it; docs/reference/errors.md is printed from it.
 *  A row's own wording is the specification's, used by /v1/query. `newer` holds the wording of /v1/metadata and
 *  /v1/graphql where the two differ (reference: features.md section 2).
 *  Not here: how an error is raised or encoded (engine-error.ts), how SQLSTATEs map to rows (execute/pg-errors.ts). */

export type ErrorDialect = 'specification' | 'newer';

export type ErrorRow<P> = {
  readonly status: 200 | 400 | 401 | 404 | 405 | 409 | 413 | 500;
  readonly code: string | ((params: P) => string);
  readonly message: (params: P) => string;
  readonly newer?: { readonly code?: string; readonly message?: (params: P) => string };
};

const row = <P>(
  status: ErrorRow<P>['status'],
  code: ErrorRow<P>['code'],
  message: ErrorRow<P>['message'],
  newer?: ErrorRow<P>['newer'],
): ErrorRow<P> => ({ status, code, message, ...(newer ? { newer } : {}) });

type Table = { readonly table: string };
type Named = { readonly name: string };
type Text = { readonly text: string };
type Prefixed = { readonly prefix: string };

export const ERRORS = {
  // ── the request itself ──
  invalidJson: row<object>(400, 'invalid-json', () => 'invalid json'),
  parseFailed: row<Text>(400, 'parse-failed', (p) => p.text),
  resourceNotFound: row<object>(404, 'not-found', () => 'resource does not exist'),
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
  backendOnlyNotBoolean: row<Prefixed>(
    400,
    'bad-request',
    (p) =>
      `${p.prefix}use-backend-only-permissions:  Not a valid boolean text. True values are ["true","t","yes","y"] ` +
      'and  False values are ["false","f","no","n"]. All values are case insensitive',
  ),
  // ── metadata ──
  alreadyTracked: row<Table>(400, 'already-tracked', (p) => `view/table already tracked : ${p.table}`, {
    message: (p) => `view/table already tracked: "${p.table}"`,
  }),
  notFoundInType: row<{ field: string; type: string }>(
    400,
    'validation-failed',
    (p) => `field '${p.field}' not found in type: '${p.type}'`,
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
  inconsistentMetadata: row<{ reasons: string }>(
    400,
    'unexpected',
    (p) => `cannot continue due to inconsistent metadata: ${p.reasons}`,
  ),
  queryExecutionFailed: row<object>(400, 'postgres-error', () => 'query execution failed'),
  sourceUnreachable: row<{ source: string; reason: string }>(
    500,
    'postgres-error',
    () => 'connection error',
    { message: (p) => `connection error: ${p.reason}` },
  ),
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
  /** Neither a column nor a relationship. */
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
  unexpectedPayload: row<Text>(400, 'unexpected-payload', (p) => p.text),
  notSupported: row<Text>(400, 'not-supported', (p) => p.text),
  invalidConfiguration: row<Text>(400, 'invalid-configuration', (p) => p.text),
  conflictingRootFields: row<Text>(500, 'unexpected', (p) => p.text),
  /** A failure above, as the object's inconsistency: in the newer wording all of them are `invalid-configuration`. */
  inconsistentObject: row<{ code: string; text: string; reason: string }>(
    400,
    (p) => p.code,
    (p) => p.text,
    { code: 'invalid-configuration', message: (p) => p.reason },
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
  fragmentCycle: row<{ names: string }>(
    400,
    'validation-failed',
    (p) => `the fragment definition(s) ${p.names} form a cycle`,
  ),
  distinctNotLeading: row<object>(
    400,
    'validation-failed',
    () => '"distinct_on" columns must match initial "order_by" columns',
  ),
  badRequest: row<Text>(400, 'bad-request', (p) => p.text),
  // ── Postgres, while a request runs ──
  constraintViolation: row<Text>(400, 'constraint-violation', (p) => p.text),
  dataException: row<Text>(400, 'data-exception', (p) => p.text),
  checkFailed: row<object>(
    400,
    'permission-error',
    () => 'check constraint of an insert/update permission has failed',
  ),
  databaseQueryFailed: row<object>(500, 'unexpected', () => 'database query error'),
  unexpected: row<Text>(500, 'unexpected', (p) => p.text),
} as const satisfies Record<string, ErrorRow<never>>;

export type ErrorName = keyof typeof ERRORS;
export type ErrorParams<N extends ErrorName> = (typeof ERRORS)[N] extends ErrorRow<infer P> ? P : never;

/** ERRORS: every failure a client can see, one row each: HTTP status, code and message.
 *  Row order is the specification's ("Errors"), grouped by the stage that raises it; docs/reference/errors.md is printed from it.
 *  A row's own wording is the specification's, used by /v1/query. `newer` holds the wording of /v1/metadata and
 *  /v1/graphql where the two differ (reference: features.md section 2).
 *  Not here: how an error is raised or encoded (engine-error.ts), how SQLSTATEs map to rows (execute/pg-errors.ts). */

export type ErrorDialect = 'specification' | 'newer';

export type ErrorRow<P> = {
  readonly status: 200 | 400 | 401 | 404 | 405 | 409 | 500;
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

export const ERRORS = {
  // ── the request itself ──
  invalidJson: row<object>(400, 'invalid-json', () => 'invalid json'),
  parseFailed: row<Text>(400, 'parse-failed', (p) => p.text),
  resourceNotFound: row<object>(404, 'not-found', () => 'resource does not exist'),
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
  unexpected: row<Text>(500, 'unexpected', (p) => p.text),
} as const satisfies Record<string, ErrorRow<never>>;

export type ErrorName = keyof typeof ERRORS;
export type ErrorParams<N extends ErrorName> = (typeof ERRORS)[N] extends ErrorRow<infer P> ? P : never;

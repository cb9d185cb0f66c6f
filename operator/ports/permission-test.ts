/** PermissionTests: the request to an engine, its response, and the outcome.
 *  Not here: comparing them (permission-tests/). */
import type { PermissionTestSpec } from '../kinds/permission-test.ts';
import type { Reason } from '../kinds.ts';

/** The request of a PermissionTest. */
export type TestRequest = Pick<
  PermissionTestSpec,
  'role' | 'sessionVariables' | 'query' | 'operationName' | 'variables'
>;

/** An error of a GraphQL response. */

export type ResponseError = { readonly code: string; readonly message: string; readonly path: string };

/** The response to the request of a PermissionTest. */
export type TestResponse = {
  readonly data: unknown;
  /** Empty when the request succeeded. */
  readonly errors: readonly ResponseError[];
};

/** The result of a PermissionTest. */
export type TestOutcome = {
  readonly reason: Extract<Reason, 'TestPassed' | 'TestFailed' | 'NotRun'>;
  /** Contains no data of the engine. */
  readonly message: string;
  /** True when the test runs after changes of the metadata. */
  readonly isRun: boolean;
  /** The name of the resource, when the Engine is not Ready while the test fails. */
  readonly gates?: string;
};

/** The last result of each test that runs after changes, by uid, with what it was decided on. */
export type TestMemory = ReadonlyMap<
  string,
  {
    readonly spec: unknown;
    readonly resourceVersion: number;
    readonly at: Date;
    readonly outcome: TestOutcome;
  }
>;

/** A named value that would be sent or removed, without its text. */

/** `get_permission_tests`: the last result of each PermissionTest, as the operator has stored them, and the permissions that the tests cover in the current
 *  document. Runs no statement.
 *  In: the operator's state, the model. Out: the answer as JSON. Not here: running tests (operator/pass/permission-tests.ts), what a request exercises
 *  (test-coverage/). Reference: docs/reference/behaviour/metadata-api.md. */
import { parseJson } from '../json/parse-json.ts';
import { isRecord } from '../json/value.ts';
import { inSlices } from '../limits/slices.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { roleSchemaSteps } from '../schema/role-schemas.ts';
import { memberOf } from './ledger.ts';
import type { Performer } from './request.ts';
import {
  apiOf,
  type CoveredPermission,
  type CoveringTest,
  coverageOf,
  permissionsIn,
  testedIn,
} from './test-coverage/coverage.ts';

/** The most permissions that an answer about all roles lists. */
const MOST_LISTED = 1000;

/** A test as the operator has stored it. */
type StoredTest = CoveringTest & {
  /** The resource, as `PermissionTest namespace/name`. */
  readonly resource: string;
  readonly result: { readonly reason: unknown; readonly message: unknown; readonly since: unknown };
  readonly isRequestStored: boolean;
};

export const getPermissionTests: Performer<'get_permission_tests'> = async (work, { role }) => {
  const stored = testsIn(work.catalogStates.operator);
  if (stored.length === 0) {
    const permissions = { count: permissionsIn(work.metadata).length, tested: 0 };
    return () => ({ tests: [], permissions, covered: [] });
  }
  await work.addedInconsistencies();
  const { model } = work.resolved;
  const { roots } = await inSlices(roleSchemaSteps(model, ADMIN_ROLE, true));
  const api = apiOf(work.metadata, { model, roots });
  const coverage = coverageOf(stored, api);
  const roles = role === undefined ? undefined : api.rolesIn(role);
  const covered = coverage.filter(
    ({ permission, tests }) => tests.length > 0 && (!roles || roles.has(permission.role)),
  );
  const body = {
    tests: stored.map(({ resource, spec, result, isRequestStored }) => ({
      ...{ resource, role: spec.role, ...result, is_request_stored: isRequestStored },
    })),
    permissions: { count: coverage.length, tested: testedIn(coverage) },
    covered: (roles ? covered : covered.slice(0, MOST_LISTED)).map(printCovered),
  };
  return () => body;
};

function printCovered({
  permission: { role, source, table, operation },
  tests,
}: CoveredPermission<StoredTest>) {
  return { role, source, table, operation, tests: tests.map(({ resource }) => resource) };
}

/** Returns the tests in the operator's state (operator/objects/test-results.ts), by name. */
function testsIn(state: unknown): readonly StoredTest[] {
  return Object.entries(memberOf(state, 'tests'))
    .flatMap(([resource, record]) => {
      if (!isRecord(record) || typeof record['role'] !== 'string') return [];
      const { role, reason, message, since, request } = record;
      const sent = requestIn(request);
      const spec = { role, query: sent?.query ?? '', variables: sent?.variables };
      return [{ resource, spec, result: { reason, message, since }, isRequestStored: sent !== undefined }];
    })
    .toSorted((a, b) => (a.resource < b.resource ? -1 : 1));
}

/** Returns the request in a record; undefined when it was too long to be stored. */
function requestIn(text: unknown) {
  try {
    const sent: unknown = parseJson(String(text));
    if (!isRecord(sent) || typeof sent['query'] !== 'string') return undefined;
    const { query, variables } = sent;
    return { query, variables: isRecord(variables) ? variables : {} };
  } catch {
    return undefined;
  }
}

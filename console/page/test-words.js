/** What the page Access says of PermissionTests. In: the answer of `get_permission_tests`. Pure. Not here: components (access-tests.jsx). */

/** Returns the tests of what a role may do with a table by an operation: those that exercise one of the permissions that grant it. */
export function testsOfCell({ tests, covered }, { source, table }, operation, cell) {
  const roles = new Set(cell.grants.map(({ role }) => role));
  const isOfCell = (one) =>
    one.operation === operation &&
    one.source === source &&
    one.table.schema === table.schema &&
    one.table.name === table.name &&
    roles.has(one.role);
  const names = new Set(covered.filter(isOfCell).flatMap((one) => one.tests));
  return tests.filter(({ resource }) => names.has(resource));
}

/** Returns the last results of tests: `2 tests passed`, `1 of 2 tests failed`, `no test`. */
export function resultsInWords(tests) {
  if (tests.length === 0) return 'no test';
  const counted = tests.length === 1 ? '1 test' : `${tests.length} tests`;
  const [passed, failed] = [isPassed, isFailed].map((is) => tests.filter(is).length);
  if (failed > 0) return failed === tests.length ? `${counted} failed` : `${failed} of ${counted} failed`;
  if (passed === tests.length) return `${counted} passed`;
  return passed === 0 ? `${counted}, not run` : `${passed} of ${counted} passed`;
}

export function isFailed({ reason }) {
  return reason === 'TestFailed';
}

function isPassed({ reason }) {
  return reason === 'TestPassed';
}

/** The words for the reason of the condition `Passed`. */
export const RESULTS = { TestPassed: 'passed', TestFailed: 'failed', NotRun: 'not run' };

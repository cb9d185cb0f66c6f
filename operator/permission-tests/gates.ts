/** The resources that are not Ready while a PermissionTest fails. In: resources and the results of tests. Out: names, and the sentence for
 *  their conditions. Pure. Not here: running tests (../pass/permission-tests.ts), conditions (../status). */
import { listText } from '@pergola/engine/list-text';
import type { PermissionTestSpec } from '../kinds/permission-test.ts';
import { type CustomResource, crName, purposeOf } from '../kinds.ts';
import type { TestOutcome } from '../ports/permission-test.ts';

/** The most tests in a message. */
const MOST_TESTS = 3;

/** Returns the name of the Table that the test gates, such as `Table default/loan`. */
export function gatedTable(cr: CustomResource): string | undefined {
  if (purposeOf(cr) !== 'test') return undefined;
  const { metadata, spec } = cr;
  const { gate } = spec as unknown as PermissionTestSpec;
  return gate?.kind === 'Table' ? `Table ${metadata.namespace}/${gate.name}` : undefined;
}

/** Returns the names of all Tables that tests gate. */
export function gatedTables(resources: readonly CustomResource[]): ReadonlySet<string> {
  return new Set(resources.map(gatedTable).filter((name) => name !== undefined));
}

/** Returns the names of the failed tests of each Table. */
export function failedByTable(
  tests: readonly CustomResource[],
  results: ReadonlyMap<string, TestOutcome>,
): ReadonlyMap<string, readonly string[]> {
  const failed = new Map<string, readonly string[]>();
  for (const cr of tests) {
    const table = gatedTable(cr);
    if (table === undefined || results.get(cr.metadata.uid)?.reason !== 'TestFailed') continue;
    failed.set(table, [...(failed.get(table) ?? []), crName(cr)].toSorted());
  }
  return failed;
}

/** Returns the sentence of a resource that is applied while the tests fail. */
export function failedText(applied: 'the resources are' | 'the table is', tests: readonly string[]): string {
  return `${applied} applied, and tests fail: ${listText(tests, { most: MOST_TESTS })}`;
}

/** Runs PermissionTests one after the other. In: the engine and the databases. Out: a result for each test, in the given order.
 *  A test that writes commits, since the engine is called over HTTP. Tests that only read run first and share a copy of the database; after each
 *  test that writes the copy is replaced, so each test starts from the data of the *.sql files.
 *  Not here: sending and comparing (operator/engine, operator/permission-tests), printing (report.ts). */
import { Kind, OperationTypeNode, parse } from 'graphql';
import type { EngineAddress } from '../../operator/engine/address.ts';
import { sendTest } from '../../operator/engine/permission-test.ts';
import { differencesFrom } from '../../operator/permission-tests/expectation.ts';
import type { PermissionTest } from './folder-tests.ts';
import type { ScratchDatabases } from './scratch-databases.ts';

export type TestResult = {
  readonly test: PermissionTest;
  /** Empty when the test passed. */
  readonly differences: readonly string[];
  readonly durationMs: number;
  /** Reasons to look at a test that passed (unfailing.ts). */
  readonly notes?: readonly string[];
};

export type TestBed = {
  readonly engine: EngineAddress;
  readonly databases: Pick<ScratchDatabases, 'app' | 'renew'>;
};

export async function runTests(
  bed: TestBed,
  tests: readonly PermissionTest[],
): Promise<readonly TestResult[]> {
  const results = new Map<PermissionTest, TestResult>();
  for (const test of inRunningOrder(tests)) results.set(test, await runTest(bed, test));
  return tests.map((test) => results.get(test)!);
}

/** Returns the first result that is not a pass; undefined when all tests pass. */
export async function firstFailure(
  bed: TestBed,
  tests: readonly PermissionTest[],
): Promise<TestResult | undefined> {
  for (const test of inRunningOrder(tests)) {
    const result = await runTest(bed, test);
    if (result.differences.length > 0) return result;
  }
  return undefined;
}

function inRunningOrder(tests: readonly PermissionTest[]): readonly PermissionTest[] {
  return [...tests.filter((test) => !writes(test)), ...tests.filter(writes)];
}

async function runTest({ engine, databases }: TestBed, test: PermissionTest): Promise<TestResult> {
  const start = performance.now();
  const response = await sendTest(engine, test.spec);
  const durationMs = performance.now() - start;
  // A mutation with an error wrote nothing in this database, which it changes in one transaction.
  if (writes(test) && response.errors.length === 0) await databases.renew();
  return { test, differences: differencesFrom(test.spec.expect, response), durationMs };
}

/** True when the document has a mutation. One that cannot be parsed writes nothing. */
export function writes({ spec }: PermissionTest): boolean {
  try {
    return parse(spec.query).definitions.some(
      (definition) =>
        definition.kind === Kind.OPERATION_DEFINITION && definition.operation === OperationTypeNode.MUTATION,
    );
  } catch {
    return false;
  }
}

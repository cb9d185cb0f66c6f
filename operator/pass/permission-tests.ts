/** Runs the PermissionTests of a pass after its resources are applied, when the engine is at another version than at their last run, when a test
 *  changed, and otherwise every few minutes, because the data change as well.
 *  In: the resources, the report of the pass so far, the results of earlier passes. Out: the report with the results, which the engine stores
 *  for its console.
 *  A test runs only if its Engine says so and it is in the namespace of the Engine: it reads as any role.
 *  Not here: sending a request (engine/permission-test.ts), comparing (../permission-tests/expectation.ts), the condition (status/conditions.ts). */

import type { PermissionTestSpec } from '../kinds/permission-test.ts';
import { type CustomResource, crName, purposeOf, type Reason } from '../kinds.ts';
import { testResultChanges } from '../objects/test-results.ts';
import { summaryFrom } from '../permission-tests/expectation.ts';
import { failedByTable, failedText, gatedTable } from '../permission-tests/gates.ts';
import type { Clock } from '../ports/clock.ts';
import type { EnginePort } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { Policies, ReconcileOptions } from '../ports/options.ts';
import type { TestMemory, TestOutcome } from '../ports/permission-test.ts';
import type { Ports } from '../ports/ports.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { Verdict } from '../ports/verdict.ts';
import type { Attempt } from './attempt.ts';
import { writeNotes } from './notes.ts';

type TestPass = {
  readonly engine: EnginePort;
  readonly clock: Clock;
  readonly consent: CrSnapshot['consent'];
  readonly policies: Policies;
  /** The version that the engine serves. */
  readonly resourceVersion: number;
  /** False while a replica serves another version: its responses would be about other permissions. */
  readonly isSynced: boolean;
  readonly before: TestMemory;
};

/** The results of tests by the uid of their resource. */
type Results = ReadonlyMap<string, TestOutcome>;

/** The age at which a result is no longer used. Full passes, every ten minutes by default, are further apart. */
const MOST_AGE_MS = 300_000;
/** The most requests at once. */
const MOST_AT_ONCE = 4;

/** Returns the report with the results of PermissionTests. A test that fails is not Ready. After a problem of the engine they stay as they
 *  are. */
export async function withTests(
  { engine, clock }: Ports,
  {
    snapshot,
    resources,
    options,
  }: {
    readonly snapshot: CrSnapshot;
    readonly resources: readonly CustomResource[];
    readonly options: ReconcileOptions;
  },
  report: Attempt,
  before: TestMemory = new Map(),
): Promise<Attempt> {
  const { problem, resourceVersion, replicaSync } = report;
  if (problem || resourceVersion === undefined) return { ...report, tests: before };
  const isSynced = (replicaSync?.lagging ?? []).length === 0;
  const { consent } = snapshot;
  const pass = { engine, clock, consent, policies: options.policies, resourceVersion, isSynced, before };
  const applied = resources.filter(
    ({ metadata }) => report.verdicts.get(metadata.uid)?.outcome.reason === 'Applied',
  );
  const results = await runTests(applied, pass);
  const verdicts = new Map(report.verdicts);
  for (const [uid, test] of results) verdicts.set(uid, withTest(verdicts.get(uid)!, test));
  const failed = failedByTable(applied, results);
  const names = new Set(snapshot.resources.map(crName));
  for (const cr of applied) {
    const { uid } = cr.metadata;
    const tests = failed.get(crName(cr));
    if (tests)
      verdicts.set(uid, withOutcome(verdicts.get(uid)!, 'TestFailed', failedText('the table is', tests)));
    const table = gatedTable(cr);
    if (table !== undefined && !names.has(table)) {
      verdicts.set(uid, withOutcome(verdicts.get(uid)!, 'DependencyNotReady', missingText(table)));
    }
    const test = results.get(uid);
    if (test?.isRun === false && specOf(cr).gate) {
      const text = `spec.gate holds nothing: ${test.message}`;
      verdicts.set(uid, withOutcome(verdicts.get(uid)!, 'DependencyNotReady', text));
    }
  }
  const stored = await storeResults(engine, { snapshot, results, now: clock.now() }, report);
  const memory = memoryOf(applied, results, pass, stored);
  // A pass over edits alone runs no tests of others.
  const tests = report.plan?.scope.isOfEdits ? new Map([...before, ...memory]) : memory;
  return { ...report, verdicts, resourceVersion: stored, tests };
}

/** Stores the results that changed, and returns the version of the engine afterwards. */
function storeResults(
  engine: EnginePort,
  found: { readonly snapshot: CrSnapshot; readonly results: Results; readonly now: Date },
  { plan, resourceVersion }: Attempt,
): Promise<number> {
  const { scope, reading, settled } = plan!;
  const { manager } = scope.ledger;
  const { snapshot, results, now } = found;
  const names = new Set(snapshot.resources.map(crName));
  const tests = testResultChanges(
    new Map(snapshot.resources.flatMap((cr) => resultFor(cr, results))),
    reading.tests ?? new Map(),
    { manager, at: now, exists: (name) => names.has(name) || !snapshot.isComplete },
  );
  return writeNotes(engine, { document: settled.document, version: resourceVersion!, manager }, { tests });
}

function resultFor(
  cr: CustomResource,
  results: Results,
): readonly (readonly [CustomResource, TestOutcome])[] {
  const result = results.get(cr.metadata.uid);
  return result ? [[cr, result]] : [];
}

function missingText(table: string): string {
  return `spec.gate names ${table}, and the Engine has no such resource; correct the name, or remove the gate`;
}

function withOutcome(verdict: Verdict, reason: Reason, message: string): Verdict {
  return { ...verdict, outcome: { reason, message } };
}

function withTest(verdict: Verdict, test: TestOutcome): Verdict {
  const { reason, message } = test;
  return { ...(reason === 'TestFailed' ? withOutcome(verdict, reason, message) : verdict), test };
}

/** Returns the results of all tests among the resources. */
async function runTests(resources: readonly CustomResource[], pass: TestPass): Promise<Results> {
  const tests = resources.filter((cr) => purposeOf(cr) === 'test');
  const results = new Map<string, TestOutcome>();
  for (let i = 0; i < tests.length; i += MOST_AT_ONCE) {
    const part = tests.slice(i, i + MOST_AT_ONCE);
    const outcomes = await Promise.all(part.map((cr) => outcomeOf(cr, pass)));
    for (const [at, { metadata }] of part.entries()) results.set(metadata.uid, outcomes[at]!);
  }
  return results;
}

/** Returns the memory for the next pass: results that are decided, of tests that run. `resourceVersion`: the version after they were stored. */
function memoryOf(
  resources: readonly CustomResource[],
  results: Results,
  { before, clock }: TestPass,
  resourceVersion: number,
): TestMemory {
  const memory = new Map<string, TestMemory extends ReadonlyMap<string, infer T> ? T : never>();
  for (const { metadata, spec } of resources) {
    const outcome = results.get(metadata.uid);
    const known = before.get(metadata.uid);
    if (known && known.outcome === outcome) memory.set(metadata.uid, { ...known, resourceVersion });
    else if (outcome?.isRun && outcome.reason !== 'NotRun') {
      memory.set(metadata.uid, { spec, resourceVersion, at: clock.now(), outcome });
    }
  }
  return memory;
}

async function outcomeOf(cr: CustomResource, pass: TestPass): Promise<TestOutcome> {
  const refusal = refusalOf(cr, pass);
  if (refusal !== undefined) return { reason: 'NotRun', message: refusal, isRun: false };
  const known = pass.before.get(cr.metadata.uid);
  const isCurrent =
    known !== undefined &&
    known.spec === cr.spec &&
    known.resourceVersion === pass.resourceVersion &&
    pass.clock.now().getTime() - known.at.getTime() < MOST_AGE_MS;
  if (isCurrent) return known.outcome;
  if (!pass.isSynced) {
    return {
      reason: 'NotRun',
      message: 'the test runs when all replicas serve the same version',
      isRun: true,
    };
  }
  return run(cr, pass.engine);
}

const OR_BY_COMMAND = ', or run it with pergola test -f FOLDER';

/** Returns why the test does not run in passes, and what to do; undefined when it does. */
function refusalOf(cr: CustomResource, { consent, policies }: TestPass): string | undefined {
  const { runAfterApply } = specOf(cr);
  if (!runAfterApply) {
    return `the test has no runAfterApply; set runAfterApply: true to run it after changes${OR_BY_COMMAND}`;
  }
  if (policies.permissionTests !== 'Run') {
    return `the Engine does not allow tests; set spec.policies.permissionTests: Run of the Engine${OR_BY_COMMAND}`;
  }
  const { namespace } = cr.metadata;
  if (consent && consent.home !== namespace) {
    return `only tests in ${consent.home}, the namespace of the Engine, run after changes, because they read as any role; move it there${OR_BY_COMMAND}`;
  }
  return undefined;
}

async function run(cr: CustomResource, engine: EnginePort): Promise<TestOutcome> {
  const { gate, expect } = specOf(cr);
  try {
    const difference = summaryFrom(expect, await engine.runTest(specOf(cr)));
    if (difference === undefined) {
      return { reason: 'TestPassed', message: 'the response was the expected one', isRun: true };
    }
    const gates = gate?.kind === 'Engine' ? { gates: crName(cr) } : {};
    return { reason: 'TestFailed', message: difference, isRun: true, ...gates };
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    const message = `the engine did not run the test, and the operator tries again: ${error.message}`;
    return { reason: 'NotRun', message, isRun: true };
  }
}

function specOf({ spec }: CustomResource): PermissionTestSpec {
  return spec as unknown as PermissionTestSpec;
}

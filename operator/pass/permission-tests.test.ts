/** Tests when a pass runs PermissionTests, with a scripted engine: what it needs, how often it runs, and what follows for the resource and the
 *  Engine. Not here: a real engine and API server (kubernetes/permission-test.kube.test.ts). */
import { beforeEach, expect, test } from 'vitest';
import { cachedEngine } from '../engine/cached-engine.ts';
import type { EnginePort } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { TestResponse } from '../ports/permission-test.ts';
import { conditionOf } from '../status/conditions.ts';
import { outcomeOfPass } from '../status/engine-status.ts';
import type { Report } from '../status/report.ts';
import { OPTIONS, resource, table } from '../testing/resources.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import { type PreviousPass, reconcile } from './reconcile.ts';

const RUN: ReconcileOptions = { ...OPTIONS, policies: { ...OPTIONS.policies, permissionTests: 'Run' } };
const EXPECTED = { rows: [{ path: 'note', count: 1 }] };
const SPEC = { role: 'reader', query: '{ note { id } }', expect: EXPECTED, runAfterApply: true };
const noteTest = (more: object = {}) => resource('PermissionTest', 'one', { ...SPEC, ...more });
const noteTest2 = (more: object) => resource('PermissionTest', 'two', { ...SPEC, ...more });

let ports: ScriptedPorts;
/** The requests that the engine received, as their roles. */
let sent: string[];
let answer: () => TestResponse;
let previous: PreviousPass;

beforeEach(() => {
  ports = new ScriptedPorts();
  sent = [];
  answer = () => ({ data: { note: [{ id: 1 }] }, errors: [] });
  previous = {};
  ports.engine.runTest = async ({ role }) => {
    sent.push(role);
    return answer();
  };
});

async function pass(options = RUN, engine: EnginePort = ports.engine): Promise<Report> {
  const report = await reconcile({ ...portsOf(ports), engine }, options, previous);
  previous = { tests: report.tests, passState: report.passState, backoff: report.backoff };
  return report;
}

function portsOf({ source, sink, clock }: ScriptedPorts) {
  return { source, sink, clock };
}

/** Returns the conditions Ready and Passed of a test, such as `True Applied, True TestPassed`. */
function said(cr = noteTest()): string {
  const status = ports.status(cr);
  return (['Ready', 'Passed'] as const)
    .map((type) => conditionOf({ ...cr, ...(status ? { status } : {}) }, type))
    .map((condition) => `${condition?.status} ${condition?.reason}`)
    .join(', ');
}

/** Returns the message of the condition Passed. */
function passedMessage(cr = noteTest()): string | undefined {
  const status = ports.status(cr);
  return conditionOf({ ...cr, ...(status ? { status } : {}) }, 'Passed')?.message;
}

test('a test that passes is Ready, and runs again when the metadata or the test has changed, or after a while', async () => {
  const one = noteTest();
  ports.resources = [table('note'), one];
  await pass();
  expect([said(), sent]).toEqual(['True Applied, True TestPassed', ['reader']]);
  await pass();
  expect(sent).toHaveLength(1);
  ports.resources = [table('note'), table('author'), one];
  await pass();
  expect(sent).toHaveLength(2);
  ports.resources = [table('note'), table('author'), noteTest({ operationName: 'Other' })];
  await pass();
  expect(sent).toHaveLength(3);
  ports.time = new Date(ports.time.getTime() + 600_000);
  await pass();
  expect(sent).toHaveLength(4);
});

test('a test that fails is not Ready and names no value, the resources are applied, and the Engine waits if it should', async () => {
  answer = () => ({ data: { note: [{ id: 1 }, { id: 'secret' }] }, errors: [] });
  ports.resources = [table('note'), noteTest()];
  expect(outcomeOfPass(await pass()).reason).toBe('Applied');
  expect(said()).toBe('False TestFailed, False TestFailed');
  expect(ports.message(noteTest())).toBe('The response differs at note.');
  expect(ports.readiness(table('note'))).toBe('True Applied');
  ports.resources = [table('note'), noteTest({ gate: { kind: 'Engine' } })];
  expect(outcomeOfPass(await pass())).toEqual({
    reason: 'TestFailed',
    message: 'the resources are applied, and tests fail: PermissionTest default/one',
  });
  answer = () => ({ data: { note: [{ id: 1 }] }, errors: [] });
  // The same test is not run again before something has changed.
  expect(outcomeOfPass(await pass()).reason).toBe('TestFailed');
  ports.resources = [table('note'), table('author'), noteTest({ gate: { kind: 'Engine' } })];
  expect(outcomeOfPass(await pass()).reason).toBe('Applied');
  expect(said()).toBe('True Applied, True TestPassed');
});

test('a Table is not Ready while a test that gates it fails, and one that nothing gates is', async () => {
  const gate = { kind: 'Table', name: 'note' };
  ports.resources = [table('note'), table('author'), noteTest({ gate })];
  // A pass has the incremental scope only with an engine whose answers are kept.
  const { port, runTest } = ports.engine;
  const engine = cachedEngine({ ...port, runTest: runTest! }, { nowMs: () => 0, maxAgeMs: () => 1 });
  for (let i = 0; i < 2; i++) await pass(RUN, engine);
  expect(ports.readiness(table('note'))).toBe('True Applied');
  // Only the data change, so the pass looks at the test and the Table, and not at the others.
  answer = () => ({ data: { note: [] }, errors: [] });
  ports.time = new Date(ports.time.getTime() + 600_000);
  const failed = await pass(RUN, engine);
  expect([ports.readiness(table('note')), ports.readiness(table('author'))]).toEqual([
    'False TestFailed',
    'True Applied',
  ]);
  expect(ports.message(table('note'))).toBe(
    'The table is applied, and tests fail: PermissionTest default/one.',
  );
  expect([failed.plan?.scope.skipped.size, outcomeOfPass(failed).reason]).toEqual([1, 'Applied']);
  answer = () => ({ data: { note: [{ id: 1 }] }, errors: [] });
  ports.time = new Date(ports.time.getTime() + 600_000);
  await pass(RUN, engine);
  expect(ports.readiness(table('note'))).toBe('True Applied');
});

test('the removal of a test or of its gate makes the Table Ready', async () => {
  const gate = { kind: 'Table', name: 'note' };
  answer = () => ({ data: { note: [] }, errors: [] });
  for (const after of [[table('note')], [table('note'), noteTest()]]) {
    ports.resources = [table('note'), noteTest({ gate })];
    await pass();
    expect(ports.readiness(table('note'))).toBe('False TestFailed');
    ports.resources = after;
    await pass();
    expect(ports.readiness(table('note'))).toBe('True Applied');
  }
});

test('a gate that names no Table of the Engine is said so by the test, whatever comes of the test', async () => {
  ports.resources = [table('note'), noteTest({ gate: { kind: 'Table', name: 'nte' } })];
  await pass();
  expect(said()).toBe('False DependencyNotReady, True TestPassed');
  expect(ports.message(noteTest())).toBe(
    'spec.gate names Table default/nte, and the Engine has no such resource; correct the name, or remove the gate.',
  );
});

test.each([{ kind: 'Engine' }, { kind: 'Table', name: 'note' }])(
  'a gate %o of a test that the Engine does not allow is not Ready, since it holds nothing',
  async (gate) => {
    ports.resources = [table('note'), noteTest({ gate })];
    await pass(OPTIONS);
    expect(said()).toBe('False DependencyNotReady, Unknown NotRun');
    expect(ports.message(noteTest())).toContain(
      'spec.gate holds nothing: the Engine does not allow tests; set spec.policies.permissionTests: Run of the Engine',
    );
    await pass();
    expect(said()).toBe('True Applied, True TestPassed');
  },
);

test('a test does not run without runAfterApply, without the policy, in another namespace, and before its Engine admits it', async () => {
  const consent = {
    home: 'home',
    fingerprint: '',
    isCertain: true,
    refusalOf: () => undefined,
    reservesFor: () => false,
    objectionTo: () => undefined,
  };
  ports.resources = [noteTest({ runAfterApply: false })];
  await pass();
  expect(said()).toBe('True Applied, Unknown NotRun');
  expect(passedMessage()).toBe(
    'The test has no runAfterApply; set runAfterApply: true to run it after changes, or run it with pergola test -f FOLDER.',
  );
  ports.resources = [noteTest()];
  await pass(OPTIONS);
  expect(said()).toBe('True Applied, Unknown NotRun');
  expect(passedMessage()).toBe(
    'The Engine does not allow tests; set spec.policies.permissionTests: Run of the Engine, or run it with pergola test -f FOLDER.',
  );
  ports.given = { ...ports.given, consent };
  await pass();
  expect(said()).toBe('True Applied, Unknown NotRun');
  expect(passedMessage()).toBe(
    'Only tests in home, the namespace of the Engine, run after changes, because they read as any role; move it there, or run it with pergola test -f FOLDER.',
  );
  ports.given = {
    ...ports.given,
    consent: { ...consent, fingerprint: 'refused', refusalOf: () => 'it is not admitted' },
  };
  await pass();
  expect(said()).toBe('False RefNotPermitted, Unknown NotRun');
  expect(passedMessage()).toBe(
    'The test runs once it is Ready, and it is RefNotPermitted: it is not admitted.',
  );
  expect(sent).toEqual([]);
  ports.given = { ...ports.given, consent: { ...consent, fingerprint: 'home', home: 'default' } };
  await pass();
  expect([said(), sent]).toEqual(['True Applied, True TestPassed', ['reader']]);
});

test('a test that gets no response has not run, and is tried again in the next pass', async () => {
  ports.resources = [table('note'), noteTest()];
  answer = () => {
    throw new EngineProblem('unreachable', 'the connection was closed');
  };
  await pass();
  expect(said()).toBe('True Applied, Unknown NotRun');
  expect(passedMessage()).toBe(
    'The engine did not run the test, and the operator tries again: the connection was closed.',
  );
  answer = () => ({ data: { note: [{ id: 1 }] }, errors: [] });
  await pass();
  expect(said()).toBe('True Applied, True TestPassed');
});

test('a test waits for replicas that serve another version', async () => {
  let lagging = [{ replica: '10.0.0.2', problem: 'serves version 1' }];
  ports.engine.laggingReplicas = async () => lagging;
  ports.resources = [table('note'), noteTest()];
  await pass();
  expect([said(), sent]).toEqual([expect.stringContaining('Unknown NotRun'), []]);
  lagging = [];
  await pass();
  expect([said(), sent]).toEqual(['True Applied, True TestPassed', ['reader']]);
});

test('a failed pass keeps the result', async () => {
  ports.resources = [noteTest()];
  await pass();
  ports.engine.before = () => {
    throw new EngineProblem('unreachable', 'the engine does not answer');
  };
  await pass();
  expect(said()).toBe('False EngineUnreachable, True TestPassed');
  expect(previous.tests?.size).toBe(1);
});

test('a test that never ran says that the engine does not answer, and has its own reason again afterwards', async () => {
  ports.resources = [noteTest()];
  await pass(OPTIONS);
  const byPolicy = passedMessage();
  expect(byPolicy).toContain('permissionTests: Run');
  const answers = ports.engine.before;
  ports.engine.before = () => {
    throw new EngineProblem('unreachable', 'the engine does not answer');
  };
  await pass(OPTIONS);
  expect(said()).toBe('False EngineUnreachable, Unknown NotRun');
  expect(passedMessage()).toBe(
    'The test runs once it is Ready, and it is EngineUnreachable: the engine does not answer.',
  );
  ports.engine.before = answers;
  await pass(OPTIONS);
  expect(passedMessage()).toBe(byPolicy);
  await pass(OPTIONS);
  expect(ports.published).toEqual([]);
});

test('the engine stores the last result of each test once, without a version for the same result, and forgets deleted tests', async () => {
  const one = noteTest();
  ports.resources = [table('note'), one, noteTest2({ runAfterApply: false })];
  const stored = () => (ports.engine.operatorState as { readonly tests?: object }).tests ?? {};
  await pass();
  const request = JSON.stringify({ query: SPEC.query });
  const about = { manager: OPTIONS.manager, role: 'reader', since: expect.any(String), request };
  expect(stored()).toEqual({
    'PermissionTest default/one': {
      ...about,
      reason: 'TestPassed',
      message: 'the response was the expected one',
    },
    'PermissionTest default/two': {
      ...about,
      reason: 'NotRun',
      message: expect.stringContaining('runAfterApply'),
    },
  });
  const version = ports.engine.resourceVersion;
  ports.time = new Date(ports.time.getTime() + 600_000);
  await pass();
  await pass();
  expect([ports.engine.resourceVersion, sent.length]).toEqual([version, 2]);
  answer = () => ({ data: { note: [{ id: 'secret' }, { id: 2 }] }, errors: [] });
  ports.time = new Date(ports.time.getTime() + 600_000);
  await pass();
  expect(stored()).toMatchObject({ 'PermissionTest default/one': { reason: 'TestFailed' } });
  expect(JSON.stringify(stored())).not.toContain('secret');
  // The version of the record itself is no reason to run the test again.
  await pass();
  expect([ports.engine.resourceVersion, sent.length]).toEqual([version + 1, 3]);
  ports.resources = [table('note'), one];
  await pass();
  expect(Object.keys(stored())).toEqual(['PermissionTest default/one']);
});

test('a result that cannot be stored is stored by the next pass, and the test counts all the same', async () => {
  ports.resources = [table('note'), noteTest()];
  const write = ports.engine.write.bind(ports.engine);
  let isLate = true;
  ports.engine.write = async (change) => {
    if (change.ledger.tests && isLate) throw new EngineProblem('conflict', 'another version');
    return write(change);
  };
  await pass();
  expect(said()).toBe('True Applied, True TestPassed');
  isLate = false;
  await pass();
  expect(ports.engine.operatorState).toMatchObject({
    tests: { 'PermissionTest default/one': { reason: 'TestPassed' } },
  });
});

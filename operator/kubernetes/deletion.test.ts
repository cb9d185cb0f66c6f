/** Tests what keeps a resource that is being deleted, and that nothing keeps it for ever. */
import { describe, expect, test } from 'vitest';
import { reconcile } from '../pass/reconcile.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import { OPTIONS, table } from '../testing/resources.ts';
import { ScriptedPorts } from '../testing/scripted-ports.ts';
import {
  blockerAfter,
  engineBlockerAfter,
  FINALIZER,
  hasFinalizer,
  isDeleting,
  NOT_BLOCKED,
  remainingMs,
  waitsForDeletion,
} from './deletion.ts';

const DELETED = '2025-06-01T12:00:00Z';
const leaving = table('author', { deletionTimestamp: DELETED, finalizers: ['theirs', FINALIZER] });

/** Runs a pass after one resource was deleted and another one remains. */
async function afterwards(change: (ports: ScriptedPorts) => void) {
  const ports = new ScriptedPorts();
  ports.resources = [table('author'), table('book')];
  await reconcile(ports, OPTIONS);
  ports.resources = [table('book')];
  change(ports);
  return blockerAfter(await reconcile(ports, OPTIONS));
}

test('a resource that waits for deletion, is being deleted, or has the finalizer is recognized', () => {
  const asking = table('a', { spec: { waitForDeletion: true } });
  expect([waitsForDeletion(asking), waitsForDeletion(leaving)]).toEqual([true, false]);
  expect([isDeleting(asking), isDeleting(leaving)]).toEqual([false, true]);
  expect([hasFinalizer(asking), hasFinalizer(leaving)]).toEqual([false, true]);
});

test('a resource is removed once its own objects are deleted', async () => {
  const stay = await afterwards((ports) => {
    ports.given = { ...ports.given, isComplete: true };
  });
  expect(stay(leaving)).toBeUndefined();
  expect(NOT_BLOCKED(leaving)).toBeUndefined();
});

test('a resource stays while deletions are not allowed, and names the object it waits for', async () => {
  const stay = await afterwards((ports) => {
    ports.given = { ...ports.given, isComplete: false };
  });
  expect(stay(leaving)).toMatchObject({ reason: 'Deleting' });
  expect(stay(leaving)?.message).toMatch(
    /^waits for table default\/public\/author to be deleted: nothing is/,
  );
  expect(stay(table('poem'))).toBeUndefined();
});

test('a resource stays while an object without an owner depends on its object', async () => {
  const stay = await afterwards(({ engine }) => {
    const parent = 'table/default/public/author';
    const definition = { role: 'r', permission: { columns: ['id'], filter: {} } };
    engine.put({
      key: 'select_permission/default/public/author/r',
      kind: 'select_permission',
      parent,
      definition,
    });
  });
  expect(stay(leaving)?.message).toContain('select permission default/public/author/r depends on it');
});

test('a resource stays while the engine does not respond or a replica may still serve its objects', async () => {
  const silent = await afterwards(({ engine }) => {
    engine.before = () => {
      throw new EngineProblem('unreachable', 'no answer');
    };
  });
  expect(silent(leaving)).toEqual({ reason: 'Deleting', message: 'no answer' });
  const late = await afterwards(({ engine }) => {
    engine.laggingReplicas = async () => [{ replica: '10.0.0.7', problem: 'is at 1' }];
  });
  expect(late(leaving)?.message).toBe('waits for replicas: 10.0.0.7');
});

describe('an Engine that is being deleted', () => {
  /** Runs a pass after all resources were deleted. */
  async function lastPass(
    change: (ports: ScriptedPorts) => void = () => {},
    pruneGuard = { maxObjects: 9, maxPercent: 100 },
  ) {
    const ports = new ScriptedPorts();
    ports.resources = [table('author'), table('book')];
    await reconcile(ports, OPTIONS);
    ports.resources = [];
    change(ports);
    return reconcile(ports, { ...OPTIONS, policies: { ...OPTIONS.policies, pruneGuard } });
  }

  test('stays while it has resources, also those that are being deleted', async () => {
    const report = await lastPass();
    expect(engineBlockerAfter(report, [leaving, table('book')])).toEqual({
      reason: 'Deleting',
      message: 'waits for Table default/author and 1 more to be deleted',
    });
    expect(engineBlockerAfter(report, [])).toBeUndefined();
  });

  test('stays while its engine has objects of deleted resources', async () => {
    const report = await lastPass((ports) => {
      ports.given = { ...ports.given, isComplete: false };
    });
    expect(engineBlockerAfter(report, [])?.message).toMatch(
      /^waits for table default\/public\/author and 1 more to be deleted from the engine: nothing is deleted/,
    );
  });

  test('says how to confirm deletions that are held back', async () => {
    const report = await lastPass(() => {}, { maxObjects: 1, maxPercent: 10 });
    const { hash } = report.plan!.pruneHold!;
    for (const bound of [[], [leaving]])
      expect(engineBlockerAfter(report, bound)?.message).toContain(`pergola.dev/confirm-prune: ${hash}`);
  });

  test('stays while its engine does not respond or a replica may still serve objects', async () => {
    const silent = await lastPass(({ engine }) => {
      engine.before = () => {
        throw new EngineProblem('unreachable', 'no answer');
      };
    });
    expect(engineBlockerAfter(silent, [])).toEqual({ reason: 'Deleting', message: 'no answer' });
    const late = await lastPass(({ engine }) => {
      engine.laggingReplicas = async () => [{ replica: '10.0.0.7', problem: 'is at 1' }];
    });
    expect(engineBlockerAfter(late, [])?.message).toBe('waits for replicas: 10.0.0.7');
  });
});

test('the deadline is counted from the deletion', () => {
  const at = (seconds: number) => remainingMs(leaving, new Date(Date.parse(DELETED) + seconds * 1000), 300);
  expect([at(0), at(299), at(300), at(1000)]).toEqual([300_000, 1000, 0, -700_000]);
});

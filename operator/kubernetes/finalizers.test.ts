/** Tests what the status of a resource that waits for its deletion says. Not here: finalizers in a cluster (deletion.kube.test.ts). */
import { expect, test } from 'vitest';
import type { StatusChange } from '../ports/statuses.ts';
import { table } from '../testing/resources.ts';
import { blockedBecause, FINALIZER } from './deletion.ts';
import { Finalizers } from './finalizers.ts';

test('the status of a resource that waits for its deletion names its page on Ownership', async () => {
  const published: StatusChange[] = [];
  const now = new Date('2025-06-01T12:00:00Z');
  const unused = () => {
    throw new Error('not used');
  };
  const finalizers = new Finalizers({
    transport: { send: unused } as never,
    sink: {
      publish: async (changes) => {
        published.push(...changes);
        return 0;
      },
    },
    clock: { now: () => now, sleep: unused, random: unused },
    namespace: 'operator',
    deadlineSeconds: 300,
    isLeading: () => true,
    onWritten: unused,
    onProblem: unused,
  });
  const one = table('author');
  const metadata = { ...one.metadata, deletionTimestamp: now.toISOString(), finalizers: [FINALIZER] };
  const blocker = blockedBecause('waits for replicas: one');
  const released = finalizers.release([{ ...one, metadata }], blocker, 'https://api.test/console');
  expect(await released).toEqual({ afterMs: 5000 });
  const link = 'https://api.test/console/ownership?find=Table+default%2Fauthor';
  expect(published.flatMap(({ status }) => status.conditions.map(({ message }) => message))).toEqual([
    `Waits for replicas: one; see ${link}.`,
    `Waits for replicas: one; see ${link}.`,
  ]);
});

/** Tests when resources get the reason Applying. */
import { expect, test } from 'vitest';
import type { StatusChange } from '../ports/statuses.ts';
import { statusOf } from '../status/conditions.ts';
import { table } from '../testing/resources.ts';
import { reportSlowPass } from './slow-pass.ts';
import { ManualTimers } from './testing/manual-timers.ts';

const context = () => ({ now: new Date('2025-06-01T12:00:00Z'), progressDeadlineSeconds: 300 });
const applied = { outcome: { reason: 'Applied', message: '' }, wasWritten: true, failing: [] } as const;

function setUp(resources: readonly ReturnType<typeof table>[]) {
  const timers = new ManualTimers();
  const published: string[][] = [];
  const sink = {
    publish: async (changes: readonly StatusChange[]) => {
      published.push(
        changes.map(({ cr, status }) => {
          const shown = status.conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
          return [cr.metadata.name, ...shown].join(' ');
        }),
      );
      return 0;
    },
  };
  return { timers, published, ...reportSlowPass(() => resources, { sink, timers, context }) };
}

const served = { ...table('served'), status: statusOf(table('served'), applied, context()) };

test('a pass that takes longer than a second sets Applying on resources without a status for their generation', async () => {
  const { timers, published, sink } = setUp([table('fresh'), served]);
  await timers.pass(900);
  expect(published).toEqual([]);
  await timers.pass(200);
  expect(published).toEqual([['fresh Ready=Unknown Applying Reconciling=True Applying']]);
  await sink.publish([{ cr: table('fresh'), status: served.status }]);
  expect(published[1]).toEqual(['fresh Ready=True Applied']);
});

test('a quick pass never sets Applying', async () => {
  const { timers, published, sink } = setUp([table('fresh')]);
  await timers.pass(500);
  await sink.publish([]);
  await timers.pass(5000);
  expect(published).toEqual([[]]);
});

test('a pass that ends without publishing statuses never sets Applying', async () => {
  const { timers, published, end } = setUp([table('fresh')]);
  await end();
  await timers.pass(5000);
  expect(published).toEqual([]);
});

test('a first pass over more than 100 resources does not set Applying', async () => {
  const { timers, published } = setUp(Array.from({ length: 101 }, (_, n) => table(`t${n}`)));
  await timers.pass(2000);
  expect(published).toEqual([]);
});

test('the result of a pass is always written after Applying', async () => {
  const timers = new ManualTimers();
  const order: string[] = [];
  const { promise: isWritten, resolve: write } = Promise.withResolvers<void>();
  const { sink } = reportSlowPass(() => [table('fresh')], {
    sink: {
      publish: async ([change]) => {
        const reason = change!.status.conditions[0]!.reason;
        if (reason === 'Applying') await isWritten;
        order.push(reason);
        return 0;
      },
    },
    timers,
    context,
  });
  await timers.pass(1500);
  const done = sink.publish([{ cr: table('fresh'), status: served.status }]);
  write();
  await done;
  expect(order).toEqual(['Applying', 'Applied']);
});

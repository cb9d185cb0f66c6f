/** Tests the queue of statuses. Rules: a pass never waits for it; the API server ends with the last status of each resource; the writes of one
 *  resource do not overlap; what a user edited does not wait for thousands of others. */
import { assert, asyncProperty, constantFrom, integer, array as listOf, record } from 'fast-check';
import { expect, test } from 'vitest';
import type { CrStatus, CustomResource } from '../kinds.ts';
import type { StatusChange } from '../ports/statuses.ts';
import { conditionOf, statusOf } from '../status/conditions.ts';
import { table } from '../testing/resources.ts';
import { StatusQueue } from './status-queue.ts';
import { ManualTimers } from './testing/manual-timers.ts';

const context = { now: new Date(0), progressDeadlineSeconds: 300 };

function resource(name: string, more: Partial<CustomResource['metadata']> = {}, status?: CrStatus) {
  const cr = table(name);
  const metadata = { ...cr.metadata, uid: `u-${name}`, ...more };
  return { ...cr, metadata, ...(status ? { status } : {}) };
}

function statusFor(cr: CustomResource, reason: 'Applied' | 'Applying', message = ''): CrStatus {
  return statusOf(cr, { outcome: { reason, message }, wasWritten: false, failing: [] }, context);
}

/** An API server that answers when a test lets it: each write in flight, with its answer. */
class Api {
  readonly stored = new Map<string, CrStatus>();
  readonly started: string[] = [];
  readonly inFlight: { readonly change: StatusChange; readonly answer: (isWritten: boolean) => void }[] = [];
  isLeading = true;
  readonly timers = new ManualTimers();
  readonly queue = new StatusQueue({
    write: (change) => {
      this.started.push(change.cr.metadata.name);
      return new Promise((answer) => this.inFlight.push({ change, answer }));
    },
    engineOf: (cr) => cr.metadata.namespace,
    mayWrite: () => this.isLeading,
    timers: this.timers,
  });

  /** Answers the n-th write in flight. A lost write is stored, and its answer does not arrive. */
  async answer(n = 0, how: 'written' | 'refused' | 'lost' = 'written'): Promise<void> {
    const [write] = this.inFlight.splice(n, 1);
    if (how !== 'refused') this.stored.set(write!.change.cr.metadata.uid, write!.change.status);
    write!.answer(how === 'written');
    await new Promise((resolve) => setImmediate(resolve));
  }

  async answerAll(): Promise<void> {
    while (this.inFlight.length > 0) await this.answer();
  }

  /** Returns the resource as a pass sees it. */
  seen(cr: CustomResource): CustomResource {
    const status = this.stored.get(cr.metadata.uid);
    return this.queue.seen({ ...cr, ...(status ? { status } : {}) });
  }
}

test('a pass does not wait for writes, and each Engine has twelve at a time', async () => {
  const api = new Api();
  const crs = ['one', 'two'].flatMap((namespace) =>
    Array.from({ length: 50 }, (_, i) => resource(`${namespace}-${i}`, { namespace })),
  );
  expect(await api.queue.publish(crs.map((cr) => ({ cr, status: statusFor(cr, 'Applied') })))).toBe(0);
  expect([api.inFlight.length, api.queue.size]).toEqual([24, 100]);
  for (const cr of crs) expect(conditionOf(api.seen(cr), 'Ready')?.status).toBe('True');
  await api.answerAll();
  await api.queue.drained();
  expect([api.stored.size, api.queue.size]).toEqual([100, 0]);
});

test('an edited resource comes before thousands of new ones, and those before mere changes of messages', async () => {
  const api = new Api();
  const add = (cr: CustomResource, message: string) =>
    api.queue.publish([{ cr, status: statusFor(cr, 'Applied', message) }]);
  const ready = (name: string) => resource(name, {}, statusFor(resource(name), 'Applied'));
  for (let i = 0; i < 20; i++) await add(ready(`same${i}`), 'another message');
  for (let i = 0; i < 2000; i++) await add(resource(`new${i}`), '');
  await add({ ...ready('edited'), metadata: { ...resource('edited').metadata, generation: 2 } }, '');
  // It does not even wait for the end of one of those that are written.
  expect(api.started.slice(12)).toEqual(['edited']);
  for (let i = 0; i < 2; i++) await api.answer();
  expect(api.started.slice(12)).toEqual(['edited', 'new0']);
});

test('of very many edited resources each Engine writes sixteen at a time', async () => {
  const api = new Api();
  const edited = (name: string) => ({
    ...resource(name, {}, statusFor(resource(name), 'Applied')),
    metadata: { ...resource(name).metadata, generation: 2 },
  });
  const crs = Array.from({ length: 50 }, (_, i) => edited(`t${i}`));
  await api.queue.publish(crs.map((cr) => ({ cr, status: statusFor(cr, 'Applied') })));
  expect(api.inFlight.length).toBe(16);
  await api.answerAll();
  expect(api.started.length).toBe(50);
});

test('a status that the API server has again is not written, unless another may have been stored', async () => {
  const api = new Api();
  const cr = resource('t', {}, statusFor(resource('t'), 'Applied'));
  const applying = { cr, status: statusFor(cr, 'Applying') };
  api.isLeading = false;
  await api.queue.publish([applying]);
  await api.queue.publish([{ cr: api.queue.seen(cr), status: cr.status! }]);
  expect(api.queue.size).toBe(0);
  api.isLeading = true;
  await api.queue.publish([applying]);
  await api.answer(0, 'lost');
  await api.queue.publish([{ cr: api.seen(cr), status: cr.status! }]);
  await api.answerAll();
  expect(api.stored.get('u-t')).toEqual(cr.status);
});

test('nothing is written without the lease, and all of it with the lease', async () => {
  const api = new Api();
  api.isLeading = false;
  const cr = resource('t');
  await api.queue.publish([{ cr, status: statusFor(cr, 'Applied') }]);
  await api.queue.drained();
  expect(api.started).toEqual([]);
  api.isLeading = true;
  await api.timers.pass(5000);
  expect(api.started).toEqual(['t']);
});

test('after any publications and failures the last status of each resource is stored, one write after the other', async () => {
  const step = record({
    uid: integer({ min: 0, max: 4 }),
    generation: integer({ min: 1, max: 3 }),
    reason: constantFrom('Applied' as const, 'Applying' as const),
    answers: integer({ min: 0, max: 3 }),
    how: constantFrom('written' as const, 'refused' as const, 'lost' as const),
    passMs: constantFrom(0, 0, 6000),
  });
  await assert(
    asyncProperty(listOf(step, { maxLength: 40 }), async (steps) => {
      const api = new Api();
      const last = new Map<string, CrStatus>();
      for (const { uid, generation, reason, answers, how, passMs } of steps) {
        const cr = api.seen(resource(`t${uid}`, { generation }));
        const status = statusFor(cr, reason);
        last.set(cr.metadata.uid, status);
        await api.queue.publish([{ cr, status }]);
        const names = api.inFlight.map(({ change }) => change.cr.metadata.name);
        expect(new Set(names).size).toBe(names.length);
        for (let i = 0; i < answers && api.inFlight.length > 0; i++) {
          await api.answer(i % api.inFlight.length, how);
        }
        await api.timers.pass(passMs);
      }
      await api.answerAll();
      await api.timers.pass(6000);
      await api.answerAll();
      expect(api.stored).toEqual(last);
      expect(api.queue.size).toBe(0);
    }),
    { numRuns: 300 },
  );
});

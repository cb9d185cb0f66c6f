/** Tests that statuses that cannot be written are counted, so that another pass follows soon. */
import { expect, test } from 'vitest';
import type { StatusChange } from '../ports.ts';
import { statusOf } from '../status/conditions.ts';
import { table } from '../testing/resources.ts';
import { statusSink } from './status-sink.ts';
import { ManualTimers } from './testing/manual-timers.ts';
import { ApiProblem, type Transport } from './transport.ts';

const outcome = { reason: 'Applied', message: '1 object applied' } as const;
const context = { now: new Date(0), progressDeadlineSeconds: 300 };

function changeOf(name: string): StatusChange {
  const cr = table(name);
  return { cr, status: statusOf(cr, { outcome, wasWritten: true, failing: [] }, context) };
}

/** Publishes statuses. Returns the number of failed writes, and the names that were requested and that failed. */
async function published(
  names: readonly string[],
  refuse: (name: string) => Error | undefined,
  isLeading = () => true,
) {
  const asked: string[] = [];
  const problems: string[] = [];
  const send = async ({ path }: { path: string }) => {
    const name = path.split('/').at(-2)!;
    asked.push(name);
    const error = refuse(name);
    if (error) throw error;
    return {};
  };
  const sink = statusSink({
    transport: { send } as unknown as Transport,
    timers: new ManualTimers(),
    signal: new AbortController().signal,
    isLeading,
    onWritten: () => {},
    onProblem: (cr) => problems.push(cr.metadata.name),
  });
  return { unwritten: await sink.publish(names.map(changeOf)), asked, problems };
}

test('rejected statuses are counted, and those of deleted resources are not', async () => {
  const answers: Record<string, Error> = {
    lost: new Error('connect ECONNREFUSED'),
    forbidden: new ApiProblem(403, 'forbidden'),
    gone: new ApiProblem(404, 'not found'),
  };
  expect(await published(['well', 'lost', 'forbidden', 'gone'], (name) => answers[name])).toEqual({
    unwritten: 2,
    asked: ['well', 'lost', 'forbidden', 'gone'],
    problems: ['lost', 'forbidden'],
  });
});

test.each([
  ['a resource that was created again has a status of its own', { uid: 'another' }, 1, 0],
  ['a resource that is gone needs no status', null, 1, 0],
  ['a write at the same time is no reason to leave the status', { uid: 'u-t0' }, 3, 0],
  ['a conflict that does not end is counted', { uid: 'u-t0' }, 3, 1],
])('after a conflict, %s', async (_, metadata, writes, unwritten) => {
  let sent = 0;
  const send = async ({ method }: { method: string }) => {
    if (method === 'GET') {
      if (!metadata) throw new ApiProblem(404, 'not found');
      return { metadata };
    }
    sent++;
    if (sent < 3 || unwritten > 0) throw new ApiProblem(409, 'the object has been modified');
    return {};
  };
  const after = (_: number, run: () => void) => {
    setImmediate(run);
    return () => {};
  };
  const sink = statusSink({
    transport: { send } as unknown as Transport,
    timers: { ...new ManualTimers(), after },
    signal: new AbortController().signal,
    isLeading: () => true,
    onWritten: () => {},
    onProblem: () => {},
  });
  const change = changeOf('t0');
  const cr = { ...change.cr, metadata: { ...change.cr.metadata, uid: 'u-t0' } };
  expect([await sink.publish([{ ...change, cr }]), sent]).toEqual([unwritten, writes]);
});

test('an operator that stops leading writes no further statuses', async () => {
  let left = 2;
  const names = Array.from({ length: 20 }, (_, i) => `t${i}`);
  const { unwritten, asked } = await published(
    names,
    () => undefined,
    () => left-- > 0,
  );
  expect([unwritten, asked]).toEqual([18, ['t0', 't1']]);
});

test('a status field that an older definition lacks is left out', async () => {
  const bodies: object[] = [];
  const send = async ({ body }: { body: { status: object } }) => {
    bodies.push(body.status);
    const text =
      'failed to create typed patch object (a/b; pergola.dev/v1alpha1, Kind=Table): .status.appliedHash: field not declared in schema';
    if ('appliedHash' in body.status) throw new ApiProblem(500, text);
    return {};
  };
  const problems: Error[] = [];
  const sink = statusSink({
    transport: { send } as unknown as Transport,
    timers: new ManualTimers(),
    signal: new AbortController().signal,
    isLeading: () => true,
    onWritten: () => {},
    onProblem: (_cr, error) => problems.push(error),
  });
  const change = changeOf('author');
  const status = { ...change.status, appliedHash: 'h' };
  expect(await sink.publish([{ ...change, status }])).toBe(0);
  const { appliedHash: _, ...rest } = status;
  expect([bodies, problems]).toEqual([[status, rest], []]);
});

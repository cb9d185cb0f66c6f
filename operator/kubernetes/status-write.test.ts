/** Tests which writes of a status are repeated, and which need no further one. */
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import type { StatusChange } from '../ports/statuses.ts';
import { statusOf } from '../status/conditions.ts';
import { table } from '../testing/resources.ts';
import { writeStatus } from './status-write.ts';
import { ManualTimers } from './testing/manual-timers.ts';
import { ApiProblem, type Transport } from './transport.ts';

const outcome = { reason: 'Applied', message: '1 object applied' } as const;
const context = { now: new Date(0), progressDeadlineSeconds: 300 };

function changeOf(name: string): StatusChange {
  const cr = table(name);
  return { cr, status: statusOf(cr, { outcome, wasWritten: true, failing: [] }, context) };
}

/** Writes statuses. Returns the number of failed writes, and the names that were requested and that failed. */
async function published(names: readonly string[], refuse: (name: string) => Error | undefined) {
  const asked: string[] = [];
  const problems: string[] = [];
  const send = async ({ path }: { path: string }) => {
    const name = path.split('/').at(-2)!;
    asked.push(name);
    const error = refuse(name);
    if (error) throw error;
    return {};
  };
  const options = {
    transport: { send } as unknown as Transport,
    timers: new ManualTimers(),
    signal: new AbortController().signal,
    onWritten: () => {},
    onProblem: (cr: CustomResource) => problems.push(cr.metadata.name),
  };
  let unwritten = 0;
  for (const name of names) if (!(await writeStatus(options, changeOf(name)))) unwritten++;
  return { unwritten, asked, problems };
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
  const options = {
    transport: { send } as unknown as Transport,
    timers: { ...new ManualTimers(), after },
    signal: new AbortController().signal,
    onWritten: () => {},
    onProblem: () => {},
  };
  const change = changeOf('t0');
  const cr = { ...change.cr, metadata: { ...change.cr.metadata, uid: 'u-t0' } };
  expect([await writeStatus(options, { ...change, cr }), sent]).toEqual([unwritten === 0, writes]);
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
  const options = {
    transport: { send } as unknown as Transport,
    timers: new ManualTimers(),
    signal: new AbortController().signal,
    onWritten: () => {},
    onProblem: (_: CustomResource, error: Error) => problems.push(error),
  };
  const change = changeOf('author');
  const status = { ...change.status, appliedHash: 'h' };
  expect(await writeStatus(options, { ...change, status })).toBe(true);
  const { appliedHash: _, ...rest } = status;
  expect([bodies, problems]).toEqual([[status, rest], []]);
});

/** Tests how often Events are sent, against an API that only records them. Not here: a real API server (operator.kube.test.ts). */
import { expect, test } from 'vitest';
import type { CrStatus, CustomResource, Reason } from '../kinds.ts';
import { statusOf } from '../status/conditions.ts';
import { resource, table } from '../testing/resources.ts';
import { Events } from './events.ts';
import { ManualTimers } from './testing/manual-timers.ts';
import { ApiProblem, type ApiRequest, type Transport } from './transport.ts';

type Sent = { readonly method: string; readonly path: string; readonly body: Body };
type Body = Readonly<Record<string, unknown>> & { readonly series?: { readonly count: number } };

function setUp(refuse: (request: ApiRequest) => Error | undefined = () => undefined) {
  const sent: Sent[] = [];
  const results: string[] = [];
  const problems: string[] = [];
  const timers = new ManualTimers();
  const transport = {
    send: async (request: ApiRequest) => {
      const error = refuse(request);
      if (error) throw error;
      sent.push(request as Sent);
    },
  } as unknown as Transport;
  const events = new Events({
    transport,
    timers,
    now: () => new Date(Date.UTC(2025, 5, 1) + timers.nowMs()),
    identity: 'replica-1',
    engineOf: () => 'default/main',
    onResult: (result) => results.push(result),
    onProblem: (error) => problems.push(error.message),
  });
  return { events, sent, results, problems, timers };
}

function withStatus(cr: CustomResource, reason: Reason, message = reason as string): CustomResource {
  const verdict = { outcome: { reason, message }, wasWritten: false, failing: [] };
  const status = statusOf(cr, verdict, { now: new Date(0), progressDeadlineSeconds: 300 });
  return { ...cr, status };
}

const statusFor = (cr: CustomResource, reason: Reason, message?: string): CrStatus =>
  withStatus(cr, reason, message).status!;

test('an Event refers to the resource, is related to its Engine, and has the reason of the condition', async () => {
  const { events, sent } = setUp();
  events.record(table('author'), statusFor(table('author'), 'InvalidSpec', 'spec.table is missing'));
  await events.settled();
  expect(sent[0]).toMatchObject({
    method: 'POST',
    path: '/apis/events.k8s.io/v1/namespaces/default/events',
    body: {
      type: 'Warning',
      reason: 'InvalidSpec',
      note: 'spec.table is missing.',
      eventTime: '2025-06-01T00:00:00.000000Z',
      reportingController: 'pergola.dev/operator',
      reportingInstance: 'replica-1',
      regarding: { kind: 'Table', namespace: 'default', name: 'author', uid: 'uid-Table-author' },
      related: { kind: 'Engine', namespace: 'default', name: 'main' },
    },
  });
  const engine = resource('Engine', 'main', {});
  events.record(engine, statusFor(engine, 'EngineUnreachable'));
  await events.settled();
  expect(sent[1]!.body).not.toHaveProperty('related');
});

test('a repeated Event is counted in its series for some time', async () => {
  const { events, sent, timers } = setUp();
  const [well, ill] = [withStatus(table('author'), 'Applied'), withStatus(table('author'), 'Conflict')];
  for (let time = 0; time < 2; time++) {
    events.record(ill, well.status!);
    await events.settled();
    events.record(well, ill.status!);
    await events.settled();
  }
  expect(sent.map(({ method, body }) => [method, body['reason'] ?? body.series?.count])).toEqual([
    ['POST', 'Applied'],
    ['POST', 'Conflict'],
    ['PATCH', 2],
    ['PATCH', 2],
  ]);
  expect(sent[2]!.path).toBe(`${sent[0]!.path}/${(sent[0]!.body['metadata'] as { name: string }).name}`);
  await timers.pass(400_000);
  events.record(ill, well.status!);
  await events.settled();
  expect(sent[4]!.method).toBe('POST');
});

test('the Events of one resource are limited over time, and other resources are not affected', async () => {
  const { events, sent, results, timers } = setUp();
  const say = (name: string, count: number) =>
    events.record(table(name), statusFor(table(name), 'InvalidSpec', `problem ${count}`));
  for (let count = 0; count < 20; count++) say('author', count);
  await events.settled();
  expect(sent.length).toBe(10);
  expect(results.filter((result) => result === 'dropped').length).toBe(10);
  say('article', 0);
  await timers.pass(120_000);
  for (let count = 0; count < 20; count++) say('author', count);
  await events.settled();
  expect(sent.length).toBe(13);
});

test('the normal Events of all resources are limited over time, and leave room for warnings', async () => {
  const { events, sent, results, timers } = setUp();
  const count = (type: string) => sent.filter(({ body }) => body['type'] === type).length;
  for (let n = 0; n < 2000; n++) events.record(table(`t${n}`), statusFor(table(`t${n}`), 'Applied'));
  for (let n = 0; n < 50; n++) events.record(table(`w${n}`), statusFor(table(`w${n}`), 'Conflict'));
  await events.settled();
  expect([count('Normal'), count('Warning')]).toEqual([100, 50]);
  expect(results.filter((result) => result === 'dropped')).toHaveLength(1900);
  await timers.pass(3000);
  for (let n = 0; n < 50; n++) events.record(table(`u${n}`), statusFor(table(`u${n}`), 'Applied'));
  await events.settled();
  expect(count('Normal')).toBe(103);
});

test('the queue of Events is bounded when thousands of resources fail', async () => {
  const { events, sent } = setUp();
  for (let n = 0; n < 3000; n++) events.record(table(`t${n}`), statusFor(table(`t${n}`), 'Conflict'));
  await events.settled();
  expect(sent.length).toBeGreaterThan(990);
  expect(sent.length).toBeLessThan(1010);
});

test('waiting Events are not sent after the operator stops', async () => {
  const { events, sent } = setUp();
  for (let n = 0; n < 20; n++) events.record(table(`t${n}`), statusFor(table(`t${n}`), 'Applied'));
  await events.stop();
  expect(sent.length).toBeLessThan(5);
});

test('an Event that the API server has deleted is created again', async () => {
  let isForgotten = false;
  const { events, results } = setUp(({ method }) =>
    isForgotten && method === 'PATCH' ? new ApiProblem(404, 'not found') : undefined,
  );
  const say = async () => {
    events.record(table('author'), statusFor(table('author'), 'Conflict'));
    await events.settled();
  };
  await say();
  await say();
  isForgotten = true;
  await say();
  expect(results).toEqual(['written', 'counted', 'written']);
});

test('a rejected Event is dropped and reported, but not reported when its namespace is being deleted', async () => {
  const refusals = [
    new ApiProblem(403, 'no rights'),
    new ApiProblem(403, 'team is deleted', undefined, ['NamespaceTerminating']),
  ];
  const { events, results, problems } = setUp(() => refusals.shift());
  for (const name of ['author', 'article', 'comment']) {
    events.record(table(name), statusFor(table(name), 'Conflict'));
    await events.settled();
  }
  expect(results).toEqual(['failed', 'failed', 'written']);
  expect(problems).toEqual(['no rights']);
});

test('notes and names are cut to the lengths that the API server accepts', async () => {
  const { events, sent } = setUp();
  const cr = table(`${'a'.repeat(199)}.${'b'.repeat(50)}`);
  events.record(cr, statusFor(cr, 'InvalidSpec', 'É'.repeat(2000)));
  await events.settled();
  const { note, metadata } = sent[0]!.body as unknown as { note: string; metadata: { name: string } };
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
  expect(note).toMatch(/^É+…$/);
  expect(metadata.name).toMatch(/^a{199}\.[0-9a-f]+$/);
});

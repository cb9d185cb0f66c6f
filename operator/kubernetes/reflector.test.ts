/** Tests the reflector against faults: whatever the API server does, it keeps the cached objects and continues. */
import { afterEach, expect, test, vi } from 'vitest';
import { type KubeObject, Reflector } from './reflector.ts';
import {
  type Answer,
  breaking,
  ending,
  event,
  type FakeApi,
  fakeApi,
  listed,
  refused,
  streaming,
  thing,
} from './testing/fake-api.ts';
import { systemTimers, type Timers } from './timers.ts';

/** Waits are a hundred times shorter, so that back-off does not slow down tests. */
const quick: Timers = {
  nowMs: systemTimers.nowMs,
  after: (ms, run) => systemTimers.after(ms / 100, run),
  random: () => 0,
};

let api: FakeApi;
let reflector: Reflector<KubeObject>;
let changes: string[];
let problems: string[];

afterEach(async () => {
  await reflector.stop();
  await api.close();
});

async function started(list: readonly Answer[], watch: readonly Answer[], timers = quick): Promise<void> {
  api = await fakeApi({ list, watch });
  changes = [];
  problems = [];
  reflector = new Reflector<KubeObject>({
    transport: api.transport,
    timers,
    path: '/apis/pergola.dev/v1alpha1/things',
    isSame: (a, b) => a.metadata.generation === b.metadata.generation,
    onChange: (before, after) =>
      changes.push(`${before ? (after ? '~' : '-') : '+'}${(after ?? before)!.metadata.name}`),
    onSettled: () => changes.push('settled'),
    onProblem: (problem) => problems.push(problem.message),
  });
  reflector.start();
}

const names = () => [...reflector.objects.keys()];
const until = (what: () => void) => vi.waitFor(what, { timeout: 5000, interval: 5 });

test('a list in pages is one collection, and it is synced only after the last page', async () => {
  await started([listed(7, [thing('a', 1)], 'page-2'), listed(7, [thing('b', 2)])], [streaming()]);
  await until(() => expect(api.asked).toEqual(['list', 'list page-2', 'watch 7']));
  expect(names()).toEqual(['a', 'b']);
  expect(changes).toEqual(['+a', '+b', 'settled']);
});

test('the reflector applies events and resumes from the last one after a disconnect', async () => {
  const first = [
    event('ADDED', thing('b', 8)),
    event('MODIFIED', thing('a', 9, { generation: 2 })),
    event('DELETED', thing('b', 10)),
  ];
  await started([listed(7, [thing('a', 1, { generation: 1 })])], [breaking(...first), streaming()]);
  await until(() => expect(api.asked.at(-1)).toBe('watch 10'));
  expect(changes).toEqual(['+a', 'settled', '+b', '~a', '-b']);
  expect(api.asked.filter((asked) => asked.startsWith('list'))).toHaveLength(1);
});

test('a bookmark advances the version to resume from without a change', async () => {
  await started(
    [listed(7, [])],
    [breaking(event('BOOKMARK', { metadata: { resourceVersion: '99' } })), streaming()],
  );
  await until(() => expect(api.asked.at(-1)).toBe('watch 99'));
  expect(changes).toEqual(['settled']);
});

test('an expired version causes a new list at once, and missing objects count as deleted', async () => {
  const gone = event('ERROR', { kind: 'Status', code: 410, message: 'too old resource version' });
  await started(
    [listed(7, [thing('a', 1), thing('b', 2)]), listed(20, [thing('b', 2), thing('c', 15)])],
    [streaming(gone), streaming()],
  );
  await until(() => expect(api.asked).toEqual(['list', 'watch 7', 'list', 'watch 20']));
  expect(changes).toEqual(['+a', '+b', 'settled', '-a', '+c']);
  expect(problems).toEqual([]);
});

test('a list that expires between two pages is started again', async () => {
  await started(
    [
      listed(7, [thing('a', 1)], 'page-2'),
      refused(410, 'the continue token has expired'),
      listed(9, [thing('b', 9)]),
    ],
    [streaming()],
  );
  await until(() => expect(api.asked.at(-1)).toBe('watch 9'));
  expect(names()).toEqual(['b']);
});

test('the reflector respects Retry-After', async () => {
  const asked: number[] = [];
  const busy: Answer = (response, request) => {
    asked.push(performance.now());
    refused(429, 'too many requests', { 'retry-after': '20' })(response, request);
  };
  const then: Answer = (response, request) => {
    asked.push(performance.now());
    listed(3, [])(response, request);
  };
  await started([busy, then], [streaming()]);
  await until(() => expect(reflector.isSynced).toBe(true));
  expect(asked[1]! - asked[0]!).toBeGreaterThan(190);
});

test('an incomplete event is discarded and requested again', async () => {
  const whole = event('ADDED', thing('a', 8));
  await started(
    [listed(7, [])],
    [ending(whole, '{"type":"ADDED","object":{"meta'), ending('{"type":\n'), streaming()],
  );
  await until(() => expect(api.asked.filter((asked) => asked === 'watch 8')).toHaveLength(2));
  expect(names()).toEqual(['a']);
});

test('watches that end at once are restarted only after a pause', async () => {
  await started([listed(7, [])], [ending()], { ...quick, after: (ms, run) => systemTimers.after(ms, run) });
  await until(() => expect(problems[0]).toBe('the watch ended at once'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(api.asked.filter((asked) => asked.startsWith('watch')).length).toBeLessThan(4);
});

test('objects stay cached while the server fails', async () => {
  await started(
    [listed(7, [thing('a', 1)]), refused(404, 'the server could not find the requested resource')],
    [refused(500, 'no leader')],
  );
  await until(() => expect(problems.some((problem) => problem.includes('could not find'))).toBe(true));
  expect(names()).toEqual(['a']);
  expect([reflector.isSynced, reflector.isAbsent]).toEqual([true, true]);
});

test('a collection that does not exist yet is synced once it exists', async () => {
  await started(
    [refused(404, 'the server could not find the requested resource'), listed(1, [])],
    [streaming()],
  );
  await until(() => expect(reflector.isSynced).toBe(true));
  expect(reflector.problem).toBeUndefined();
});

test('a status written by the operator is cached at once, and its events and older ones are no change', async () => {
  let stream: Parameters<Answer>[0] | undefined;
  await started(
    [listed(7, [thing('a', 1, { generation: 1 })])],
    [
      (response) => {
        response.flushHeaders();
        stream = response;
      },
    ],
  );
  await until(() => expect(stream).toBeDefined());
  const version = () => reflector.objects.get('a')?.metadata.resourceVersion;
  reflector.accept(thing('a', 12, { generation: 1 }) as KubeObject);
  expect(version()).toBe('12');
  stream!.write(event('MODIFIED', thing('a', 9, { generation: 1 })));
  stream!.write(event('MODIFIED', thing('a', 12, { generation: 1 })));
  stream!.write(event('MODIFIED', thing('a', 13, { generation: 2 })));
  await until(() => expect(version()).toBe('13'));
  expect(changes).toEqual(['+a', 'settled', '~a']);
});

test('a foreign change just before the own status counts as a change, although the watch sends nothing newer', async () => {
  let stream: Parameters<Answer>[0] | undefined;
  const open: Answer = (response) => {
    response.flushHeaders();
    stream = response;
  };
  await started([listed(7, [thing('a', 1, { generation: 1 })])], [open]);
  await until(() => expect(stream).toBeDefined());
  reflector.accept(thing('a', 12, { generation: 2 }) as KubeObject);
  stream!.write(event('MODIFIED', thing('a', 11, { generation: 2 })));
  stream!.write(event('MODIFIED', thing('a', 12, { generation: 2 })));
  stream!.write(event('ADDED', thing('b', 13)));
  await until(() => expect(names()).toEqual(['a', 'b']));
  expect(changes).toEqual(['+a', 'settled', '~a', '+b']);
});

test('a refresh returns a current list even if the watch missed events', async () => {
  await started([listed(7, [thing('a', 1)]), listed(20, [thing('b', 20)])], [streaming()]);
  await until(() => expect(api.asked).toEqual(['list', 'watch 7']));
  await reflector.refresh();
  expect(names()).toEqual(['b']);
  await until(() => expect(api.asked).toEqual(['list', 'watch 7', 'list', 'watch 20']));
});

test('a refresh of a collection without a definition ends and reports that it is absent', async () => {
  await started([refused(404, 'the server could not find the requested resource')], [streaming()]);
  await until(() => expect(changes).toContain('settled'));
  await reflector.refresh();
  expect([reflector.isAbsent, reflector.isSynced]).toEqual([true, false]);
});

test('managed fields and the last applied configuration are not cached', async () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', mine: 'yes' };
  await started([listed(7, [thing('a', 1, { managedFields: [{}], annotations })])], [streaming()]);
  await until(() => expect(reflector.isSynced).toBe(true));
  expect(reflector.objects.get('a')?.metadata).toEqual({
    name: 'a',
    uid: 'uid-a',
    resourceVersion: '1',
    annotations: { mine: 'yes' },
  });
});

test('stopping the reflector ends an open watch', async () => {
  await started([listed(7, [])], [streaming()]);
  await until(() => expect(api.asked.at(-1)).toBe('watch 7'));
  await reflector.stop();
  const asked = api.asked.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(api.asked.length).toBe(asked);
});

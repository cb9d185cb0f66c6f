/** Tests when artifacts are downloaded: once for a digest, again for a tag that may have moved, and after growing pauses. */
import { beforeEach, expect, test } from 'vitest';
import { ArtifactProblem } from './artifact-problem.ts';
import type { ArtifactRequest } from './artifact-request.ts';
import { ArtifactStore, type Wanted } from './artifact-store.ts';
import type { Download } from './download.ts';
import { referenceOf } from './reference.ts';

type Call = {
  readonly request: ArtifactRequest;
  readonly previous: string | undefined;
  readonly end: PromiseWithResolvers<Download>;
};

const DIGEST = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const FILES = [{ name: '1_a.sql', sql: 'select 1' }];

let nowMs: number;
let calls: Call[];
let changed: string[];
let store: ArtifactStore;

beforeEach(() => {
  nowMs = 1000;
  calls = [];
  changed = [];
  store = new ArtifactStore({
    nowMs: () => nowMs,
    download: (request, { previous }) => {
      const end = Promise.withResolvers<Download>();
      calls.push({ request, previous, end });
      return end.promise;
    },
    onChange: (group) => changed.push(group),
  });
});

function wanted(uid: string, more: Partial<Wanted> & { version?: object; namespace?: string } = {}): Wanted {
  const { version = { tag: 'v1' }, namespace = uid, ...rest } = more;
  const reference = referenceOf({ repository: 'ghcr.io/acme/library', ...version });
  const request = {
    ...{ reference, namespace, path: '', plainHttp: false, ca: undefined, dockerConfig: undefined },
    fingerprint: `${uid} ${reference.version}`,
  };
  return { group: 'api/main', uid, request, maxAgeMs: 600_000, nudge: '', ...rest };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function end(call: number, result: Download | Error): Promise<void> {
  if (result instanceof Error) calls[call]!.end.reject(result);
  else calls[call]!.end.resolve(result);
  await settle();
}

test('a download runs beside, and its end is a change', async () => {
  expect(store.look(wanted('a'))).toEqual({
    ...{ reason: 'DependencyNotReady', isPending: true },
    message: 'the artifact ghcr.io/acme/library:v1 is being downloaded',
  });
  store.look(wanted('a'));
  expect(calls).toHaveLength(1);
  await end(0, { digest: DIGEST, files: FILES });
  expect(changed).toEqual(['api/main']);
  expect(store.look(wanted('a'))).toEqual({ digest: DIGEST, files: FILES });
  expect(store.digestOf('api/main', 'a')).toBe(DIGEST);
  expect(calls).toHaveLength(1);
});

test('a tag is compared again when it is old, and by a new nudge; a digest never', async () => {
  const pinned = wanted('b', { version: { digest: DIGEST } });
  for (const one of [wanted('a'), pinned]) store.look(one);
  await end(0, { digest: DIGEST, files: FILES });
  await end(1, { digest: DIGEST, files: FILES });
  nowMs += 599_000;
  for (const one of [wanted('a'), pinned]) store.look(one);
  expect(calls).toHaveLength(2);
  nowMs += 2000;
  for (const one of [wanted('a'), pinned]) store.look(one);
  expect(calls).toHaveLength(3);
  expect(calls[2]!.previous).toBe(DIGEST);
  changed = [];
  await end(2, { digest: DIGEST });
  expect(changed).toEqual([]);
  expect(store.look(wanted('a', { nudge: 'now' }))).toEqual({ digest: DIGEST, files: FILES });
  expect(calls).toHaveLength(4);
  await end(3, { digest: OTHER, files: [] });
  expect(changed).toEqual(['api/main']);
  expect(store.look(wanted('a', { nudge: 'now' }))).toEqual({ digest: OTHER, files: [] });
  expect(calls).toHaveLength(4);
});

test('a failure is followed by growing pauses, and by the one that the registry names', async () => {
  const look = () => store.look(wanted('a'));
  look();
  await end(0, new ArtifactProblem('ghcr.io answers 503'));
  expect(look()).toEqual({
    reason: 'ArtifactUnavailable',
    message: 'ghcr.io/acme/library:v1: ghcr.io answers 503',
  });
  const starts: number[] = [];
  for (let second = 0; second < 3000; second++) {
    nowMs += 1000;
    const before = calls.length;
    look();
    if (calls.length > before) {
      starts.push(second);
      await end(before, new ArtifactProblem('ghcr.io answers 503'));
    }
  }
  const pauses = starts.map((start, i) => start - (starts[i - 1] ?? -1));
  expect(pauses).toEqual([15, 30, 60, 120, 240, 480, 600, 600, 600]);
  // The same problem is no news.
  expect(changed).toHaveLength(1);
  nowMs += 600_000;
  look();
  await end(calls.length - 1, new ArtifactProblem('limits the rate', 3_000_000));
  const count = calls.length;
  nowMs += 2_999_000;
  look();
  expect(calls).toHaveLength(count);
  nowMs += 1000;
  look();
  expect(calls).toHaveLength(count + 1);
});

test('a failure leaves the content that was downloaded before, and says so', async () => {
  store.look(wanted('a'));
  await end(0, { digest: DIGEST, files: FILES });
  store.look(wanted('a', { nudge: 'now' }));
  await end(1, new ArtifactProblem('ghcr.io answers 503'));
  expect(changed).toHaveLength(2);
  const stale = { digest: DIGEST, files: FILES, staleBecause: 'ghcr.io answers 503' };
  expect(store.look(wanted('a', { nudge: 'now' }))).toEqual(stale);
  nowMs += 15_000;
  store.look(wanted('a', { nudge: 'now' }));
  await end(2, { digest: DIGEST });
  expect(changed).toHaveLength(3);
  expect(store.look(wanted('a', { nudge: 'now' }))).toEqual({ digest: DIGEST, files: FILES });
});

test('content of another request, and of a resource that is gone, is not used', async () => {
  store.look(wanted('a'));
  store.look(wanted('a', { version: { tag: 'v2' } }));
  await end(0, { digest: DIGEST, files: FILES });
  expect(changed).toEqual([]);
  expect(store.look(wanted('a', { version: { tag: 'v2' } }))).toMatchObject({ isPending: true });
  await end(1, { digest: OTHER, files: FILES });
  expect(store.look(wanted('a', { version: { tag: 'v2' } }))).toEqual({ digest: OTHER, files: FILES });
  store.keep('other/engine', new Set());
  expect(store.digestOf('api/main', 'a')).toBe(OTHER);
  store.keep('api/main', new Set(['b']));
  expect(store.digestOf('api/main', 'a')).toBeUndefined();
});

test('resources do not share content: each has its own credentials', () => {
  store.look(wanted('a', { namespace: 'one' }));
  store.look(wanted('b', { namespace: 'two' }));
  expect(calls).toHaveLength(2);
});

test('few downloads run at once, and one for a namespace', async () => {
  for (const uid of ['a', 'b', 'c']) store.look(wanted(uid, { namespace: 'team' }));
  expect(calls).toHaveLength(1);
  for (let i = 0; i < 10; i++) store.look(wanted(`x${i}`));
  expect(calls).toHaveLength(3);
  await end(0, { digest: DIGEST, files: FILES });
  expect(calls).toHaveLength(4);
  expect(calls[3]!.request.namespace).toBe('team');
  // One that is gone before its turn is not downloaded.
  store.keep('api/main', new Set(['a', 'b', 'x9']));
  for (const call of [1, 2]) await end(call, { digest: DIGEST, files: FILES });
  await settle();
  expect(calls.map(({ request }) => request.fingerprint.split(' ')[0])).toEqual(['a', 'x0', 'x1', 'b', 'x9']);
});

test('all contents together have a limit: the one not needed for the longest time is dropped', async () => {
  const files = [{ name: '1_a.sql', sql: ' '.repeat(4 * 1024 * 1024) }];
  for (const uid of ['a', 'b', 'c', 'd', 'e']) {
    store.look(wanted(uid));
    await end(calls.length - 1, { digest: DIGEST, files });
    if (uid === 'd') store.look(wanted('a'));
  }
  expect(['a', 'b', 'c', 'd', 'e'].map((uid) => store.digestOf('api/main', uid) !== undefined)).toEqual([
    ...[true, false, true, true, true],
  ]);
});

test('a command waits for the download, and an unexpected error is one of the artifact', async () => {
  const first = store.settled(wanted('a'));
  await end(0, { digest: DIGEST, files: FILES });
  expect(await first).toEqual({ digest: DIGEST, files: FILES });
  const second = store.settled(wanted('b'));
  await end(1, new TypeError('planted text'));
  expect(await second).toEqual({
    reason: 'ArtifactUnavailable',
    message: 'ghcr.io/acme/library:v1: unexpected: TypeError',
  });
});

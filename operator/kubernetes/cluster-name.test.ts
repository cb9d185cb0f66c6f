/** Tests the cluster name, under which objects are owned: it is the same whatever the state of the API server, and after a change of rights,
 *  certificates or options the operator still owns what it owned before. */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, test, vi } from 'vitest';
import { CLUSTER_NAME_ANNOTATION, namesOfCluster } from './cluster-name.ts';
import { systemTimers } from './timers.ts';
import { ApiProblem, type ApiRequest, type Transport } from './transport.ts';

const quick = { ...systemTimers, after: (ms: number, run: () => void) => systemTimers.after(ms / 1000, run) };
const forbidden = new ApiProblem(403, 'forbidden');

type StoredLease = {
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: object;
};

/** A cluster with one lease. `uid` is the answer for kube-system. */
class OneCluster {
  uid: Error | string = 'uid-1';
  authority: object = { caData: 'one' };
  leaseRights = true;
  lease: StoredLease | undefined;
  /** The errors of the next requests. */
  failures: Error[] = [];
  readonly problems: string[] = [];
  #version = 0;

  readonly #send = async ({ method, path, body }: ApiRequest): Promise<unknown> => {
    const failure = this.failures.shift();
    if (failure) throw failure;
    if (path.endsWith('/kube-system')) {
      if (this.uid instanceof Error) throw this.uid;
      return { metadata: { uid: this.uid } };
    }
    if (!this.leaseRights) throw forbidden;
    if (method === 'GET' && this.lease) return structuredClone(this.lease);
    if (method === 'GET') throw new ApiProblem(404, 'not found');
    const given = structuredClone(body) as StoredLease;
    if (given.metadata.resourceVersion !== this.lease?.metadata.resourceVersion)
      throw new ApiProblem(409, 'it has been modified');
    this.lease = { ...given, metadata: { ...given.metadata, resourceVersion: `${++this.#version}` } };
    return this.lease;
  };

  /** Returns the names of an operator that starts now; undefined when it does not within half a second. */
  start(configured = '') {
    const config = new KubeConfig();
    const cluster = { name: 'c', server: 'https://api', ...this.authority };
    config.loadFromClusterAndUser(cluster as never, { name: 'u' });
    const transport = { send: this.#send } as unknown as Transport;
    const onProblem = ({ message }: Error) => this.problems.push(message);
    const lease = { namespace: 'api', name: 'pergola-operator' };
    const sources = { transport, timers: quick, config, configured, lease, onProblem };
    return namesOfCluster(sources, AbortSignal.timeout(500));
  }
}

const digest = /^[0-9a-f]{24}$/;

test('the cluster name is the uid of kube-system, however long the API server is unavailable', async () => {
  const cluster = new OneCluster();
  cluster.failures = [
    new Error('connect ECONNREFUSED'),
    new ApiProblem(503, 'starting'),
    new ApiProblem(500, 'not yet'),
  ];
  expect((await cluster.start())?.name).toBe('uid-1');
  expect(cluster.problems).toEqual(['connect ECONNREFUSED', 'starting', 'not yet']);
});

test('a kube-system that does not exist yet is waited for', async () => {
  const cluster = new OneCluster();
  cluster.uid = new ApiProblem(404, 'not yet');
  const started = cluster.start();
  await vi.waitFor(() => expect(cluster.problems).toContain('not yet'));
  cluster.uid = 'uid-1';
  expect((await started)?.name).toBe('uid-1');
});

test('without access to kube-system, the cluster name depends on the certificate authority, not on its file name', async () => {
  const named = async (authority: object) => {
    const cluster = Object.assign(new OneCluster(), { uid: forbidden, authority });
    return (await cluster.start())?.name;
  };
  const file = join(tmpdir(), `pergola-authority-${process.pid}.crt`);
  await writeFile(file, 'first');
  const first = await named({ caFile: file });
  await writeFile(file, 'second');
  expect(first).toMatch(digest);
  expect(await named({ caFile: file })).not.toBe(first);
  expect(await named({ caData: 'Zmlyc3Q=' })).toBe(first);
});

/** The changes that may happen to a cluster between two starts of its operator. */
const CHANGES: readonly (readonly [string, (cluster: OneCluster) => void])[] = [
  ['nothing', () => {}],
  ['the right to read kube-system is lost', (cluster) => Object.assign(cluster, { uid: forbidden })],
  ['the right to read kube-system is given', (cluster) => Object.assign(cluster, { uid: 'uid-1' })],
  [
    'the certificate authority is rotated',
    (cluster) => Object.assign(cluster, { authority: { caData: 'two' } }),
  ],
  [
    'both change',
    (cluster) =>
      Object.assign(cluster, {
        authority: { caData: 'two' },
        uid: cluster.uid === 'uid-1' ? forbidden : 'uid-1',
      }),
  ],
];

test.each(
  CHANGES.flatMap(([what, change]) =>
    ['uid-1', forbidden].map((uid) => [what, uid === forbidden ? 'may not' : 'may', uid, change] as const),
  ),
)(
  'after %s, an operator that %s read kube-system at first has the same name',
  async (_what, _may, uid, change) => {
    const cluster = Object.assign(new OneCluster(), { uid });
    const before = await cluster.start();
    change(cluster);
    expect((await cluster.start())?.name).toBe(before?.name);
    expect(cluster.problems).toEqual([]);
  },
);

test('the names that another version may have used are earlier names, also after the authority is rotated', async () => {
  const cluster = new OneCluster();
  const before = await cluster.start();
  expect(before).toMatchObject({ name: 'uid-1', earlier: [expect.stringMatching(digest)] });
  cluster.authority = { caData: 'two' };
  expect((await cluster.start())?.earlier).toEqual(expect.arrayContaining([...before!.earlier]));
});

test('a configured name replaces the stored one, which becomes an earlier name, and stays without the option', async () => {
  const cluster = new OneCluster();
  await cluster.start();
  const configured = await cluster.start('production');
  expect(configured?.name).toBe('production');
  expect(configured?.earlier).toContain('uid-1');
  expect((await cluster.start())?.name).toBe('production');
});

test('a name configured from the start has no earlier names: another operator of the cluster may have them', async () => {
  expect(await new OneCluster().start('production')).toMatchObject({ name: 'production', earlier: [] });
});

test('a lease from a backup of another cluster stops the start, and the message says what to set', async () => {
  const cluster = new OneCluster();
  await cluster.start();
  cluster.uid = 'uid-2';
  expect(await cluster.start()).toBeUndefined();
  expect(cluster.problems[0]).toContain(
    'set operator.clusterName to uid-1 if this cluster replaces that one, or to uid-2 if both exist',
  );
  expect(await cluster.start('uid-2')).toMatchObject({ name: 'uid-2', earlier: [] });
  expect((await cluster.start())?.name).toBe('uid-2');
});

test('the lease keeps its holder and other annotations, and a conflict with another replica is retried', async () => {
  const cluster = new OneCluster();
  cluster.lease = {
    metadata: { resourceVersion: '7', annotations: { team: 'api' } },
    spec: { holderIdentity: 'other' },
  };
  cluster.failures = [];
  const names = await Promise.all([cluster.start(), cluster.start()]);
  expect(names.map((one) => one?.name)).toEqual(['uid-1', 'uid-1']);
  expect(cluster.lease).toMatchObject({
    metadata: { annotations: { team: 'api', [CLUSTER_NAME_ANNOTATION]: expect.any(String) } },
    spec: { holderIdentity: 'other' },
  });
});

test.each(['not JSON', '{}', '{"name": 7}', 'null', '[]'])(
  'an annotation without a name, %s, is replaced',
  async (text) => {
    const cluster = new OneCluster();
    const annotations = { [CLUSTER_NAME_ANNOTATION]: text };
    cluster.lease = { metadata: { resourceVersion: '7', annotations } };
    expect((await cluster.start())?.name).toBe('uid-1');
  },
);

test('without the right to a lease the name is the derived one', async () => {
  const cluster = Object.assign(new OneCluster(), { leaseRights: false });
  expect((await cluster.start())?.name).toBe('uid-1');
});

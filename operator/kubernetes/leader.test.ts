/** Tests the lease: who holds it, and when it is acquired, lost and released. The API server here is one object with versions. */
import { expect, test } from 'vitest';
import { Elector } from './leader.ts';
import { ManualTimers } from './testing/manual-timers.ts';
import { ApiProblem, type ApiRequest, type Transport } from './transport.ts';

type Lease = {
  metadata: { name: string; resourceVersion: string; annotations?: Record<string, string> };
  spec: { holderIdentity: string; leaseTransitions: number };
};

class OneLease implements Transport {
  lease: Lease | undefined;
  isAway = false;
  #version = 0;

  async send<T>({ method, body }: ApiRequest): Promise<T> {
    if (this.isAway) throw new Error('no route to host');
    if (method !== 'GET') return this.#write(method, body as Lease) as T;
    if (!this.lease) throw new ApiProblem(404, 'leases "x" not found');
    return structuredClone(this.lease) as T;
  }

  watch(): never {
    throw new Error('nobody watches a lease');
  }

  async close(): Promise<void> {}

  #write(method: string, body: Lease): Lease {
    const isStale = body.metadata.resourceVersion !== this.lease?.metadata.resourceVersion;
    if (method === 'POST' ? this.lease : isStale) throw new ApiProblem(409, 'it has been modified');
    this.lease = structuredClone({
      ...body,
      metadata: { ...body.metadata, resourceVersion: `${++this.#version}` },
    });
    return this.lease;
  }
}

function candidate(server: OneLease, timers: ManualTimers, identity: string) {
  const said: string[] = [];
  const end = new AbortController();
  const elector = new Elector({
    transport: server,
    timers,
    now: () => new Date(timers.nowMs()),
    namespace: 'api',
    name: 'x',
    identity,
    onLead: () => said.push('leads'),
    onLoss: () => said.push('lost'),
    onProblem: () => {},
  });
  const run = elector.run(end.signal);
  const leave = async () => {
    end.abort();
    await run;
  };
  return { elector, said, leave };
}

test('the first candidate leads, and the second does not lead while the first renews the lease', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const first = candidate(server, timers, 'first');
  await timers.pass(0);
  const second = candidate(server, timers, 'second');
  await timers.pass(120_000);
  expect([first.said, second.said]).toEqual([['leads'], []]);
  await Promise.all([first.leave(), second.leave()]);
});

test('only one of two simultaneous candidates leads', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const both = [candidate(server, timers, 'first'), candidate(server, timers, 'second')];
  await timers.pass(60_000);
  expect(both.flatMap(({ said }) => said)).toEqual(['leads']);
  await Promise.all(both.map(({ leave }) => leave()));
});

test('a released lease is acquired at the next check', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const first = candidate(server, timers, 'first');
  await timers.pass(0);
  const second = candidate(server, timers, 'second');
  await timers.pass(0);
  await first.leave();
  expect(server.lease?.spec.holderIdentity).toBe('');
  await timers.pass(2500);
  expect(second.said).toEqual(['leads']);
  expect(server.lease?.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
  await second.leave();
});

test('an expired lease is acquired after its duration by the local clock', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  server.lease = {
    metadata: { name: 'x', resourceVersion: 'old' },
    spec: { holderIdentity: 'dead', leaseTransitions: 4 },
  };
  const next = candidate(server, timers, 'next');
  await timers.pass(0);
  await timers.pass(14_000);
  expect(next.said).toEqual([]);
  await timers.pass(4000);
  expect(next.said).toEqual(['leads']);
  await next.leave();
});

test('a leader that cannot renew its lease stops leading before another candidate may start, and waits', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const leader = candidate(server, timers, 'leader');
  await timers.pass(1000);
  server.isAway = true;
  await timers.pass(8000);
  expect(leader.elector.isLeading).toBe(true);
  await timers.pass(5000);
  expect(leader.elector.isLeading).toBe(false);
  await timers.pass(600_000);
  expect(leader.said).toEqual(['leads']);
  await leader.leave();
});

test.each([1000, 7000, 12_000, 60_000, 600_000])(
  'a single leader leads again when the API server was away for %d ms',
  async (awayMs) => {
    const [server, timers] = [new OneLease(), new ManualTimers()];
    const leader = candidate(server, timers, 'leader');
    await timers.pass(1000);
    server.isAway = true;
    await timers.pass(awayMs);
    server.isAway = false;
    await timers.pass(2500);
    expect(leader.elector.isLeading).toBe(true);
    // After a lapse it starts afresh: its caches may be old.
    expect(leader.said).toEqual(awayMs > 10_000 ? ['leads', 'leads'] : ['leads']);
    await leader.leave();
  },
);

test('a leader whose lease another candidate acquired meanwhile has lost it', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const leader = candidate(server, timers, 'leader');
  await timers.pass(1000);
  server.isAway = true;
  await timers.pass(60_000);
  server.lease = { ...server.lease!, spec: { holderIdentity: 'other', leaseTransitions: 1 } };
  expect(leader.elector.isLeading).toBe(false);
  server.isAway = false;
  await timers.pass(2500);
  expect(leader.said).toEqual(['leads', 'lost']);
  expect(server.lease?.spec.holderIdentity).toBe('other');
  await leader.leave();
});

test('a leader that was suspended does not lead when it continues', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const leader = candidate(server, timers, 'leader');
  await timers.pass(1000);
  // The response is pending while the process is suspended.
  const answer = Promise.withResolvers<void>();
  const send = server.send.bind(server);
  server.send = async <T>(asked: ApiRequest) => {
    await answer.promise;
    return send<T>(asked);
  };
  await timers.pass(30_000);
  expect(leader.said).toEqual(['leads']);
  expect(leader.elector.isLeading).toBe(false);
  answer.resolve();
  await leader.leave();
});

test('a leader stops leading at once when another holds the lease', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const leader = candidate(server, timers, 'leader');
  await timers.pass(1000);
  server.lease!.spec.holderIdentity = 'usurper';
  await timers.pass(2500);
  expect(leader.said).toEqual(['leads', 'lost']);
  await leader.leave();
  expect(server.lease?.spec.holderIdentity).toBe('usurper');
});

test('the lease keeps its annotations when it is acquired, renewed and released', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const annotations = { 'pergola.dev/cluster-name': '{"name":"one"}' };
  server.lease = { metadata: { name: 'x', resourceVersion: 'old', annotations }, spec: {} as Lease['spec'] };
  const leader = candidate(server, timers, 'leader');
  await timers.pass(10_000);
  expect(server.lease).toMatchObject({ metadata: { annotations }, spec: { holderIdentity: 'leader' } });
  await leader.leave();
  expect(server.lease).toMatchObject({ metadata: { annotations }, spec: { holderIdentity: '' } });
});

/** The lease: who holds it, when it is taken, lost and given back. The API server here is one object with versions. */
import { expect, test } from 'vitest';
import { Elector } from './leader.ts';
import { ManualTimers } from './testing/manual-timers.ts';
import { ApiProblem, type ApiRequest, type Transport } from './transport.ts';

type Lease = {
  metadata: { name: string; resourceVersion: string };
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

test('the first to come leads; the second does not while the first renews', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const first = candidate(server, timers, 'first');
  await timers.pass(0);
  const second = candidate(server, timers, 'second');
  await timers.pass(120_000);
  expect([first.said, second.said]).toEqual([['leads'], []]);
  await Promise.all([first.leave(), second.leave()]);
});

test('of two that come at once one leads', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const both = [candidate(server, timers, 'first'), candidate(server, timers, 'second')];
  await timers.pass(60_000);
  expect(both.flatMap(({ said }) => said)).toEqual(['leads']);
  await Promise.all(both.map(({ leave }) => leave()));
});

test('a lease that was given back is taken at the next look', async () => {
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

test('a lease nobody renews is taken after its time, by our own clock', async () => {
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

test('a leader that cannot renew gives up before another may begin', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const leader = candidate(server, timers, 'leader');
  await timers.pass(1000);
  server.isAway = true;
  await timers.pass(8000);
  expect(leader.elector.isLeading).toBe(true);
  await timers.pass(5000);
  expect(leader.said).toEqual(['leads', 'lost']);
  await leader.leave();
});

test('a leader that was stopped in its tracks does not lead when it goes on', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const leader = candidate(server, timers, 'leader');
  await timers.pass(1000);
  // Its answer is on the way while the process stands still.
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

test('a leader that finds another in its place gives up at once', async () => {
  const [server, timers] = [new OneLease(), new ManualTimers()];
  const leader = candidate(server, timers, 'leader');
  await timers.pass(1000);
  server.lease!.spec.holderIdentity = 'usurper';
  await timers.pass(2500);
  expect(leader.said).toEqual(['leads', 'lost']);
  await leader.leave();
  expect(server.lease?.spec.holderIdentity).toBe('usurper');
});

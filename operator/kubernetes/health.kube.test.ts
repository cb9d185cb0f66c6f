/** Tests conditions while databases, tables and the engine itself fail and recover: they change within fifteen seconds with the default
 *  intervals, and without a storm of writes. Uses a real API server, the real engine, and the rights of the chart.
 *  Each test continues from the state that the previous one left. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProxy } from '../../engine/wire/testing/proxy.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { GROUP_VERSION } from '../kinds.ts';
import type { Operator } from './operator.ts';
import { createRig, HOME, type Rig, readyOf } from './testing/rig.ts';

const TABLES = 30;
const numbers = Array.from({ length: TABLES }, (_, i) => i + 1);
const SCHEMA = numbers.map((n) => `create table t${n} (id serial primary key, note text);`).join('\n');
const FAR = 'create table star (id serial primary key, name text)';

function cr(kind: string, name: string, spec: object): KubeObject {
  const metadata = { name, namespace: HOME };
  return { apiVersion: GROUP_VERSION, kind, metadata, spec: { engineRef: { name: 'main' }, ...spec } };
}

const tableCr = (source: string, name: string) => cr('Table', name, { source, table: name });
const reader = (source: string, name: string) =>
  cr('TablePermission', `${name}-reader`, {
    source,
    table: name,
    role: 'reader',
    select: { columns: ['id'], filter: {} },
  });
const farSource = cr('Source', 'far', {
  name: 'far',
  type: 'Postgres',
  connection: { url: { env: 'FAR_URL' } },
});

/** More than a change takes to reach a condition on a busy machine, with the default intervals of operator and engine: 15 s on a quiet one. */
const SOON_MS = 60_000;

await describeKube('conditions during outages', (kube) => {
  let rig: Rig;
  let operator: Operator;
  let far: TestDatabase;
  let proxy: Awaited<ReturnType<typeof openProxy>>;
  const strangers: Server[] = [];

  beforeAll(async () => {
    far = await createDatabase();
    await far.sql(FAR);
    proxy = await openProxy(far.url);
    rig = await createRig(kube(), SCHEMA);
    await rig.stopEngine();
    await startEngine();
    await setEngine({ polling: null });
    operator = await rig.startOperator(['--unreachable-grace-seconds', '60']);
    await rig.kube.apply(
      farSource,
      tableCr('far', 'star'),
      reader('far', 'star'),
      ...numbers.flatMap((n) => [tableCr('default', `t${n}`), reader('default', `t${n}`)]),
    );
    await allReady();
    await rig.ready('Engine', 'main', 'Applied');
  }, 120_000);
  afterAll(async () => {
    await rig?.close();
    await proxy?.close();
    await far?.drop();
    for (const server of strangers) server.close();
  }, 90_000);

  const startEngine = () => rig.startEngine('first-secret', { env: { FAR_URL: proxy.url } });
  const setEngine = (spec: object) =>
    rig.kube.kubectl([
      ...['patch', 'engine.pergola.dev/main', '-n', HOME, '--type=merge'],
      ...['-p', JSON.stringify({ spec })],
    ]);
  const soon = <T>(look: () => Promise<T>) => vi.waitFor(look, { timeout: SOON_MS, interval: 100 });
  const reasonOf = async (kind: string, name: string) => readyOf((await rig.get(kind, name)).status)?.reason;
  const allReady = async (seconds = 40) => {
    await vi.waitFor(
      async () => {
        for (const kind of ['Source', 'Table', 'TablePermission']) {
          const found = new Set((await rig.all(kind)).map(({ status }) => readyOf(status)?.reason));
          expect([kind, ...found]).toEqual([kind, 'Applied']);
        }
      },
      { timeout: seconds * 1000, interval: 200 },
    );
  };
  const metric = async (name: string, labels = ''): Promise<number> => {
    const page = await (await fetch(`http://127.0.0.1:${operator.healthPort}/metrics`)).text();
    const line = page.split('\n').find((one) => one.startsWith(`${name}{${labels}`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  const statusWrites = async () =>
    (await metric('pergola_status_writes_total', 'kind="Table"')) +
    (await metric('pergola_status_writes_total', 'kind="TablePermission"'));
  const engineConditions = async () =>
    Object.fromEntries(
      (await rig.get('Engine', 'main')).status!.conditions.map(({ type, status }) => [type, status]),
    );
  const eventsOf = async (reason: string) => {
    const { body } = await rig.kube.request('GET', `/apis/events.k8s.io/v1/namespaces/${HOME}/events`);
    return (body.items as { reason: string; regarding: { kind: string } }[])
      .filter((event) => event.reason === reason)
      .map(({ regarding }) => regarding.kind);
  };
  /** Returns the resource version at the API server, which changes with every write of the status. */
  const stored = async (kind: string, name: string) =>
    ((await rig.get(kind, name)).metadata as { resourceVersion?: string }).resourceVersion;
  const version = async () => (await rig.get('Engine', 'main')).status?.resourceVersion;

  test('the Source and Tables of an unreachable database wait, and all other resources are unaffected', async () => {
    const before = await version();
    const others = await stored('Table', 't1');
    await proxy.close();
    await soon(async () => {
      expect(await reasonOf('Source', 'far')).toBe('SourceUnavailable');
      expect(await reasonOf('Table', 'star')).toBe('SourceUnavailable');
      expect(await reasonOf('TablePermission', 'star-reader')).toBe('SourceUnavailable');
    });
    await soon(async () =>
      expect(await engineConditions()).toMatchObject({ Ready: 'True', MetadataConsistent: 'False' }),
    );
    expect(await stored('Table', 't1')).toBe(others);
    expect(await version()).toBe(before);
  }, 90_000);

  test('changes in other databases are applied during the outage', async () => {
    const changed = cr('TablePermission', 't1-reader', {
      ...(reader('default', 't1')['spec'] as object),
      select: { columns: ['id', 'note'], filter: {} },
    });
    await rig.kube.apply(changed);
    await rig.ready('TablePermission', 't1-reader', 'Applied');
    expect(await reasonOf('Table', 'star')).toBe('SourceUnavailable');
  }, 90_000);

  test('resources that wait for a database are Ready again once it is reachable', async () => {
    proxy = await openProxy(far.url, Number(new URL(proxy.url).port));
    await soon(async () => {
      expect(await reasonOf('Source', 'far')).toBe('Applied');
      expect(await reasonOf('Table', 'star')).toBe('Applied');
      expect(await reasonOf('TablePermission', 'star-reader')).toBe('Applied');
    });
    await soon(async () => expect(await engineConditions()).toMatchObject({ MetadataConsistent: 'True' }));
  }, 90_000);

  test('a database that bounces changes the status of its Source only, when much is in it', async () => {
    const roles = Array.from({ length: 110 }, (_, i) => `role${i}`);
    await rig.kube.apply(
      ...roles.map((role) => {
        const permission = reader('far', 'star') as KubeObject & { spec: object };
        const metadata = { name: `star-${role}`, namespace: HOME };
        return { ...permission, metadata, spec: { ...permission.spec, role } };
      }),
    );
    await allReady();
    const before = await statusWrites();
    await proxy.close();
    await soon(async () => expect(await reasonOf('Source', 'far')).toBe('SourceUnavailable'));
    await new Promise((resolve) => setTimeout(resolve, 6000));
    expect(await reasonOf('TablePermission', 'star-role7')).toBe('Applied');
    proxy = await openProxy(far.url, Number(new URL(proxy.url).port));
    await soon(async () => expect(await reasonOf('Source', 'far')).toBe('Applied'));
    expect(await statusWrites()).toBe(before);
    expect(new Set(await eventsOf('SourceUnavailable'))).toEqual(new Set(['Source', 'Engine']));
  }, 180_000);

  test('the Table of a dropped table reports it, and is Ready again with the table', async () => {
    await rig.database.sql('alter table t2 rename to gone');
    await soon(async () => {
      expect(await reasonOf('Table', 't2')).toBe('DependencyNotReady');
      expect(await reasonOf('TablePermission', 't2-reader')).toBe('DependencyNotReady');
    });
    await soon(async () => expect(await engineConditions()).toMatchObject({ MetadataConsistent: 'False' }));
    await rig.database.sql('alter table gone rename to t2');
    await soon(async () => {
      expect(await reasonOf('Table', 't2')).toBe('Applied');
      expect(await reasonOf('TablePermission', 't2-reader')).toBe('Applied');
    });
  }, 90_000);

  test('a permission that names a dropped column reports it', async () => {
    await rig.database.sql('alter table t1 rename note to remark');
    await soon(async () => expect(await reasonOf('TablePermission', 't1-reader')).not.toBe('Applied'));
    expect(await reasonOf('Table', 't1')).toBe('Applied');
    await rig.database.sql('alter table t1 rename remark to note');
    await soon(async () => expect(await reasonOf('TablePermission', 't1-reader')).toBe('Applied'));
  }, 90_000);

  test('a short outage of the engine changes the status of the Engine only, not of its resources', async () => {
    await allReady();
    const before = await statusWrites();
    await rig.stopEngine();
    await soon(async () => expect(await reasonOf('Engine', 'main')).toBe('EngineUnreachable'));
    await startEngine();
    await vi.waitFor(async () => expect(await reasonOf('Engine', 'main')).toBe('Applied'), {
      timeout: 40_000,
    });
    expect(await statusWrites()).toBe(before);
    await soon(async () => expect(await eventsOf('EngineUnreachable')).toEqual(['Engine']));
  }, 180_000);

  test('a long outage is written to the resources after the grace period, at a limited rate and without Events', async () => {
    await operator.stop();
    operator = await rig.startOperator([
      ...['--unreachable-grace-seconds', '2', '--unreachable-writes-per-second', '5'],
    ]);
    await soon(async () =>
      expect(await metric('pergola_pass_total', 'engine="api/main",result="unch')).toBeGreaterThan(0),
    );
    const before = await statusWrites();
    await rig.stopEngine();
    const began = performance.now();
    await rig.kube.kubectl([
      'annotate',
      'engine.pergola.dev/main',
      '-n',
      HOME,
      `pergola.dev/reconcile-now=${began}`,
    ]);
    const written = async () => (await statusWrites()) - before;
    await vi.waitFor(
      async () => {
        const seconds = (performance.now() - began) / 1000;
        const count = await written();
        expect(count).toBeLessThanOrEqual(Math.max(0, (seconds - 2) * 5 + 5));
        expect(count).toBeGreaterThan(20);
      },
      { timeout: 60_000, interval: 250 },
    );
    expect(await reasonOf('Engine', 'main')).toBe('EngineUnreachable');
    expect(new Set(await eventsOf('EngineUnreachable'))).toEqual(new Set(['Engine']));
    await startEngine();
    await allReady(60);
    expect(new Set(await eventsOf('EngineUnreachable'))).toEqual(new Set(['Engine']));
  }, 150_000);

  test.each([
    ['JSON of something else', 'application/json', '{"status":"ok","hits":[]}'],
    ['a web page', 'text/html', '<html>Sign in</html>'],
    ['an empty list', 'application/json', '[]'],
  ])('the Engine reports an endpoint that sends %s, and quotes nothing of it', async (_, type, body) => {
    const server = createServer((_, response) => response.setHeader('content-type', type).end(body));
    strangers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const name = `odd-${strangers.length}`;
    await rig.kube.apply({
      apiVersion: GROUP_VERSION,
      kind: 'Engine',
      metadata: { name, namespace: HOME },
      spec: { endpoint: { url } },
    });
    const ready = await rig.ready('Engine', name, 'EngineUnreachable');
    expect(ready.message).not.toContain(body);
    expect(ready.message).toContain('Check the endpoint');
  });
});

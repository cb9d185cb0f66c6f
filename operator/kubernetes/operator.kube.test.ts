/** Tests the whole operator: a real API server, the real engine, a real Postgres, with the rights that the chart grants. Each test
 *  continues from the state that the previous one left. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openProxy } from '../../engine/wire/testing/proxy.ts';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { type CustomResource, GROUP_VERSION } from '../kinds.ts';
import type { Operator } from './operator.ts';
import { createRig, engineSecret, HOME, type Rig, readyOf } from './testing/rig.ts';

const TABLES = 100;
const numbers = Array.from({ length: TABLES }, (_, i) => i + 1);

/** Tables t1 … t100; each except the first refers to the previous one. */
const SCHEMA = `
do $$ begin
  for i in 1..${TABLES} loop
    execute format('create table t%s (id serial primary key, owner text not null, note text)', i);
    execute format('insert into t%s (owner, note) values (''ann'', ''hers''), (''bob'', ''his'')', i);
    if i > 1 then execute format('alter table t%s add before_id int references t%s', i, i - 1); end if;
  end loop;
end $$;
create table by_hand (id serial primary key, note text);
`;

function cr(kind: string, name: string, spec: object, namespace = HOME): KubeObject {
  const engineRef = namespace === HOME ? { name: 'main' } : { name: 'main', namespace: HOME };
  return { apiVersion: GROUP_VERSION, kind, metadata: { name, namespace }, spec: { engineRef, ...spec } };
}

function tableCr(number: number, more: object = {}): KubeObject {
  const relationship = { name: 'before', foreignKey: { columns: ['before_id'] } };
  return cr('Table', `t${number}`, {
    source: 'default',
    table: `t${number}`,
    ...(number > 1 ? { objectRelationships: [relationship] } : {}),
    ...more,
  });
}

function permissionCr(
  name: string,
  table: string,
  columns: readonly string[] = ['id', 'owner'],
  namespace = HOME,
): KubeObject {
  const select = { columns, filter: { owner: { _eq: 'X-Engine-User-Id' } } };
  return cr('TablePermission', name, { source: 'default', table: table, role: 'user', select }, namespace);
}

const reasonsOf = (crs: readonly CustomResource[]) =>
  Object.fromEntries(
    [...Map.groupBy(crs, (one) => readyOf(one.status)?.reason ?? 'none')].map(([reason, ones]) => [
      reason,
      ones.length,
    ]),
  );

await describeKube('the operator', (kube) => {
  let rig: Rig;
  let operator: Operator;

  beforeAll(async () => {
    rig = await createRig(kube(), SCHEMA);
    operator = await rig.startOperator();
  }, 180_000);
  afterAll(() => rig?.close(), 30_000);

  const eventually = <T>(look: () => Promise<T> | T, seconds = 20) =>
    vi.waitFor(look, { timeout: seconds * 1000, interval: 100 });
  const asUser = (query: string) =>
    rig.engine().graphql(query, { role: 'user', headers: { 'x-engine-user-id': 'ann' } });
  const exported = async () => {
    const { body } = await rig
      .engine()
      .admin<{ resource_version: number; metadata: Metadata }>('export_metadata', {}, { version: 2 });
    return { version: body.resource_version, tables: body.metadata.sources.flatMap(({ tables }) => tables) };
  };
  const trackedAs = async (name: string) =>
    (await exported()).tables.find(({ table }) => table.name === name);

  test('200 resources become Ready, and the API permits what they declare', async () => {
    await rig.kube.apply(
      ...numbers.map((n) => tableCr(n)),
      ...numbers.map((n) => permissionCr(`t${n}-user`, `t${n}`)),
    );
    await eventually(async () => {
      expect(reasonsOf(await rig.all('Table'))).toEqual({ Applied: TABLES });
      expect(reasonsOf(await rig.all('TablePermission'))).toEqual({ Applied: TABLES });
    }, 60);
    expect(await asUser('{ t7 { owner } }')).toEqual({ data: { t7: [{ owner: 'ann' }] } });
    const hidden = await asUser('{ t7 { note } }');
    expect(hidden.errors?.[0]?.extensions.code).toBe('validation-failed');
    expect((await rig.engine().graphql('{ t7(limit: 1) { before { id } } }')).errors).toBeUndefined();
  }, 180_000);

  test('the Engine counts its owned objects, and kubectl wait finds it and its resources Ready', async () => {
    const { status } = await eventually(async () => {
      const engine = await rig.get('Engine', 'main');
      expect(engine.status?.objects?.owned).toBe(TABLES * 2 + TABLES - 1);
      return engine;
    });
    expect(status!.resourceVersion).toBe((await exported()).version);
    const version = (await (await fetch(`${rig.engine().url}/v1/version`)).json()) as { version: string };
    expect(status!.engineVersion).toBe(version.version);
    expect(status!.conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Ready=True',
      'Reachable=True',
      'MetadataConsistent=True',
    ]);
    await rig.kube.kubectl([
      'wait',
      '--for=condition=Ready',
      '--timeout=5s',
      '-n',
      HOME,
      'engine.pergola.dev/main',
      'table.pergola.dev/t1',
      'tablepermission.pergola.dev/t1-user',
    ]);
  });

  test('the operator serves probes and metrics', async () => {
    const page = async (path: string) =>
      (await fetch(`http://127.0.0.1:${operator.healthPort}${path}`)).text();
    expect(await page('/livez')).toBe('ok\n');
    expect(await page('/readyz')).toBe('ok\n');
    const metrics = await page('/metrics');
    expect(metrics).toContain('pergola_is_leader 1');
    expect(metrics).toMatch(/pergola_objects\{engine="api\/main",state="owned"\} 299/);
  });

  test('a restart writes nothing, neither to the engine nor to the resources', async () => {
    await operator.stop();
    const before = await snapshot();
    operator = await rig.startOperator();
    await eventually(async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${operator.healthPort}/metrics`)).text();
      expect(metrics).toContain('pergola_pass_total{engine="api/main",result="unchanged"}');
    });
    expect(await snapshot()).toEqual(before);
  });

  test('an edited resource changes the API within two seconds', async () => {
    const began = performance.now();
    await rig.kube.apply(permissionCr('t7-user', 't7', ['id', 'owner', 'note']));
    await eventually(async () =>
      expect(await asUser('{ t7 { note } }')).toEqual({ data: { t7: [{ note: 'hers' }] } }),
    );
    expect(performance.now() - began).toBeLessThan(2000);
    await rig.ready('TablePermission', 't7-user', 'Applied');
  });

  test('objects created by hand are never changed, and owned objects changed by hand are corrected', async () => {
    const engine = rig.engine();
    await engine.admin('pg_track_table', {
      source: 'default',
      table: 'by_hand',
      configuration: { custom_name: 'mine' },
    });
    const byHand = await trackedAs('by_hand');
    const owned = { source: 'default', table: 't8', role: 'user' };
    expect((await engine.admin('pg_drop_select_permission', owned)).status).toBe(200);
    await eventually(async () => expect(JSON.stringify(await trackedAs('t8'))).toContain('X-Engine-User-Id'));
    await eventually(async () => {
      const described = await rig.kube.kubectl(['describe', 'tablepermission', 't8-user', '-n', HOME]);
      expect(described).toMatch(
        /Warning +DriftCorrected[^\n]*Restored: select permission default\/public\/t8\/user was removed/,
      );
    });
    const metrics = await (await fetch(`http://127.0.0.1:${operator.healthPort}/metrics`)).text();
    expect(metrics).toContain('pergola_drift_corrected_total{engine="api/main"} 1\n');
    expect(await trackedAs('by_hand')).toEqual(byHand);
    await eventually(async () => expect((await rig.get('Engine', 'main')).status?.objects?.foreign).toBe(2));
  });

  test('the older of two resources owns the permission that both claim, and the newer one names the owner', async () => {
    await rig.kube.apply(permissionCr('rival', 't9'));
    const { message } = await rig.ready('TablePermission', 'rival', 'Conflict');
    expect(message).toContain('TablePermission api/t9-user');
    expect(await asUser('{ t9 { owner } }')).toEqual({ data: { t9: [{ owner: 'ann' }] } });
    await rig.remove('TablePermission', 't9-user');
    await rig.ready('TablePermission', 'rival', 'Applied');
  });

  test('kubectl describe lists the Events of a resource', async () => {
    const told = await eventually(async () => {
      const described = await rig.kube.kubectl(['describe', 'tablepermission', 'rival', '-n', HOME]);
      expect(described).toMatch(/Warning +Conflict[^\n]*belongs to TablePermission api\/t9-user/);
      expect(described).toMatch(/Normal +Applied[^\n]*1 object applied/);
      return (await rig.kube.request('GET', `/apis/events.k8s.io/v1/namespaces/${HOME}/events`)).body.items;
    });
    const { related } = told.find(
      ({ regarding }: { regarding: KubeObject['metadata'] }) => regarding.name === 'rival',
    );
    expect(related).toMatchObject({ kind: 'Engine', namespace: HOME, name: 'main' });
  });

  test('deleting a resource removes its objects and nothing else', async () => {
    await rig.remove('TablePermission', 't10-user');
    await eventually(async () =>
      expect(JSON.stringify(await trackedAs('t10'))).not.toContain('select_permissions'),
    );
    expect(await trackedAs('t10')).toBeDefined();
    expect(await trackedAs('by_hand')).toBeDefined();
    expect((await asUser('{ t10 { owner } }')).errors).toBeDefined();
  });

  test('invalid and waiting resources do not block valid ones', async () => {
    const missing = cr('Table', 'later', { source: 'default', table: 'later' });
    const wrong = cr('TablePermission', 't11-user', {
      source: 'default',
      table: 't11',
      role: 'user',
      select: { columns: ['id'], filter: { owner: { _resembles: 'ann' } } },
    });
    await rig.kube.apply(
      missing,
      permissionCr('later-user', 'later'),
      wrong,
      permissionCr('t12-user', 't12', ['id']),
    );
    await rig.ready('TablePermission', 't12-user', 'Applied');
    expect((await rig.ready('Table', 'later', 'DependencyNotReady')).message).toContain('later');
    await rig.ready('TablePermission', 'later-user', 'DependencyNotReady');
    const { message } = await rig.ready('TablePermission', 't11-user', 'RejectedByEngine');
    expect(message).toContain('_resembles');
    expect(message).toContain('serving generation 1');
    expect(await asUser('{ t11 { owner } }')).toEqual({ data: { t11: [{ owner: 'ann' }] } });
    // The status of the Engine is written after those of its resources.
    await expect
      .poll(async () => (await rig.get('Engine', 'main')).status?.objects?.failing, { timeout: 10_000 })
      .toBe(3);
  });

  test('resources that wait for a table are applied once it exists', async () => {
    await rig.database.sql('create table later (id serial primary key, owner text not null)');
    await rig.engine().admin('reload_metadata', {});
    await rig.ready('Table', 'later', 'Applied');
    await rig.ready('TablePermission', 'later-user', 'Applied');
  });

  test('a namespace is admitted by its labels', async () => {
    await rig.kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    await rig.kube.apply(permissionCr('t10-user', 't10', ['id'], 'team'));
    expect((await rig.ready('TablePermission', 't10-user', 'RefNotPermitted', 'team')).message).toContain(
      'graphql=yes',
    );
    await rig.kube.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team', labels: { graphql: 'yes' } },
    });
    // A resource of the other namespace owned it a moment ago.
    expect((await rig.ready('TablePermission', 't10-user', 'Conflict', 'team')).message).toContain(
      `reserved for namespace ${HOME}`,
    );
    await annotateEngine({ 'pergola.dev/release-reserved': HOME });
    await rig.ready('TablePermission', 't10-user', 'Applied', 'team');
    await annotateEngine({ 'pergola.dev/release-reserved': null });
  });

  test('waitForDeletion adds no finalizer where the operator may not write to the resource', async () => {
    const { spec, ...rest } = permissionCr('t16-guest', 't16', ['id'], 'team');
    const asking = { ...(spec as object), role: 'guest', waitForDeletion: true };
    await rig.kube.apply({ ...rest, spec: asking });
    await rig.ready('TablePermission', 't16-guest', 'Applied', 'team');
    expect((await rig.get('TablePermission', 't16-guest', 'team')).metadata.finalizers).toBeUndefined();
    await rig.remove('TablePermission', 't16-guest', 'team');
    await eventually(async () => expect(JSON.stringify(await trackedAs('t16'))).not.toContain('guest'));
  });

  test('a resource without an Engine reports this', async () => {
    const spec = { ...(permissionCr('orphan', 't1')['spec'] as object), engineRef: { name: 'nobody' } };
    await rig.kube.apply({ ...permissionCr('orphan', 't1'), spec });
    const { message } = await rig.ready('TablePermission', 'orphan', 'DependencyNotReady');
    expect(message).toBe('There is no Engine api/nobody; its namespace has main.');
    await rig.remove('TablePermission', 'orphan');
  });

  test('the operator detects an outage of the engine and recovers by itself', async () => {
    await rig.stopEngine();
    await rig.kube.apply(permissionCr('t13-user', 't13', ['id']));
    await rig.ready('TablePermission', 't13-user', 'EngineUnreachable');
    await rig.ready('Engine', 'main', 'EngineUnreachable');
    const { status } = await rig.get('Engine', 'main');
    expect(status?.conditions.find(({ type }) => type === 'Reachable')?.status).toBe('False');
    await rig.startEngine();
    await rig.ready('TablePermission', 't13-user', 'Applied');
    await rig.ready('Engine', 'main', 'Applied');
  });

  test('after a longer outage everything is Ready within seconds of the first answer', async () => {
    await rig.stopEngine();
    await rig.ready('Engine', 'main', 'EngineUnreachable');
    // The pauses between attempts are 15 to 30 seconds long by then.
    await new Promise((resolve) => setTimeout(resolve, 33_000));
    await rig.startEngine();
    const began = performance.now();
    await rig.ready('Engine', 'main', 'Applied');
    await rig.ready('TablePermission', 't13-user', 'Applied');
    expect(performance.now() - began).toBeLessThan(10_000);
  }, 90_000);

  test('a changed admin secret is read from its Secret', async () => {
    await rig.stopEngine();
    await rig.startEngine('second-secret');
    await rig.kube.apply(engineSecret('second-secret\n'));
    await eventually(async () => {
      const { message } = await rig.ready('Engine', 'main', 'EngineRejectedCredentials');
      expect(message).toContain(`Secret ${HOME}/engine-admin has a line break`);
      expect(message).not.toContain('second-secret');
    });
    await rig.ready('Engine', 'main', 'EngineRejectedCredentials');
    await rig.kube.apply(engineSecret('second-secret'));
    await rig.ready('Engine', 'main', 'Applied');
    await rig.ready('TablePermission', 't13-user', 'Applied');
  });

  test('a standby takes over when the leader stops, and not before', async () => {
    const standby = await rig.startOperator(['--identity', 'standby']);
    const leads = async (one: Operator) =>
      (await (await fetch(`http://127.0.0.1:${one.healthPort}/metrics`)).text()).includes(
        'pergola_is_leader 1',
      );
    await eventually(async () =>
      expect((await fetch(`http://127.0.0.1:${standby.healthPort}/readyz`)).status).toBe(200),
    );
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(await leads(standby)).toBe(false);
    await operator.stop();
    operator = standby;
    await eventually(async () => expect(await leads(standby)).toBe(true), 5);
    await rig.kube.apply(permissionCr('t14-user', 't14', ['id']));
    await rig.ready('TablePermission', 't14-user', 'Applied');
  });

  test('an operator waits while the API server is away for longer than its lease, and then continues', async () => {
    await operator.stop();
    let proxy = await openProxy(rig.kube.url);
    operator = await rig.startOperator([], undefined, proxy.url);
    let isEnded = false;
    void operator.ended.then(() => {
      isEnded = true;
    });
    await rig.kube.apply(permissionCr('t17-user', 't17', ['id']));
    await rig.ready('TablePermission', 't17-user', 'Applied');
    await proxy.close();
    await rig.remove('TablePermission', 't17-user');
    await new Promise((resolve) => setTimeout(resolve, 17_000));
    expect(isEnded).toBe(false);
    expect(JSON.stringify(await trackedAs('t17'))).toContain('select_permissions');
    proxy = await openProxy(rig.kube.url, Number(new URL(proxy.url).port));
    await eventually(async () =>
      expect(JSON.stringify(await trackedAs('t17'))).not.toContain('select_permissions'),
    );
    expect(isEnded).toBe(false);
    await operator.stop();
    await proxy.close();
    operator = await rig.startOperator();
  }, 90_000);

  test('two operators of one namespace say so on the Engine until one of them stops', async () => {
    const contested = async () =>
      (await rig.get('Engine', 'main')).status?.conditions.find(({ type }) => type === 'Contested');
    expect(await contested()).toBeUndefined();
    const other = await rig.startOperator(['--lease-name', 'other', '--identity', 'intruder']);
    await eventually(async () => {
      const found = await contested();
      expect(found?.reason).toBe('AnotherOperator');
      const leases = (await rig.get('Engine', 'main')).status?.operators?.map(({ lease }) => lease);
      expect(leases?.toSorted()).toEqual([`${HOME}/other`, `${HOME}/pergola-operator`]);
    });
    expect(readyOf((await rig.get('Engine', 'main')).status)?.status).toBe('True');
    await other.stop();
    await eventually(async () => expect(await contested()).toBeUndefined());
  });

  test('an operator with another cluster name does not say that a resource conflicts with itself', async () => {
    await operator.stop();
    operator = await rig.startOperator(['--cluster-name', 'elsewhere', '--lease-name', 'elsewhere']);
    const { message } = await rig.ready('Table', 't16', 'AnotherOperator');
    expect(message).toMatch(
      /by another operator, which calls itself .+\/api\/main, .* calls itself elsewhere\//,
    );
    await operator.stop();
    operator = await rig.startOperator();
    await rig.ready('Table', 't16', 'Applied');
  });

  test('an operator whose cluster name is changed still owns what it owned before', async () => {
    await operator.stop();
    operator = await rig.startOperator(['--cluster-name', 'renamed']);
    await rig.kube.apply(permissionCr('t16-user', 't16', ['id']));
    await rig.ready('TablePermission', 't16-user', 'Applied');
    await rig.remove('TablePermission', 't16-user');
    await eventually(async () =>
      expect(JSON.stringify(await trackedAs('t16'))).not.toContain('select_permissions'),
    );
    await operator.stop();
    operator = await rig.startOperator();
    await rig.ready('Table', 't16', 'Applied');
  });

  test('an operator of some namespaces works there and keeps the objects of others', async () => {
    await operator.stop();
    operator = await rig.startOperator(['--watch-namespaces', HOME]);
    await rig.kube.apply(permissionCr('t15-user', 't15', ['id']));
    await rig.ready('TablePermission', 't15-user', 'Applied');
    expect(JSON.stringify(await trackedAs('t10'))).toContain('select_permissions');
    await operator.stop();
    operator = await rig.startOperator();
  });

  test('mass deletions wait for a confirmation', async () => {
    const byHand = await trackedAs('by_hand');
    await rig.kube.request('DELETE', `/apis/${GROUP_VERSION}/namespaces/${HOME}/tables`);
    await rig.ready('Engine', 'main', 'PruneHeld');
    expect(await trackedAs('t20')).toBeDefined();
    // The hash covers the objects to delete, whose number grows while the deletions arrive.
    await eventually(async () => {
      const { message } = await rig.ready('Engine', 'main', 'PruneHeld');
      await confirmPrune(/pergola\.dev\/confirm-prune: (\w+)/.exec(message)?.[1] ?? '');
      await eventually(async () => expect((await exported()).tables).toEqual([byHand]), 3);
    });
    await rig.ready('Engine', 'main', 'Applied');
    await rig.ready('TablePermission', 't20-user', 'DependencyNotReady');
  });

  async function confirmPrune(hash: string) {
    await annotateEngine({ 'pergola.dev/confirm-prune': hash });
  }

  async function annotateEngine(annotations: Readonly<Record<string, string | null>>) {
    const patch = { metadata: { annotations } };
    const path = `/apis/${GROUP_VERSION}/namespaces/${HOME}/engines/main`;
    await rig.kube.request('PATCH', path, patch, 'application/merge-patch+json');
  }

  async function snapshot() {
    const versions = async (kind: string) =>
      (await rig.all(kind)).map(
        ({ metadata }) => `${metadata.name} ${(metadata as { resourceVersion?: string }).resourceVersion}`,
      );
    return [
      (await exported()).version,
      // Each operator records itself in `operators`.
      (await rig.all('Engine')).map(({ status }) => ({ ...status, operators: [] })),
      await versions('Table'),
      await versions('TablePermission'),
    ];
  }
});

type Metadata = {
  readonly sources: readonly {
    readonly tables: readonly {
      readonly table: { readonly name: string };
      readonly [part: string]: unknown;
    }[];
  }[];
};

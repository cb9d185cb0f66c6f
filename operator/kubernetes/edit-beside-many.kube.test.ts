/** A change of one resource beside hundreds of new ones of the same Engine, with an API server that answers slowly. Rule: the change does not
 *  wait until the statuses of the others are written. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type FaultProxy, openFaultProxy } from '../../testing/chaos/fault-proxy.ts';
import { describeKube } from '../../testing/kube.ts';
import { isWithin } from '../../testing/machine-speed.ts';
import { inLanes } from '../../testing/scale.ts';
import { GROUP_VERSION, kindOf } from '../kinds.ts';
import { certificate } from './testing/certificate.ts';
import { createRig, HOME, type Rig, readyOf } from './testing/rig.ts';

const COUNT = 200;
/** The API server takes this long for each request of the operator, so the statuses of all resources take ten seconds. */
const DELAY_MS = 300;
/** The rule says a second; the machine may be busy with other tests. */
const LIMIT_MS = 2000;

const SCHEMA = ['other', ...Array.from({ length: COUNT }, (_, i) => `t${i}`)]
  .map((name) => `create table ${name} (id int primary key, title text, owner text)`)
  .join(';');

await describeKube('an edit beside hundreds of new resources', (kube) => {
  let rig: Rig;
  let proxy: FaultProxy;
  beforeAll(async () => {
    rig = await createRig(kube(), SCHEMA);
    proxy = await openFaultProxy(kube().url, certificate());
    await rig.startOperator([], undefined, proxy.url);
  }, 180_000);
  afterAll(async () => {
    await rig?.close();
    await proxy?.close();
  }, 30_000);

  const pathOf = (kind: string, name = '') =>
    `/apis/${GROUP_VERSION}/namespaces/${HOME}/${kindOf(kind)!.plural}${name && `/${name}`}`;
  const create = async (kind: string, table: string, more: object = {}) => {
    const spec = { engineRef: { name: 'main' }, source: 'default', table, ...more };
    const body = { apiVersion: GROUP_VERSION, kind, metadata: { name: table }, spec };
    expect((await kube().request('POST', pathOf(kind), body)).status).toBe(201);
  };
  const reads = (columns: readonly string[]) => ({ role: 'reader', select: { columns, filter: {} } });

  test('the edit is Ready before the others, again and again', async () => {
    await create('Table', 'other');
    await create('TablePermission', 'other', reads(['id']));
    await rig.ready('TablePermission', 'other', 'Applied');
    proxy.setRules([{ from: 0, count: 1_000_000, fault: { kind: 'delay', ms: DELAY_MS } }]);
    await inLanes(COUNT, async (i) => {
      await create('Table', `t${i}`);
      await create('TablePermission', `t${i}`, reads(['id']));
    });
    const took: number[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const body = { spec: { select: { columns: turn % 2 === 0 ? ['id', 'title'] : ['id'] } } };
      const began = performance.now();
      const type = 'application/merge-patch+json';
      await kube().request('PATCH', pathOf('TablePermission', 'other'), body, type);
      await rig.ready('TablePermission', 'other', 'Applied');
      took.push(performance.now() - began);
      await sleep(500);
    }
    expect(isWithin(Math.max(...took), LIMIT_MS), took.map(Math.round).join()).toBe(true);
    proxy.setRules([]);
    await vi.waitFor(
      async () => {
        const all = [...(await rig.all('Table')), ...(await rig.all('TablePermission'))];
        expect(all.filter(({ status }) => readyOf(status)?.status !== 'True').length).toBe(0);
      },
      { timeout: 30_000, interval: 200 },
    );
  }, 120_000);
});

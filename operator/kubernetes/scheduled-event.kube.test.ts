/** Tests ScheduledEvent from the API server to the webhook: the event is delivered once, and the condition `Delivered` says so. Uses a real
 *  API server, the real engine, and the rights of the chart. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeKube, type KubeObject } from '../../testing/kube.ts';
import { TestWebhook } from '../../testing/webhook.ts';
import { type Condition, GROUP_VERSION } from '../kinds.ts';
import { createRig, HOME, type Rig } from './testing/rig.ts';

await describeKube('scheduled events', (kube) => {
  let rig: Rig;
  let webhook: TestWebhook<Record<string, unknown>>;

  beforeAll(async () => {
    webhook = await TestWebhook.start();
    rig = await createRig(kube(), 'select 1');
    await rig.startOperator();
  }, 180_000);
  afterAll(async () => {
    await rig?.close();
    webhook?.close();
  }, 90_000);

  const event = (name: string, spec: object): KubeObject => ({
    apiVersion: GROUP_VERSION,
    kind: 'ScheduledEvent',
    metadata: { name, namespace: HOME },
    spec: { engineRef: { name: 'main' }, name, webhook: { value: `${webhook.url}/${name}` }, ...spec },
  });
  const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  const deliveredAs = (name: string, reason: string) =>
    vi.waitFor(
      async () => {
        const { status, metadata } = await rig.get('ScheduledEvent', name);
        const found = status?.conditions?.find(({ type }) => type === 'Delivered');
        expect(found).toMatchObject({ reason, observedGeneration: metadata.generation });
        return found as Condition;
      },
      { timeout: 25_000, interval: 50 },
    );
  const callsOf = (name: string) => webhook.received.filter(({ path }) => path === `/${name}`);

  test('an event is Ready and Scheduled, then Delivered, and a new time is a new event', async () => {
    await rig.kube.apply(event('once', { scheduledAt: inSeconds(2), payload: 1 }));
    await rig.ready('ScheduledEvent', 'once', 'Applied');
    expect((await deliveredAs('once', 'Scheduled')).status).toBe('False');
    expect(await deliveredAs('once', 'Delivered')).toMatchObject({
      status: 'True',
      message: 'The webhook was called and accepted attempt 1.',
    });
    expect(callsOf('once').map(({ body }) => body['payload'])).toEqual([1]);
    const at = inSeconds(1);
    await rig.kube.apply(event('once', { scheduledAt: at, payload: 2 }));
    await vi.waitFor(
      () => expect(callsOf('once').map(({ body }) => body['payload'])).toEqual([1, 2]),
      20_000,
    );
    await deliveredAs('once', 'Delivered');
    // Another payload of an event that is delivered changes nothing.
    await rig.kube.apply(event('once', { scheduledAt: at, payload: 3 }));
    await deliveredAs('once', 'Delivered');
    expect(callsOf('once')).toHaveLength(2);
  });

  test('an event is cancelled with its resource, by an administrator, and by its age', async () => {
    await rig.kube.apply(event('gone', { scheduledAt: inSeconds(3600) }));
    await deliveredAs('gone', 'Scheduled');
    const listed = async (name: string) => {
      const args = { type: 'declared', trigger_name: name };
      const { body } = await rig
        .engine()
        .admin<{ events: readonly { id: string }[] }>('get_scheduled_events', args);
      return body.events;
    };
    expect(await listed('gone')).toHaveLength(1);
    await rig.remove('ScheduledEvent', 'gone');
    await vi.waitFor(async () => expect(await listed('gone')).toEqual([]), 20_000);

    await rig.kube.apply(event('cancelled', { scheduledAt: inSeconds(4) }));
    await deliveredAs('cancelled', 'Scheduled');
    const [{ id } = { id: '' }] = await listed('cancelled');
    await rig.engine().admin('delete_scheduled_event', { type: 'declared', event_id: id });
    expect((await deliveredAs('cancelled', 'DeliveryCancelled')).status).toBe('False');

    await rig.kube.apply(event('late', { scheduledAt: inSeconds(-60), toleranceSeconds: 5 }));
    expect((await deliveredAs('late', 'DeliveryMissed')).status).toBe('False');
    expect([...callsOf('cancelled'), ...callsOf('late')]).toEqual([]);
  });

  test('a webhook that fails is named, and the resource stays Ready', async () => {
    const spec = { scheduledAt: inSeconds(0), webhook: { value: 'http://127.0.0.1:9/' } };
    await rig.kube.apply(event('broken', { ...spec, retry: { limit: 1, intervalSeconds: 1 } }));
    expect(await deliveredAs('broken', 'DeliveryFailed')).toMatchObject({
      status: 'False',
      message: 'The webhook failed 2 times and is not called again.',
    });
    await rig.ready('ScheduledEvent', 'broken', 'Applied');
  });

  test.each([
    ['tomorrow', 'scheduledAt'],
    ['2026-01-31', 'scheduledAt'],
  ])('the API server refuses the time %s', async (scheduledAt, field) => {
    await expect(rig.kube.apply(event('refused', { scheduledAt }))).rejects.toThrow(field);
  });

  test('a time that is not in the calendar is rejected with its field', async () => {
    await rig.kube.apply(event('february', { scheduledAt: '2999-02-30T00:00:00Z' }));
    const { message } = await rig.ready('ScheduledEvent', 'february', 'RejectedByEngine');
    expect(message).toContain('spec.scheduledAt');
  });
});

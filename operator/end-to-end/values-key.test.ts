/** Tests the operator with an engine that has no key for named values: what refers to a Secret says so, the rest is applied, and the resource
 *  becomes Ready once the engine has a key. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { engineClient } from '../engine/client.ts';
import type { CrStatus, CustomResource } from '../kinds.ts';
import { reconcile } from '../pass/reconcile.ts';
import { OPTIONS, resource, snapshotOf, table } from '../testing/resources.ts';

const SECRET = 'planted5ecret';
const trigger = (name: string, webhook: object) =>
  resource('CronTrigger', name, { name, schedule: '0 0 1 1 *', webhook });
const secret = trigger('hidden', { secretKeyRef: { name: 'hook', key: 'url' } });
const plain = trigger('plain', { value: 'http://127.0.0.1:9/' });
const book = table('book');

const database = testDatabase();
let engine: TestEngine | undefined;
const statuses = new Map<string, CrStatus>();

beforeAll(async () => {
  await database.sql('create table book (id int primary key)');
});
afterAll(() => engine?.close());

async function start(valuesKey: string | undefined): Promise<void> {
  await engine?.close();
  engine = await startTestEngine({ databaseUrl: database.url, valuesKey });
}

/** Runs a pass and returns the Ready conditions. */
async function pass(...resources: readonly CustomResource[]): Promise<readonly string[]> {
  const { url, adminSecret } = engine!;
  const references = {
    secret: (_: string, name: string, key: string) =>
      name === 'hook' && key === 'url' ? `http://127.0.0.1:9/${SECRET}` : undefined,
    configMap: () => undefined,
  };
  const report = await reconcile(
    {
      engine: engineClient({ url, adminSecret }),
      source: { snapshot: async () => snapshotOf(resources, { references }) },
      sink: {
        publish: async (changes) => {
          for (const { cr, status } of changes) statuses.set(cr.metadata.uid, status);
          return 0;
        },
      },
      clock: { now: () => new Date(), sleep: async () => {}, random: () => 0 },
    },
    OPTIONS,
  );
  expect(report.problem).toBeUndefined();
  return resources.map((cr) => {
    const ready = statuses.get(cr.metadata.uid)!.conditions.find(({ type }) => type === 'Ready')!;
    return `${ready.status} ${ready.reason}: ${ready.message}`;
  });
}

test('a Secret cannot be sent: its resource names the option, and all others are applied', async () => {
  await start(undefined);
  const [hidden, ...others] = await pass(secret, plain, book);
  expect(others).toEqual(['True Applied: 1 object applied.', 'True Applied: 1 object applied.']);
  expect(hidden).toMatch(/^False \w+: Cron trigger hidden.*: /);
  expect(hidden).toContain('is not set, and the engine has no key for named values (--values-key).');
  expect(hidden).not.toContain(SECRET);
});

test('with a key the next pass sends the value, and without it again the value is named as unreadable', async () => {
  await start('the-key-of-the-named-values-0123456789');
  expect(await pass(secret, plain, book)).toEqual(Array(3).fill('True Applied: 1 object applied.'));
  await start(undefined);
  const [hidden, ...others] = await pass(secret, plain, book);
  expect(others).toEqual(['True Applied: 1 object applied.', 'True Applied: 1 object applied.']);
  expect(hidden).toMatch(/is encrypted under key \w+, which --values-key does not have/);
  await start('the-key-of-the-named-values-0123456789');
  expect(await pass(secret, plain, book)).toEqual(Array(3).fill('True Applied: 1 object applied.'));
  await pass(plain, book);
  const { body } = await engine!.admin<{ values: unknown[] }>('list_values', {});
  expect(body.values).toEqual([]);
});

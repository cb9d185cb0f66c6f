import { expect, test } from 'vitest';
import { outboundVariables } from '../webhook/outbound.ts';
import { type DeliveryLane, DeliverySlots, hostOf, slotLimits } from './delivery-slots.ts';

const variables = (env: Record<string, string>) => outboundVariables(env, () => ({ sources: [] }));

const lane = (trigger: string, host = `${trigger}.example`): DeliveryLane => ({ trigger, host });
const fill = (shares: DeliverySlots, ...lanes: readonly DeliveryLane[]) => {
  for (const each of lanes) while (shares.begin(each));
};

test('a trigger has a quarter of the total and a host a half, unless the options say otherwise', () => {
  expect(slotLimits(100, 0, 0)).toEqual({ total: 100, perTrigger: 25, perHost: 50 });
  expect(slotLimits(1, 0, 0)).toEqual({ total: 1, perTrigger: 1, perHost: 1 });
  expect(slotLimits(10, 8, 20)).toEqual({ total: 10, perTrigger: 8, perHost: 10 });
});

test('a hanging trigger fills only its own slots', () => {
  const shares = new DeliverySlots(slotLimits(100, 0, 0));
  fill(shares, lane('slow'));
  expect(shares.running).toBe(25);
  expect(shares.fullTriggers).toBe(1);
  expect(shares.freeFor(lane('fast'))).toBe(25);
  shares.end(lane('slow'));
  expect(shares.freeFor(lane('slow'))).toBe(1);
});

test('triggers of one host share the limit of the host', () => {
  const shares = new DeliverySlots(slotLimits(100, 0, 0));
  fill(shares, lane('a', 'slow'), lane('b', 'slow'), lane('c', 'slow'));
  expect(shares.running).toBe(50);
  expect(shares.freeFor(lane('d', 'slow'))).toBe(0);
  expect(shares.freeFor(lane('d'))).toBe(25);
});

test('the last quarter is reserved for hosts without a delivery in progress, one each', () => {
  const shares = new DeliverySlots(slotLimits(100, 0, 0));
  fill(shares, lane('a'), lane('b'), lane('c'), lane('d'));
  expect(shares.running).toBe(76);
  expect(shares.freeFor(lane('a'))).toBe(0);
  expect(shares.freeFor(lane('fast'))).toBe(1);
  for (let i = 0; i < 50; i++) shares.begin(lane(`more ${i}`));
  expect(shares.running).toBe(100);
  expect(shares.freeFor(lane('late'))).toBe(0);
});

test('with a total of one every trigger is served', () => {
  const shares = new DeliverySlots(slotLimits(1, 0, 0));
  expect(shares.begin(lane('a'))).toBe(true);
  expect(shares.begin(lane('b'))).toBe(false);
  shares.end(lane('a'));
  expect(shares.begin(lane('b'))).toBe(true);
});

test('the host is that of the URL with its variables resolved', () => {
  expect(hostOf('{{HOOK}}/path', variables({ HOOK: 'http://hooks.example:8080/base' }))).toBe(
    'hooks.example:8080',
  );
  expect(hostOf('{{MISSING}}', variables({}))).toBe('{{MISSING}}');
  expect(hostOf('nowhere', variables({}))).toBe('nowhere');
});

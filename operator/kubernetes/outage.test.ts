import { describe, expect, test } from 'vitest';
import type { Reason } from '../kinds.ts';
import { progressConditions } from '../status/conditions.ts';
import { table } from '../testing/resources.ts';
import { Outage } from './outage.ts';

const context = { now: new Date(0), progressDeadlineSeconds: 300 };

function statusOf(reason: Reason, message = 'm') {
  const conditions = progressConditions(table('t'), { reason, message }, context).map((draft) => ({
    ...draft,
    observedGeneration: 1,
    lastTransitionTime: '',
  }));
  return { observedGeneration: 1, target: '', conditions };
}

/** Returns status changes to the reason for resources that were Ready or had no status. */
const changes = (count: number, reason: Reason, isJudged = true) =>
  Array.from({ length: count }, (_, i) => ({
    cr: { ...table(`t${i}`), ...(isJudged ? { status: statusOf('Applied') } : {}) },
    status: statusOf(reason),
  }));
const outage = () => new Outage({ graceMs: 60_000, writesPerSecond: 20 }, 0);

describe.each(['EngineUnreachable', 'EngineRejectedCredentials'] as const)('the reason %s', (reason) => {
  test('is not written to Ready resources during the grace period', () => {
    const it = outage();
    for (const at of [0, 1000, 30_000, 59_999]) expect(it.due(changes(5000, reason), at)).toEqual([]);
  });

  test('is written at a limited rate after the grace period', () => {
    const it = outage();
    let left = changes(5000, reason);
    let most = 0;
    let at = 60_000;
    for (; left.length > 0 && at < 3_600_000; at += 5000) {
      const due = new Set(it.due(left, at));
      most = Math.max(most, due.size);
      left = left.filter((change) => !due.has(change));
    }
    expect(left).toEqual([]);
    expect(most).toBeLessThanOrEqual(5 * 20);
    expect(at - 60_000).toBeGreaterThanOrEqual((5000 / 20) * 1000);
  });

  test('accumulates at most half a minute of writes', () => {
    expect(outage().due(changes(5000, reason), 3_600_000)).toHaveLength(30 * 20);
  });

  test('is written at once to resources without a status, up to 100', () => {
    expect(outage().due(changes(100, reason, false), 0)).toHaveLength(100);
    expect(outage().due(changes(101, reason, false), 0)).toEqual([]);
  });
});

test('statuses with other reasons are never delayed', () => {
  const others = changes(5000, 'RejectedByEngine');
  expect(outage().due([...others, ...changes(5000, 'EngineUnreachable')], 0)).toEqual(others);
});

test('a new message with the same reason is not written', () => {
  const told = changes(3, 'EngineUnreachable').map(({ cr }) => ({
    cr: { ...cr, status: statusOf('EngineUnreachable', 'connection refused') },
    status: statusOf('EngineUnreachable', 'no answer'),
  }));
  expect(outage().due(told, 120_000)).toEqual([]);
});

test('with a rate of zero, nothing is written', () => {
  const it = new Outage({ graceMs: 0, writesPerSecond: 0 }, 0);
  for (const at of [0, 1000, 3_600_000]) expect(it.due(changes(5, 'EngineUnreachable'), at)).toEqual([]);
});

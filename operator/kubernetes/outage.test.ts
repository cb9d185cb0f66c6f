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
const outage = () => new Outage({ graceMs: 60_000, writesPerSecond: 20 });

const REASONS = [
  'EngineUnreachable',
  'EngineRejectedCredentials',
  'SourceUnavailable',
  'RemoteUnavailable',
] as const;

describe.each(REASONS)('the reason %s', (reason) => {
  test('is not written to Ready resources during the grace period', () => {
    const it = outage();
    for (const at of [0, 1000, 30_000, 59_999])
      expect(it.due(changes(5000, reason), at)).toEqual({ due: [], held: 5000 });
  });

  test('is written at a limited rate after the grace period', () => {
    const it = outage();
    let left = changes(5000, reason);
    let most = 0;
    let at = 60_000;
    it.due(left, 0);
    for (; left.length > 0 && at < 3_600_000; at += 5000) {
      const due = new Set(it.due(left, at).due);
      most = Math.max(most, due.size);
      left = left.filter((change) => !due.has(change));
    }
    expect(left).toEqual([]);
    expect(most).toBeLessThanOrEqual(5 * 20);
    expect(at - 60_000).toBeGreaterThanOrEqual((5000 / 20) * 1000);
  });

  test('accumulates at most half a minute of writes', () => {
    const it = outage();
    it.due(changes(5000, reason), 0);
    expect(it.due(changes(5000, reason), 3_600_000).due).toHaveLength(30 * 20);
  });

  test('is written at once to resources without a status, up to 100', () => {
    expect(outage().due(changes(100, reason, false), 0).due).toHaveLength(100);
    expect(outage().due(changes(101, reason, false), 0).due).toEqual([]);
  });
});

test('statuses with other reasons are never delayed', () => {
  const others = changes(5000, 'RejectedByEngine');
  expect(outage().due([...others, ...changes(5000, 'EngineUnreachable')], 0).due).toEqual(others);
});

test('a new message with the same reason is not written', () => {
  const told = changes(3, 'EngineUnreachable').map(({ cr }) => ({
    cr: { ...cr, status: statusOf('EngineUnreachable', 'connection refused') },
    status: statusOf('EngineUnreachable', 'no answer'),
  }));
  expect(outage().due(told, 120_000)).toEqual({ due: [], held: 0 });
});

test('with a rate of zero, nothing is written', () => {
  const it = new Outage({ graceMs: 0, writesPerSecond: 0 });
  for (const at of [0, 1000, 3_600_000])
    expect(it.due(changes(5, 'EngineUnreachable'), at)).toEqual({ due: [], held: 5 });
});

test('a few resources that wait for a database report it at once, and the Source always does', () => {
  const it = outage();
  expect(it.due(changes(100, 'SourceUnavailable'), 0)).toMatchObject({ due: { length: 100 }, held: 0 });
  const [source] = changes(1, 'SourceUnavailable');
  const all = [{ ...source!, cr: { ...source!.cr, kind: 'Source' } }, ...changes(600, 'SourceUnavailable')];
  expect(outage().due(all, 0)).toEqual({ due: [all[0]], held: 600 });
});

test('a database that bounces twice has a grace period each time', () => {
  const it = outage();
  it.due(changes(600, 'SourceUnavailable'), 0);
  expect(it.due([], 10_000)).toEqual({ due: [], held: 0 });
  expect(it.due(changes(600, 'SourceUnavailable'), 70_000)).toEqual({ due: [], held: 600 });
  expect(it.due(changes(600, 'SourceUnavailable'), 140_000).due).toHaveLength(10 * 20);
});

test('a resource that waits for longer has no second grace period before it is Stalled', () => {
  const it = outage();
  const waiting = changes(600, 'SourceUnavailable').map(({ cr, status }) => ({
    cr: { ...cr, status },
    status: { ...status, conditions: [...status.conditions.slice(0, 1)] },
  }));
  it.due(changes(1, 'SourceUnavailable'), 0);
  it.due(waiting, 60_000);
  expect(it.due(waiting, 61_000).due.length).toBeGreaterThan(0);
});

describe('after an outage', () => {
  const recovered = (count: number, reason: Reason, generation = 1) =>
    Array.from({ length: count }, (_, i) => {
      const { metadata, ...rest } = table(`t${i}`);
      const cr = { ...rest, metadata: { ...metadata, generation }, status: statusOf(reason) };
      return { cr, status: { ...statusOf('Applied'), observedGeneration: generation } };
    });

  test.each(REASONS)('resources that reported %s become Ready at a limited rate', (reason) => {
    const it = outage();
    let left = recovered(5000, reason);
    const counts: number[] = [];
    for (let at = 0; left.length > 0 && at < 3_600_000; at += 5000) {
      const { due, held } = it.due(left, at);
      expect(held).toBe(left.length - due.length);
      left = left.filter((change) => !due.includes(change));
      counts.push(due.length);
    }
    expect(left).toEqual([]);
    // At first what accumulated in half a minute, then 20 a second.
    expect([counts[0], Math.max(...counts.slice(1))]).toEqual([30 * 20, 5 * 20]);
  });

  test('a resource that was edited meanwhile is Ready at once', () => {
    const it = outage();
    it.due(recovered(5000, 'EngineUnreachable'), 0);
    const edited = recovered(1000, 'EngineUnreachable', 2);
    expect(it.due([...recovered(5000, 'EngineUnreachable'), ...edited], 0)).toEqual({
      due: edited,
      held: 5000,
    });
  });

  test('another problem of a resource is reported at once', () => {
    const it = outage();
    it.due(recovered(5000, 'SourceUnavailable'), 0);
    const refused = recovered(1000, 'SourceUnavailable').map(({ cr }) => ({
      cr,
      status: statusOf('RejectedByEngine'),
    }));
    expect(it.due(refused, 0)).toEqual({ due: refused, held: 0 });
  });

  test('recoveries neither use nor delay the writes of the next outage', () => {
    const it = outage();
    it.due(recovered(5000, 'EngineUnreachable'), 0);
    it.due(changes(5000, 'EngineUnreachable'), 10_000);
    expect(it.due(changes(5000, 'EngineUnreachable'), 75_000).due).toHaveLength(5 * 20);
  });

  test('with a rate of zero, resources that report an outage become Ready at once', () => {
    const it = new Outage({ graceMs: 0, writesPerSecond: 0 });
    expect(it.due(recovered(5000, 'EngineUnreachable'), 0)).toMatchObject({ due: { length: 5000 }, held: 0 });
  });
});

/** Tests the last hour: what a minute counts, which minutes are kept, and the quantiles of Prometheus. */
import { expect, test } from 'vitest';
import { LastHour } from './last-hour.ts';
import { measure, measureSource } from './measure.ts';
import type { OperationFinished } from './observation.ts';
import { Registry } from './registry.ts';

const MINUTE = 60_000;

const finished = (durationMs: number, code: string | null = null): OperationFinished => ({
  kind: 'operation finished',
  requestId: '1',
  transport: 'http',
  type: 'query',
  durationMs,
  error: code === null ? null : { name: 'unexpected', code },
  request: null,
  plan: null,
  usage: null,
});

async function world() {
  const registry = await Registry.open();
  const clock = { now: Date.parse('2026-01-01T00:00:00Z') };
  const hour = new LastHour(
    (name) => registry.values(name),
    () => clock.now,
  );
  const passes = async (ms: number) => {
    clock.now += ms;
    await hour.sample();
  };
  return { registry, hour, clock, passes };
}

test('a minute counts what happened in it, by type, code and source', async () => {
  const { registry, hour, passes } = await world();
  measure(registry, finished(3));
  await passes(MINUTE);
  for (const code of [null, null, 'timeout']) measure(registry, finished(30, code));
  measureSource(registry, 'default', 'statement', 4);
  measureSource(registry, 'default', 'statement', 8);
  await passes(MINUTE);
  const { minutes } = await hour.report();
  expect(minutes.map(({ requests, failed, errors }) => [requests, failed, errors])).toEqual([
    [{ query: 1 }, 0, {}],
    [{ query: 3 }, 1, { timeout: 1 }],
    [{}, 0, {}],
  ]);
  expect(minutes[1]).toMatchObject({
    at: '2026-01-01T00:02:00.000Z',
    seconds: 60,
    sources: { default: { statements: 2, statement_ms: 6, waits: 0, wait_ms: null } },
  });
});

test('quantiles lie within their bucket, beside empty ones, and are at most the last limit', async () => {
  const { registry, hour, passes } = await world();
  for (let i = 0; i < 100; i++) measure(registry, finished(30));
  await passes(MINUTE);
  measure(registry, finished(60_000));
  await passes(MINUTE);
  const { minutes, latency } = await hour.report();
  expect(minutes[0]!.latency).toEqual({ p50_ms: 37.5, p95_ms: 48.75, p99_ms: 49.75 });
  expect(minutes[1]!.latency).toEqual({ p50_ms: 10_000, p95_ms: 10_000, p99_ms: 10_000 });
  expect(minutes[2]!.latency).toBeNull();
  expect(latency!.p50_ms).toBeCloseTo(37.63, 2);
});

test('gauges show their largest value between two readings', async () => {
  const { registry, hour, passes } = await world();
  let active = 0;
  registry.read('pergola_postgres_connections', () => [
    { labels: { source: 'default', state: 'active' }, value: active },
  ]);
  registry.read('pergola_postgres_connections_limit', () => [{ labels: { source: 'default' }, value: 50 }]);
  active = 7;
  await passes(10_000);
  active = 1;
  await passes(50_000);
  const { minutes } = await hour.report();
  expect(minutes.map(({ sources }) => sources['default'])).toMatchObject([
    { active: 7, limit: 50 },
    { active: 1 },
  ]);
});

test('an hour is kept, and a bounded number of sources and codes', async () => {
  const { registry, hour, passes } = await world();
  for (let i = 0; i < 70; i++) {
    measureSource(registry, `s${i}`, 'statement', 1);
    measure(registry, finished(1, `code-${i}`));
  }
  await passes(MINUTE);
  const [first] = (await hour.report()).minutes;
  expect(Object.keys(first!.sources)).toHaveLength(50);
  expect(Object.keys(first!.errors)).toHaveLength(21);
  expect(first!.errors['other']).toBe(50);
  for (let i = 0; i < 80; i++) await passes(MINUTE);
  expect((await hour.report()).minutes).toHaveLength(61);
});

/** Tests METRICS as prom-client prints them. */
import { expect, test } from 'vitest';
import { METRICS } from './metrics.ts';
import { Registry } from './registry.ts';

/** Returns the lines of a metric, with its help and type. */
async function linesOf(registry: Registry, name: string): Promise<readonly string[]> {
  return (await registry.text()).split('\n').filter((line) => line.replace(/^# \w+ /, '').startsWith(name));
}

test('a counter has the help and type of its row, and a line a combination of labels', async () => {
  const registry = await Registry.open();
  registry.count('pergola_graphql_errors_total', { code: 'unexpected' });
  registry.count('pergola_graphql_errors_total', { code: 'unexpected' });
  registry.count('pergola_graphql_errors_total', { code: 'data-exception' }, 3);
  expect(await linesOf(registry, 'pergola_graphql_errors_total')).toEqual([
    '# HELP pergola_graphql_errors_total Errors in answers to GraphQL operations, by code.',
    '# TYPE pergola_graphql_errors_total counter',
    'pergola_graphql_errors_total{code="unexpected"} 2',
    'pergola_graphql_errors_total{code="data-exception"} 3',
  ]);
});

test('a histogram has buckets from half a millisecond to ten seconds', async () => {
  const registry = await Registry.open();
  for (const seconds of [0.0004, 0.3, 20]) {
    registry.observe('pergola_webhook_seconds', { purpose: 'auth-hook' }, seconds);
  }
  const lines = await linesOf(registry, 'pergola_webhook_seconds');
  expect(lines).toContain('pergola_webhook_seconds_bucket{le="0.0005",purpose="auth-hook"} 1');
  expect(lines).toContain('pergola_webhook_seconds_bucket{le="10",purpose="auth-hook"} 2');
  expect(lines).toContain('pergola_webhook_seconds_count{purpose="auth-hook"} 3');
});

test('collected values are read at each scrape, and missing ones disappear', async () => {
  const registry = await Registry.open();
  let sources = ['a', 'b'];
  registry.read('pergola_source_up', () => sources.map((source) => ({ labels: { source }, value: 1 })));
  registry.read('pergola_plan_cache_requests_total', () => [{ labels: { result: 'hit' }, value: 7 }]);
  expect((await linesOf(registry, 'pergola_source_up{')).length).toBe(2);
  sources = ['b'];
  expect(await linesOf(registry, 'pergola_source_up{')).toEqual(['pergola_source_up{source="b"} 1']);
  expect((await linesOf(registry, 'pergola_plan_cache_requests_total')).slice(1)).toEqual([
    '# TYPE pergola_plan_cache_requests_total counter',
    'pergola_plan_cache_requests_total{result="hit"} 7',
  ]);
});

test('two engines in a process count separately', async () => {
  const [one, other] = [await Registry.open(), await Registry.open()];
  one.count('pergola_unexpected_errors_total', {});
  expect(await linesOf(one, 'pergola_unexpected')).toHaveLength(3);
  expect(await linesOf(other, 'pergola_unexpected')).toEqual([]);
});

test('the name of a source cannot break a line', async () => {
  const registry = await Registry.open();
  registry.read('pergola_source_up', () => [{ labels: { source: 'a"b\\c\nd' }, value: 1 }]);
  expect(await registry.text()).toContain('pergola_source_up{source="a\\"b\\\\c\\nd"} 1\n');
});

test('names and labels are valid for Prometheus', () => {
  for (const [name, { type, labels }] of Object.entries(METRICS)) {
    expect(name).toMatch(/^pergola_[a-z_]+$/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    for (const label of labels) expect(label).toMatch(/^[a-z_]+$/);
  }
});

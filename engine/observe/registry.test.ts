/** The text Prometheus reads. */
import { expect, test } from 'vitest';
import { Histogram } from './histogram.ts';
import { METRICS } from './metrics.ts';
import { Registry } from './registry.ts';

test('a counter is a line a combination of labels, under its help and type', () => {
  const registry = new Registry();
  registry.count('pergola_graphql_errors_total', ['unexpected']);
  registry.count('pergola_graphql_errors_total', ['unexpected']);
  registry.count('pergola_graphql_errors_total', ['data-exception'], 3);
  expect(registry.text()).toBe(
    [
      '# HELP pergola_graphql_errors_total Errors in answers to GraphQL operations, by their code.',
      '# TYPE pergola_graphql_errors_total counter',
      'pergola_graphql_errors_total{code="unexpected"} 2',
      'pergola_graphql_errors_total{code="data-exception"} 3',
      '',
    ].join('\n'),
  );
});

test('a histogram has cumulative buckets, sum and count', () => {
  const histogram = new Histogram([1, 10]);
  for (const value of [0.5, 1, 2, 100]) histogram.observe(value);
  const registry = new Registry();
  registry.collect(() => [{ name: 'pergola_webhook_seconds', labels: ['auth-hook'], value: histogram }]);
  expect(registry.text().split('\n').slice(2, -1)).toEqual([
    'pergola_webhook_seconds_bucket{purpose="auth-hook",le="1"} 2',
    'pergola_webhook_seconds_bucket{purpose="auth-hook",le="10"} 3',
    'pergola_webhook_seconds_bucket{purpose="auth-hook",le="+Inf"} 4',
    'pergola_webhook_seconds_sum{purpose="auth-hook"} 103.5',
    'pergola_webhook_seconds_count{purpose="auth-hook"} 4',
  ]);
});

test('metrics come in the order of the table, whoever told them, each under one head', () => {
  const registry = new Registry();
  registry.collect(() => [{ name: 'pergola_plan_cache_plans', labels: [], value: 7 }]);
  registry.count('pergola_plan_cache_requests_total', ['hit']);
  registry.collect(() => [{ name: 'pergola_plan_cache_requests_total', labels: ['miss'], value: 2 }]);
  const heads = registry.text().match(/^# TYPE \S+/gm);
  expect(heads).toEqual(['# TYPE pergola_plan_cache_requests_total', '# TYPE pergola_plan_cache_plans']);
  expect(registry.text()).toContain('pergola_plan_cache_plans 7\n');
});

test('what an administrator called a source cannot break a line', () => {
  const registry = new Registry();
  registry.collect(() => [{ name: 'pergola_source_up', labels: ['a"b\\c\nd'], value: 1 }]);
  expect(registry.text()).toContain('pergola_source_up{source="a\\"b\\\\c\\nd"} 1\n');
});

test('names and labels are such as Prometheus takes', () => {
  for (const [name, { type, labels }] of Object.entries(METRICS)) {
    expect(name).toMatch(/^(pergola|process|nodejs)_[a-z_]+$/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    for (const label of labels) expect(label).toMatch(/^[a-z_]+$/);
  }
});

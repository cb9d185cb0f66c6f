/** Checks that alerts and the dashboard query only metrics that exist, by labels that they have. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { load } from 'js-yaml';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { METRICS as ENGINE } from '../../engine/observe/metrics.ts';
import { METRICS as OPERATOR } from '../../operator/kubernetes/metrics.ts';
import { PANELS } from './dashboard.ts';

type Rule = { alert: string; expr: string; annotations: { summary: string } };

const RULES = join(dirname(dirname(import.meta.dirname)), 'charts/pergola/files/rules.yaml');
const { groups } = load(readFileSync(RULES, 'utf8')) as { groups: { name: string; rules: Rule[] }[] };
const QUERIES = [
  ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
  ...PANELS.flatMap(({ title, queries }) => Object.values(queries).map((expr) => [title, expr] as const)),
];

/** The labels that Prometheus adds to the series of a pod. */
const OF_TARGETS = ['namespace', 'pod', 'service', 'job', 'instance', 'le'];

const labelsOf = knownMetrics();

test.each(QUERIES)('%s: %s', (_, expr) => {
  const metrics = expr.match(/\b(?:pergola|nodejs|process)_\w+/g) ?? [];
  expect(metrics.length).toBeGreaterThan(0);
  for (const metric of metrics) expect([...labelsOf.keys()], metric).toContain(metric);
  const labels = metrics.flatMap((metric) => labelsOf.get(metric) ?? []);
  for (const label of labelsIn(expr)) expect([...OF_TARGETS, ...labels], label).toContain(label);
});

test('an unknown metric or label is found', () => {
  expect(labelsOf.has('pergola_graphql_execution_time_seconds_bucket')).toBe(true);
  expect(labelsOf.has('pergola_graphql_execution_time_seconds')).toBe(false);
  expect(labelsIn('sum by (le, a) (x{b="c",d=~"e"})')).toEqual(['le', 'a', 'b', 'd']);
});

test('the summary of an alert uses only labels of its result', () => {
  for (const { expr, annotations } of groups.flatMap(({ rules }) => rules)) {
    const told = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!);
    for (const label of told) expect(labelsIn(expr), `${label} in ${expr}`).toContain(label);
  }
});

test('the names of alerts are unique', () => {
  const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  expect(new Set(names).size).toBe(names.length);
});

/** Returns the labels of each series by its name; a histogram has three series. */
function knownMetrics(): ReadonlyMap<string, readonly string[]> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const ours = Object.entries({ ...ENGINE, ...OPERATOR }).flatMap(([name, { type, labels }]) => {
    const series = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name];
    return series.map((one): [string, readonly string[]] => [one, labels]);
  });
  const defaults = registry.getMetricsAsArray().map(({ name }): [string, readonly string[]] => [name, []]);
  return new Map([...defaults, ...ours]);
}

function labelsIn(expr: string): readonly string[] {
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(','));
  const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list]) =>
    [...list!.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
  );
  return [...grouped.map((label) => label.trim()), ...matched];
}

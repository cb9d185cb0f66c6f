/** docs/reference/metrics.md: what GET /v1/metrics shows, from METRICS. */
import { METRICS, type MetricRow } from '../../engine/observe/metrics.ts';
import { code, page, table } from './markdown.ts';

export function metricsPage(): string {
  return page(
    'Metrics',
    'Generated from `engine/observe/metrics.ts` by `make generate`. How to have them: [operating](../guides/operating.md).',
    'Labels have values of a bounded set: what a client sends never makes a new series. Two sources with the same connection ' +
      'and settings share their connections, and show the same numbers. What Node.js and the process say of themselves ' +
      '(`process_…`, `nodejs_…`) are the default metrics of prom-client.',
    table(
      ['Metric', 'Type', 'Labels', 'Meaning'],
      Object.entries<MetricRow>(METRICS).map(([name, { type, labels, doc }]) => [
        code(name),
        type,
        labels.map(code).join(', '),
        doc,
      ]),
    ),
  );
}

/** The Grafana dashboard: PANELS, two to a row, and the JSON that is generated from them.
 *  Every metric and label in a query is in METRICS; metrics.test.ts checks this. Not here: alerts (charts/pergola/files). */

type Panel = {
  readonly title: string;
  /** The unit in Grafana's terms: reqps, s, short and so on. */
  readonly unit: string;
  /** PromQL by legend. `$namespace` is the dashboard's variable. */
  readonly queries: Readonly<Record<string, string>>;
};

const IN_NAMESPACE = '{namespace=~"$namespace"}';
const rate = (metric: string, by: string) =>
  `sum by (${by}) (rate(${metric}${IN_NAMESPACE}[$__rate_interval]))`;
const sum = (metric: string, by: string) => `sum by (${by}) (${metric}${IN_NAMESPACE})`;
const max = (metric: string, by: string) => `max by (${by}) (${metric}${IN_NAMESPACE})`;
const quantile = (share: number, metric: string, by: string) =>
  `histogram_quantile(${share}, ${rate(`${metric}_bucket`, `le, ${by}`)})`;

export const PANELS: readonly Panel[] = [
  {
    title: 'GraphQL operations',
    unit: 'reqps',
    queries: {
      '{{operation_type}} {{response_status}}': rate(
        'pergola_graphql_requests_total',
        'operation_type, response_status',
      ),
    },
  },
  {
    title: 'Response time of GraphQL operations',
    unit: 's',
    queries: {
      'p50 {{operation_type}}': quantile(0.5, 'pergola_graphql_execution_time_seconds', 'operation_type'),
      'p99 {{operation_type}}': quantile(0.99, 'pergola_graphql_execution_time_seconds', 'operation_type'),
    },
  },
  {
    title: 'Errors by code',
    unit: 'reqps',
    queries: { '{{code}}': rate('pergola_graphql_errors_total', 'code') },
  },
  {
    title: 'Requests refused by limits and allow lists',
    unit: 'reqps',
    queries: {
      'limit: {{limit}}': rate('pergola_limits_exceeded_total', 'limit'),
      '{{reason}}': rate('pergola_refused_queries_total', 'reason'),
    },
  },
  {
    title: 'HTTP requests in flight, WebSockets, subscriptions',
    unit: 'short',
    queries: {
      'in flight {{pod}}': sum('pergola_http_requests_in_flight', 'pod'),
      'websockets {{pod}}': sum('pergola_websocket_connections', 'pod'),
      'subscriptions {{pod}}': sum('pergola_active_subscriptions', 'pod'),
    },
  },
  {
    title: 'Duration of SQL statements',
    unit: 's',
    queries: { 'p99 {{source}}': quantile(0.99, 'pergola_postgres_statement_seconds', 'source') },
  },
  {
    title: 'Connections to Postgres',
    unit: 'short',
    queries: {
      '{{source}} {{state}}': sum('pergola_postgres_connections', 'source, state'),
      '{{source}} waiting': sum('pergola_postgres_waiting', 'source'),
    },
  },
  {
    title: 'Sources that respond, inconsistent objects',
    unit: 'short',
    queries: {
      'up {{source}}': `min by (source) (pergola_source_up${IN_NAMESPACE})`,
      'inconsistent {{pod}}': max('pergola_metadata_inconsistent_objects', 'pod'),
    },
  },
  {
    title: 'Event loop lag',
    unit: 's',
    queries: { 'p99 {{pod}}': max('nodejs_eventloop_lag_p99_seconds', 'pod') },
  },
  {
    title: 'Memory',
    unit: 'bytes',
    queries: { '{{pod}}': max('process_resident_memory_bytes', 'pod') },
  },
  {
    title: 'Operator: passes',
    unit: 'reqps',
    queries: { '{{engine}} {{result}}': rate('pergola_pass_total', 'engine, result') },
  },
  {
    title: 'Operator: objects and resources',
    unit: 'short',
    queries: {
      '{{engine}} {{state}}': max('pergola_objects', 'engine, state'),
      '{{engine}} {{reason}}': max('pergola_resources', 'engine, reason'),
    },
  },
];

const WIDTH = 12;
const HEIGHT = 8;

/** Returns the JSON that Grafana imports. */
export function dashboard(): string {
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  const json = {
    uid: 'pergola',
    title: 'Pergola',
    tags: ['pergola'],
    schemaVersion: 39,
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        {
          name: 'namespace',
          type: 'query',
          datasource,
          query: 'label_values(pergola_metadata_resource_version, namespace)',
          includeAll: true,
          multi: true,
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels: PANELS.map(({ title, unit, queries }, index) => ({
      id: index + 1,
      title,
      type: 'timeseries',
      datasource,
      gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: Object.entries(queries).map(([legendFormat, expr], target) => ({
        refId: String.fromCharCode('A'.charCodeAt(0) + target),
        expr,
        legendFormat,
      })),
    })),
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** Tests what `set_opentelemetry_config` exports: a data type is exported if it is listed, has an endpoint, and the status is
 *  `enabled`. Reference: docs/reference/behaviour/observability.md. */
import { mkdtempSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { openLog } from '../observe/sinks.ts';
import { startCollector } from '../observe/testing/otlp.ts';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({ sql: 'select 1', tables: [] });
});
afterAll(() => world?.close());

const TYPES = ['traces', 'metrics', 'logs'] as const;
type DataType = (typeof TYPES)[number];
const SUBSETS: readonly (readonly DataType[])[] = [[], ['traces'], ['metrics'], ['logs'], TYPES];

/** Configures an engine of its own, runs an operation, stops the engine, and returns what the collector received. */
async function exportedBy(
  configuration: ((base: string) => object) | null,
  apis: string[] = ['metrics'],
  optionsOf: (base: string) => object = () => ({}),
) {
  const collector = await startCollector();
  const log = openLog(
    { logLevel: 'info', enabledLogTypes: ['http-log'] },
    openSync(join(mkdtempSync(join(tmpdir(), 'pergola-log-')), 'log'), 'w'),
  );
  const lines: string[] = [];
  const base = collector.url.replace('/v1/traces', '');
  const observe: typeof log.observe = (observation) => {
    lines.push(JSON.stringify(observation));
    log.observe(observation);
  };
  const engine = await startTestEngine({
    databaseUrl: world.database.url,
    enabledApis: ['graphql', 'metadata', ...apis] as never,
    log: { ...log, observe },
    ...optionsOf(base),
  });
  if (configuration) {
    const args = configuration(base);
    await engine.must('set_opentelemetry_config', args);
  }
  await engine.graphql('{ __typename }');
  await engine.close();
  log.flush();
  const known = await vi.waitFor(() => {
    const { spans, logs, metrics } = collector;
    return { traces: spans.length > 0, metrics: metrics.length > 0, logs: logs.length > 0 };
  });
  collector.close();
  return { known, collector, lines };
}

const endpointsOf = (base: string, types: readonly DataType[]) =>
  Object.fromEntries(types.map((type) => [`otlp_${type}_endpoint`, `${base}/v1/${type}`]));

test.each([
  ...SUBSETS.map((listed) => [listed, TYPES, 'enabled'] as const),
  [TYPES, ['logs'], 'enabled'] as const,
  [TYPES, TYPES, 'disabled'] as const,
  [TYPES, TYPES, 'env'] as const,
])('data types %j with endpoints of %j and the status %s', async (listed, endpoints, status) => {
  const { known } = await exportedBy((base) => ({
    status,
    data_types: listed,
    exporter_otlp: { protocol: 'http/protobuf', ...endpointsOf(base, endpoints) },
  }));
  const isExported = (type: DataType) =>
    status === 'enabled' && listed.includes(type) && (endpoints as readonly DataType[]).includes(type);
  expect(known).toEqual(Object.fromEntries(TYPES.map((type) => [type, isExported(type)])));
});

/** The options with the endpoints of these data types. */
const optionsFor = (base: string, types: readonly DataType[]) => ({
  ...(types.includes('traces') && { otlpTracesEndpoint: `${base}/v1/traces` }),
  ...(types.includes('metrics') && { otlpMetricsEndpoint: `${base}/v1/metrics` }),
  ...(types.includes('logs') && { otlpLogsEndpoint: `${base}/v1/logs` }),
  otlpHeaders: { 'x-key': 'k' },
});

test.each(
  SUBSETS.flatMap((types) => (['env', 'disabled', null] as const).map((status) => [types, status] as const)),
)('options with endpoints of %j, and the status %s in the metadata', async (types, status) => {
  const before = await world.engine.admin('set_opentelemetry_config', { status: 'env' });
  expect(before.status).toBe(200);
  const { known, collector } = await exportedBy(status && (() => ({ status })), ['metrics'], (base) =>
    optionsFor(base, types),
  );
  const isExported = (type: DataType) => status !== 'disabled' && types.includes(type);
  expect(known).toEqual(Object.fromEntries(TYPES.map((type) => [type, isExported(type)])));
  for (const headers of collector.headers) expect(headers['x-key']).toBe('k');
});

test('the status enabled in the metadata replaces the endpoints of options', async () => {
  const { known } = await exportedBy(
    (base) => ({ status: 'enabled', data_types: ['logs'], exporter_otlp: endpointsOf(base, ['logs']) }),
    ['metrics'],
    (base) => optionsFor(base, ['traces', 'metrics']),
  );
  expect(known).toEqual({ traces: false, metrics: false, logs: true });
});

test('resource attributes and headers go with every data type', async () => {
  const { collector } = await exportedBy((base) => ({
    status: 'enabled',
    data_types: TYPES,
    exporter_otlp: {
      ...endpointsOf(base, TYPES),
      headers: [{ name: 'x-key', value: 'k' }],
      resource_attributes: [{ name: 'deployment', value: 'eu' }],
    },
  }));
  expect(collector.headers.length).toBeGreaterThan(2);
  for (const headers of collector.headers) expect(headers['x-key']).toBe('k');
  const resource = { 'service.name': 'pergola', deployment: 'eu' };
  expect(collector.spans[0]?.resource).toMatchObject(resource);
  expect(collector.logs[0]?.resource).toMatchObject(resource);
  const requests = collector.logs.filter(({ type }) => type === 'http-log').map(({ body }) => body);
  expect(requests).toContainEqual(
    expect.objectContaining({ http_info: expect.objectContaining({ url: '/v1/graphql', method: 'POST' }) }),
  );
  const counted = collector.metrics.find(({ name }) => name === 'pergola_graphql_requests_total');
  expect(counted?.points[0]).toMatchObject({ value: 1 });
});

test('without the API metrics, nothing is counted, and a line says so', async () => {
  const { known, lines } = await exportedBy(
    (base) => ({ status: 'enabled', data_types: ['metrics'], exporter_otlp: endpointsOf(base, ['metrics']) }),
    [],
  );
  expect(known.metrics).toBe(false);
  expect(lines.join('\n')).toContain('start it with the API metrics');
});

test.each([
  ['$.args.status', { status: 'on' }],
  ['$.args.data_types[0]', { data_types: ['profiles'] }],
  ['$.args.exporter_otlp.protocol', { exporter_otlp: { protocol: 'grpc' } }],
  ['$.args.exporter_otlp.traces_propagators[0]', { exporter_otlp: { traces_propagators: ['jaeger'] } }],
  ['$.args.exporter_otlp.headers[0]', { exporter_otlp: { headers: [{}] } }],
  ['$.args.exporter_otlp.otlp_logs_endpoint', { exporter_otlp: { otlp_logs_endpoint: 1 } }],
  [
    '$.args.batch_span_processor.max_export_batch_size',
    { batch_span_processor: { max_export_batch_size: 0 } },
  ],
])('%s: %j does not parse', async (path, args) => {
  const outcome = await adminOutcome(world.engine, 'set_opentelemetry_config', args);
  expect(outcome).toMatchObject({ code: 'parse-failed', path });
});

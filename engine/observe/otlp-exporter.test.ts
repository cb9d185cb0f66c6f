/** Tests that lines of the log and metrics reach a collector, that what it refuses is reported, and that the queue is bounded. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { Observation } from './observation.ts';
import { encodeMetrics, type LogRecord } from './otlp-encode.ts';
import { LogExporter, MetricsExporter } from './otlp-exporter.ts';
import { Registry } from './registry.ts';
import { decodeMetrics, startCollector } from './testing/otlp.ts';

const LINE: LogRecord = { at: 1_700_000_000_000, level: 'warn', type: 'http-log', body: '{"é":1}' };

test.for(['debug', 'info', 'warn', 'error'] as const)(
  'a line of level %s keeps its content',
  async (level) => {
    const collector = await startCollector();
    const endpoint = collector.url.replace('traces', 'logs');
    const exporter = new LogExporter(
      { endpoint, headers: { 'x-key': 'k' }, resource: { 'service.name': 'p' } },
      () => {},
    );
    exporter.add({ ...LINE, level });
    await exporter.close();
    collector.close();
    expect(collector.logs).toEqual([
      {
        level,
        severity: { debug: 5, info: 9, warn: 13, error: 17 }[level],
        type: 'http-log',
        body: { é: 1 },
        at: 1_700_000_000_000_000_000n,
        resource: { 'service.name': 'p' },
      },
    ]);
    expect(collector.headers[0]).toMatchObject({ 'x-key': 'k', 'content-type': 'application/x-protobuf' });
  },
);

test('counters, gauges and histograms keep their values and labels', async () => {
  const registry = await Registry.open();
  registry.count('pergola_http_requests_total', { endpoint: '/healthz', status: '2xx' }, 3);
  registry.observe('pergola_http_request_seconds', { endpoint: '/healthz' }, 0.002);
  registry.observe('pergola_http_request_seconds', { endpoint: '/healthz' }, 20);
  registry.read('pergola_metadata_resource_version', () => [{ labels: {}, value: 7 }]);
  const body = encodeMetrics({ 'service.name': 'p' }, await registry.families(), { startedAt: 1, at: 2 });
  const of = (name: string) => decodeMetrics(body).find((metric) => metric.name === name);
  expect(of('pergola_http_requests_total')).toMatchObject({
    kind: 'sum',
    isMonotonic: true,
    points: [{ labels: { endpoint: '/healthz', status: '2xx' }, value: 3 }],
  });
  expect(of('pergola_metadata_resource_version')).toMatchObject({
    kind: 'gauge',
    points: [{ labels: {}, value: 7 }],
  });
  const histogram = of('pergola_http_request_seconds')!.points[0]!;
  expect(histogram).toMatchObject({ labels: { endpoint: '/healthz' }, count: 2, sum: 20.002 });
  expect(histogram.counts).toHaveLength(histogram.bounds!.length + 1);
  expect(histogram.counts!.reduce((sum, count) => sum + count)).toBe(2);
  expect(histogram.counts!.at(-1)).toBe(1);
  expect(histogram.bounds).toEqual(histogram.bounds!.toSorted((a, b) => a - b));
  // Metrics of the process are sent, too.
  expect(of('process_cpu_seconds_total')).toMatchObject({ kind: 'sum' });
});

test.for([
  ['a collector that refuses', 'http://refuses', 'status 400'],
  ['a collector that is not there', 'http://127.0.0.1:9', 'ECONNREFUSED'],
  ['an endpoint that is no URL', 'nowhere', 'Invalid URL'],
] as const)('%s: what was sent is dropped and reported', async ([, endpoint, reason]) => {
  const server = createServer((_, response) => response.writeHead(400).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const target = { endpoint: endpoint.replace('refuses', `127.0.0.1:${port}`), headers: {}, resource: {} };
  const reported: Observation[] = [];
  const logs = new LogExporter(target, (observation) => reported.push(observation));
  logs.add(LINE);
  logs.add(LINE);
  await logs.close();
  await new MetricsExporter(
    target,
    async () => [],
    (observation) => reported.push(observation),
  ).close();
  server.close();
  const failure = expect.stringContaining(reason);
  expect(reported).toEqual([
    { kind: 'telemetry exported', signal: 'logs', count: 2, failure },
    { kind: 'telemetry exported', signal: 'metrics', count: 0, failure },
  ]);
});

test('the queue of lines is bounded, and lines that did not fit are reported', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const server = createServer(async (request, response) => {
    request.resume();
    await held;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const reported: Observation[] = [];
  const target = { endpoint: `http://127.0.0.1:${port}/`, headers: {}, resource: {} };
  const exporter = new LogExporter(target, (observation) => reported.push(observation));
  for (let i = 0; i < 10_000; i++) exporter.add({ ...LINE, body: 'x'.repeat(1000) });
  release();
  await exporter.close();
  server.close();
  const counts = reported.map((each) => (each.kind === 'telemetry exported' ? each.count : 0));
  expect(counts.reduce((sum, count) => sum + count)).toBe(10_000);
  const lost = reported.filter((each) => each.kind === 'telemetry exported' && each.failure !== null);
  expect(lost).toMatchObject([{ failure: 'the collector is slower than the log' }]);
  // One batch under way and four batches that wait.
  expect(10_000 - counts.at(-1)!).toBeLessThanOrEqual(5 * 512);
});

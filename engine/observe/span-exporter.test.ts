/** Tests which trace a span belongs to, the headers services receive, and failed batches. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { Observation } from './observation.ts';
import { type Propagator, SpanExporter, type TraceHeaders } from './span-exporter.ts';
import { startCollector } from './testing/otlp.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const NOWHERE = 'http://127.0.0.1:9/v1/traces';

function exporterTo(endpoint: string, told: Observation[] = [], propagators: readonly Propagator[] = []) {
  const options = { endpoint, headers: {}, resource: {}, propagators, batchSize: 512 };
  return new SpanExporter(options, (observation) => told.push(observation));
}

async function sentFor(headers: TraceHeaders) {
  const collector = await startCollector();
  const exporter = exporterTo(collector.url);
  exporter.begin('graphql', headers)?.end();
  await exporter.close();
  collector.close();
  return collector.spans;
}

test.for([
  [{ traceparent: `00-${TRACE}-${SPAN}-01` }, TRACE],
  [{ traceparent: `00-${TRACE}-${SPAN}-01`, b3: `${'1'.repeat(32)}-${SPAN}-1` }, TRACE],
  [{ b3: `${TRACE}-${SPAN}-1-05e3ac9a4f6e3b90` }, TRACE],
  [{ 'x-b3-traceid': TRACE, 'x-b3-spanid': SPAN, 'x-b3-sampled': '1' }, TRACE],
  [{ 'x-b3-traceid': SPAN, 'x-b3-spanid': SPAN, 'x-b3-sampled': '1' }, `${'0'.repeat(16)}${SPAN}`],
] as const)('the trace of a caller is continued: %j', async ([headers, traceId]) => {
  expect(await sentFor(headers)).toMatchObject([{ traceId, parentSpanId: SPAN, kind: 2 }]);
});

test.for([
  {},
  { traceparent: 'nonsense' },
  { traceparent: `ff-${TRACE}-${SPAN}-01` },
  { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` },
  { 'x-b3-traceid': TRACE },
] as const)('without a trace, or with an invalid one, a new one starts: %j', async (headers) => {
  const [span] = await sentFor(headers);
  expect(span).toMatchObject({ parentSpanId: '' });
  expect(span!.traceId).not.toBe(TRACE);
});

test.for([{ traceparent: `00-${TRACE}-${SPAN}-00` }, { b3: `${TRACE}-${SPAN}-0` }] as const)(
  'nothing is recorded if the caller did not sample its trace: %j',
  (headers) => {
    expect(exporterTo(NOWHERE).begin('graphql', headers)).toBeNull();
  },
);

test('services receive the configured headers only', () => {
  const toldBy = (propagators: readonly Propagator[]) =>
    Object.keys(exporterTo(NOWHERE, [], propagators).begin('graphql', {})!.headers).sort();
  expect(toldBy(['tracecontext'])).toEqual(['traceparent']);
  expect(toldBy(['b3'])).toEqual(['x-b3-sampled', 'x-b3-spanid', 'x-b3-traceid']);
  expect(toldBy([])).toEqual([]);
});

test('a batch the collector refuses is dropped and reported, with its number of spans', async () => {
  const collector = createServer((_, response) => response.writeHead(400).end());
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const told: Observation[] = [];
  const { port } = collector.address() as AddressInfo;
  const exporter = exporterTo(`http://127.0.0.1:${port}/v1/traces?key=secret`, told);
  exporter.begin('graphql', {})!.end();
  exporter.begin('graphql', {})!.end();
  await exporter.close();
  collector.close();
  expect(told).toEqual([
    { kind: 'spans exported', count: 2, failure: 'the collector did not take them: Bad Request' },
  ]);
});

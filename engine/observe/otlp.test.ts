/** Spans as bytes, and back by the wire format alone. The bytes of the first test were read by the official library, too. */
import { expect, test } from 'vitest';
import { encodeSpans } from './otlp.ts';
import type { EndedSpan } from './span.ts';
import { decodeSpans } from './testing/otlp.ts';

const SPAN: EndedSpan = {
  context: { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', isSampled: true },
  parentSpanId: '00f067aa0ba902b7',
  name: 'graphql',
  kind: 'server',
  startedAt: 1_700_000_000_000.25,
  endedAt: 1_700_000_000_001.5,
  attributes: { 'graphql.operation.type': 'query', ok: true, size: 300 },
  failure: null,
};

test('a span says what, when, within what and of whom', () => {
  expect(decodeSpans(encodeSpans([SPAN], { 'service.name': 'pergola' }))).toEqual([
    {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      parentSpanId: '00f067aa0ba902b7',
      name: 'graphql',
      kind: 2,
      startedAt: 1_700_000_000_000_250_000n,
      endedAt: 1_700_000_000_001_500_000n,
      attributes: { 'graphql.operation.type': 'query', ok: 1, size: 300 },
      failure: null,
      resource: { 'service.name': 'pergola' },
    },
  ]);
});

test('a failure is its status, and a first span has no parent', () => {
  const [span] = decodeSpans(encodeSpans([{ ...SPAN, parentSpanId: null, failure: 'unexpected' }], {}));
  expect(span).toMatchObject({ failure: 'unexpected', parentSpanId: '' });
});

test('long text is whole', () => {
  const text = 'é'.repeat(100_000);
  const [span] = decodeSpans(encodeSpans([{ ...SPAN, attributes: { text } }], {}));
  expect(span?.attributes['text']).toBe(text);
});

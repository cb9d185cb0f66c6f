/** Traces in headers. */
import { expect, test } from 'vitest';
import { contextFrom, headersOf } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const sampled = { traceId: TRACE, spanId: SPAN, isSampled: true };

test.for([
  [{ traceparent: `00-${TRACE}-${SPAN}-01` }, sampled],
  [{ traceparent: `00-${TRACE}-${SPAN}-00` }, { ...sampled, isSampled: false }],
  [{ traceparent: `cc-${TRACE}-${SPAN}-01-what-the-future-brings` }, sampled],
  [{ b3: `${TRACE}-${SPAN}-1-05e3ac9a4f6e3b90` }, sampled],
  [{ b3: `${TRACE}-${SPAN}` }, sampled],
  [{ b3: `${TRACE}-${SPAN}-0` }, { ...sampled, isSampled: false }],
  [{ 'x-b3-traceid': TRACE.toUpperCase(), 'x-b3-spanid': SPAN, 'x-b3-sampled': '1' }, sampled],
  [
    { 'x-b3-traceid': SPAN, 'x-b3-spanid': SPAN },
    { ...sampled, traceId: `${'0'.repeat(16)}${SPAN}` },
  ],
] as const)('is found: %j', ([headers, context]) => {
  expect(contextFrom(headers)).toEqual(context);
});

test.for([
  {},
  { traceparent: 'nonsense' },
  { traceparent: `ff-${TRACE}-${SPAN}-01` },
  { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` },
  { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` },
  { b3: '0' },
  { 'x-b3-traceid': TRACE },
] as const)('is not found: %j', (headers) => {
  expect(contextFrom(headers)).toBeNull();
});

test('what is written is what was read', () => {
  for (const propagator of ['tracecontext', 'b3'] as const) {
    expect(contextFrom(headersOf(sampled, [propagator]))).toEqual(sampled);
  }
  expect(headersOf(sampled, [])).toEqual({});
});

/** Where in a trace something happens, as it travels in headers: W3C `traceparent`, and B3 in one header or several.
 *  Read in either form, written in those configured. What is malformed is as if it were not there.
 *  Sources: W3C Trace Context, level 1; openzipkin/b3-propagation. Not here: spans (span.ts). */

export type TraceContext = {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Does whoever began the trace want it recorded. */
  readonly isSampled: boolean;
};

export const PROPAGATORS = ['tracecontext', 'b3'] as const;
export type Propagator = (typeof PROPAGATORS)[number];

/** Names in lower case. */
export type TraceHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const TRACE_ID = /^([0-9a-f]{16}){1,2}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;
const ZEROS = /^0+$/;

/** `null`: no trace. The W3C's form goes before the other. */
export function contextFrom(headers: TraceHeaders): TraceContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(textOf(headers['traceparent'])) ?? [];
  if (traceId !== undefined && spanId !== undefined && flags !== undefined) {
    return contextOf(traceId, spanId, (Number.parseInt(flags, 16) & 1) === 1);
  }
  const single = textOf(headers['b3']);
  const [b3TraceId = '', b3SpanId = '', state = ''] = single === '' ? severalOf(headers) : single.split('-');
  return contextOf(b3TraceId.toLowerCase(), b3SpanId.toLowerCase(), state !== '0');
}

/** What the next one in line is told. */
export function headersOf(
  { traceId, spanId, isSampled }: TraceContext,
  propagators: readonly Propagator[],
): Readonly<Record<string, string>> {
  return {
    ...(propagators.includes('tracecontext')
      ? { traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}` }
      : {}),
    ...(propagators.includes('b3')
      ? { 'x-b3-traceid': traceId, 'x-b3-spanid': spanId, 'x-b3-sampled': isSampled ? '1' : '0' }
      : {}),
  };
}

function severalOf(headers: TraceHeaders): readonly string[] {
  return ['x-b3-traceid', 'x-b3-spanid', 'x-b3-sampled'].map((name) => textOf(headers[name]));
}

function contextOf(traceId: string, spanId: string, isSampled: boolean): TraceContext | null {
  const isGood =
    TRACE_ID.test(traceId) && SPAN_ID.test(spanId) && !ZEROS.test(traceId) && !ZEROS.test(spanId);
  return isGood ? { traceId: traceId.padStart(32, '0'), spanId, isSampled } : null;
}

function textOf(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value.trim() : '';
}

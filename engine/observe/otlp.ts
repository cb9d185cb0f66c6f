/** Spans → the bytes of an OTLP ExportTraceServiceRequest, in protobuf: the one encoding every receiver takes. Only what we
 *  send is written, by the few rules of the wire format, so that no library of a thousand messages need be loaded.
 *  Not here: sending (span-exporter.ts).
 *  Sources: opentelemetry-proto, trace/v1/trace.proto and collector/trace/v1; protobuf.dev, "Encoding". */
import type { Attributes, EndedSpan, SpanKind } from './span.ts';

export type Resource = Readonly<Record<string, string>>;

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;
const SCOPE = 'pergola';

export function encodeSpans(spans: readonly EndedSpan[], resource: Resource): Buffer {
  const resourceMessage = Buffer.concat(attributesAt(1, resource));
  const scopeSpans = Buffer.concat([
    nested(1, text(1, SCOPE)),
    ...spans.map((span) => nested(2, spanMessage(span))),
  ]);
  return nested(1, Buffer.concat([nested(1, resourceMessage), nested(2, scopeSpans)]));
}

function spanMessage(span: EndedSpan): Buffer {
  const { context, parentSpanId, name, kind, startedAt, endedAt, attributes, failure } = span;
  return Buffer.concat([
    nested(1, Buffer.from(context.traceId, 'hex')),
    nested(2, Buffer.from(context.spanId, 'hex')),
    ...(parentSpanId === null ? [] : [nested(4, Buffer.from(parentSpanId, 'hex'))]),
    text(5, name),
    integer(6, KINDS[kind]),
    nanoseconds(7, startedAt),
    nanoseconds(8, endedAt),
    ...attributesAt(9, attributes),
    ...(failure === null ? [] : [nested(15, Buffer.concat([text(2, failure), integer(3, STATUS_ERROR)]))]),
  ]);
}

/** KeyValue with an AnyValue: 1 is a string, 2 a boolean, 3 an integer. */
function attributesAt(field: number, attributes: Attributes): readonly Buffer[] {
  return Object.entries(attributes).map(([key, value]) => {
    const any =
      typeof value === 'string' ? text(1, value) : integer(typeof value === 'boolean' ? 2 : 3, Number(value));
    return nested(field, Buffer.concat([text(1, key), nested(2, any)]));
  });
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;

function tag(field: number, type: number): Buffer {
  return varint((field << 3) | type);
}

function nested(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([tag(field, LENGTH_DELIMITED), varint(bytes.length), bytes]);
}

function text(field: number, value: string): Buffer {
  return nested(field, Buffer.from(value));
}

/** Whole and not negative. */
function integer(field: number, value: number): Buffer {
  return Buffer.concat([tag(field, VARINT), varint(value)]);
}

function nanoseconds(field: number, milliseconds: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(Math.round(milliseconds * 1000)) * 1000n);
  return Buffer.concat([tag(field, FIXED64), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = Math.trunc(value);
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}

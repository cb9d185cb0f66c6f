/** A call to a remote schema, as part of a response: its fields, and what is told of errors.
 *  Errors it answers with are passed on, and there is no data then; with --remote-schema-prioritize-data there is, and they
 *  are not told. Not here: asking (remote-schema.ts), other calls and statements (calls.ts). Reference: docs/reference/behaviour/remote-schemas.md. */
import { textToWire } from '../config/header-prefix.ts';
import { EngineError, toGraphqlError } from '../errors/engine-error.ts';
import type { RemoteCall, RemoteField } from '../plan/remote-types.ts';
import { type RemoteAnswer, type RemoteError, readAnswer } from '../remote/answer.ts';
import { callRemote } from '../remote/request.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import type { CallContext, Outcome } from './calls.ts';
import type { PlannedRequest } from './plan-cache.ts';

/** Raises what asking raises. */
export async function answerRemote(
  call: RemoteCall,
  { plan, variables }: PlannedRequest,
  { session, outbound }: CallContext,
): Promise<Outcome> {
  const { timeLimitMs } = plan;
  const answer = await callRemote(call, variables.values, { session, outbound, timeLimitMs });
  const { record } = outbound;
  if (answer.setCookies.length > 0 && record) {
    record.cookies = [...(record.cookies ?? []), ...answer.setCookies];
  }
  return outcomeOf(answer, call, outbound);
}

/** Of an event of a subscription: an execution result, as JSON. Raises `remoteAnswerInvalid`. */
export function eventOutcome(bytes: Buffer, call: RemoteCall, outbound: OutboundContext): Outcome {
  return outcomeOf(readAnswer({ body: bytes, status: 200 }, call), call, outbound);
}

function outcomeOf(answer: RemoteAnswer, call: RemoteCall, outbound: OutboundContext): Outcome {
  if (answer.errors.length > 0 && !(call.remote.prioritizesData && answer.hasData)) {
    return { fields: [], errors: placedErrors(answer.errors, call), isUsable: false };
  }
  const wrong = call.fields.flatMap((field, i) => {
    const piece = answer.fields[i];
    return piece instanceof EngineError ? [{ field, error: piece }] : [];
  });
  return {
    fields: answer.fields.map((piece) => (piece instanceof EngineError ? 'null' : piece)),
    errors: wrong.map(({ field, error }) => told(error, field, outbound)),
    isUsable: wrong.every(({ field }) => field.isNullable),
  };
}

/** Every field of the call is null, where it may be. Raises again what is about the request as a whole: a session variable that
 *  did not come. */
export function failedRemote(error: unknown, { fields }: RemoteCall, { outbound }: CallContext): Outcome {
  if (!(error instanceof EngineError) || !OF_THE_REMOTE.has(error.kind)) throw error;
  return {
    fields: fields.map(() => 'null'),
    errors: fields.map((field) => told(error, field, outbound)),
    isUsable: fields.every(({ isNullable }) => isNullable),
  };
}

const OF_THE_REMOTE: ReadonlySet<string> = new Set(['remoteSchemaUnreachable', 'remoteAnswerInvalid']);
/** Also a value of a remote schema that a database cannot read. */
const OF_A_JOIN: ReadonlySet<string> = new Set([...OF_THE_REMOTE, 'dataException']);

/** What cannot be joined, as it is told of a field that is null instead. Raises again what is no failure of the other side. */
export function toldAt(error: unknown, path: RemoteField['path'], outbound: OutboundContext): unknown {
  if (!(error instanceof EngineError) || !OF_A_JOIN.has(error.kind)) throw error;
  return told(error, { path }, outbound);
}

function told(error: EngineError, { path }: Pick<RemoteField, 'path'>, outbound: OutboundContext): unknown {
  const steps = path.flatMap((step) => ['selectionSet', step]);
  const inPlace = steps.reduceRight<EngineError>((grown, step) => grown.at(step), error);
  const body = { ...toGraphqlError(inPlace, outbound.showsInternal ?? false), path };
  return JSON.parse(textToWire(JSON.stringify(body), outbound.headerPrefix));
}

/** Where they are in our response. */
export function placedErrors(errors: readonly RemoteError[], { fields }: RemoteCall): readonly unknown[] {
  const namespace = fields[0]?.path.slice(0, -1) ?? [];
  return errors.map((error) => placed(error, namespace));
}

/** A remote knows nothing of the namespace its fields are in. */
function placed(error: RemoteError, namespace: readonly string[]): unknown {
  if (namespace.length === 0 || !Array.isArray(error.path)) return error;
  return { ...error, path: [...namespace, ...error.path] };
}

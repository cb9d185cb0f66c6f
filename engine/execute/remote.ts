/** Runs a remote step, and turns failures of remote schemas into errors that stand beside `data`.
 *  Errors that the service answers with are passed on, and `data` is null then. With --remote-schema-prioritize-data, `data` that is
 *  there is kept and its errors are dropped. Not here: the request (remote/request.ts), other steps (steps.ts).
 *  Reference: docs/reference/behaviour/remote-schemas.md. */

import { EngineError, type PathStep, toGraphqlError } from '../errors/engine-error.ts';
import { textToWire } from '../metadata/header-prefix.ts';
import type { RemoteCall, RemoteField } from '../plan/remote-types.ts';
import { type RemoteAnswer, type RemoteError, readAnswer, WrongField } from '../remote/answer.ts';
import { callRemote } from '../remote/request.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import type { RunContext, StepResult } from './step-types.ts';

/** Raises what the request to the remote schema raises. */
export async function runRemote(
  call: RemoteCall,
  { planned, session, outbound }: RunContext,
): Promise<StepResult> {
  const { timeLimitMs } = planned.plan;
  const answer = await callRemote(call, planned.variables.values, { session, outbound, timeLimitMs });
  const { record } = outbound;
  if (answer.setCookies.length > 0 && record) {
    record.cookies = [...(record.cookies ?? []), ...answer.setCookies];
  }
  return resultOf(answer, call, outbound);
}

/** Returns the result of one event of a subscription, which is an execution result as JSON. Raises `remoteAnswerInvalid`. */
export function eventResult(bytes: Buffer, call: RemoteCall, outbound: OutboundContext): StepResult {
  return resultOf(readAnswer({ body: bytes, status: 200 }, call.fields, call.remote), call, outbound);
}

function resultOf(answer: RemoteAnswer, call: RemoteCall, outbound: OutboundContext): StepResult {
  if (answer.errors.length > 0 && !(call.remote.prioritizesData && answer.hasData)) {
    return { columns: [], errors: errorsAt(answer.errors, call), isUsable: false };
  }
  const wrong = call.fields.flatMap((field, i) => {
    const found = answer.fields[i];
    return found instanceof WrongField ? [{ field, found }] : [];
  });
  return {
    columns: answer.fields.map((found) => (found instanceof WrongField ? (found.piece ?? 'null') : found)),
    errors: wrong.map(({ field, found }) => errorAt(found.error, field.path, outbound, found.path)),
    isUsable: wrong.every(({ field, found }) => field.isNullable || found.piece !== null),
  };
}

/** Returns the result of a call that failed: every field is null where it may be. Rethrows what concerns the whole request, such as
 *  a missing session variable. */
export function remoteFailure(error: unknown, { fields }: RemoteCall, outbound: OutboundContext): StepResult {
  if (!(error instanceof EngineError) || !REMOTE_FAILURES.has(error.kind)) throw error;
  return {
    columns: fields.map(() => 'null'),
    errors: fields.map((field) => errorAt(error, field.path, outbound)),
    isUsable: fields.every(({ isNullable }) => isNullable),
  };
}

const REMOTE_FAILURES: ReadonlySet<string> = new Set(['remoteSchemaUnreachable', 'remoteAnswerInvalid']);
/** A database may also be unable to read a value of a remote schema. */
const JOIN_FAILURES: ReadonlySet<string> = new Set([...REMOTE_FAILURES, 'dataException']);

/** Returns the error of a join for a field that is null instead. Rethrows what is not a failure of the other side. */
export function joinFailure(error: unknown, path: RemoteField['path'], outbound: OutboundContext): unknown {
  if (!(error instanceof EngineError) || !JOIN_FAILURES.has(error.kind)) throw error;
  return errorAt(error, path, outbound);
}

/** `within` is the path from the field to the value with the error. */
function errorAt(
  error: EngineError,
  path: RemoteField['path'],
  outbound: OutboundContext,
  within: readonly PathStep[] = [],
): unknown {
  const steps = path.flatMap((step) => ['selectionSet', step]);
  const located = steps.reduceRight<EngineError>((outer, step) => outer.at(step), error);
  const body = { ...toGraphqlError(located, outbound.showsInternal ?? false), path: [...path, ...within] };
  return JSON.parse(textToWire(JSON.stringify(body), outbound.headerPrefix));
}

/** Returns errors of a service with their paths in this response, which has namespaces that the service does not know. */
export function errorsAt(errors: readonly RemoteError[], { fields }: RemoteCall): readonly unknown[] {
  const namespace = fields[0]?.path.slice(0, -1) ?? [];
  return errors.map((error) => {
    if (namespace.length === 0 || !Array.isArray(error.path)) return error;
    return { ...error, path: [...namespace, ...error.path] };
  });
}

/** One GraphQL operation, however it came, as it is told to those who observe.
 *  Not here: what it means (execute/answer.ts), what becomes of the telling (observe/). */
import type { IncomingHttpHeaders } from 'node:http';
import type { EngineError } from '../errors/engine-error.ts';
import type { Progress } from '../execute/answer.ts';
import type { OperationFinished } from '../observe/observation.ts';
import type { HttpContext } from './context.ts';

export type RunningOperation = {
  readonly requestId: string;
  readonly transport: OperationFinished['transport'];
  readonly startedAt: number;
  readonly progress: Progress;
};

export function beginOperation(
  { tracing }: HttpContext,
  requestId: string,
  transport: RunningOperation['transport'],
  headers: IncomingHttpHeaders,
): RunningOperation {
  const span = tracing.begin('graphql', headers);
  return { requestId, transport, startedAt: performance.now(), progress: { asked: null, plan: null, span } };
}

/** `error`: what the client is told; null when all is well. */
export function endOperation(
  { observe }: HttpContext,
  { requestId, transport, startedAt, progress }: RunningOperation,
  error: EngineError | null,
): void {
  const type = progress.plan?.operation ?? 'unknown';
  observe({
    kind: 'operation finished',
    requestId,
    transport,
    type,
    durationMs: performance.now() - startedAt,
    error: error && { name: error.kind, code: error.codeIn('newer') },
    request: progress.asked,
    statements: progress.plan?.statements ?? null,
  });
  progress.span?.end(error?.codeIn('newer') ?? null, {
    'graphql.operation.type': type,
    'pergola.transport': transport,
    'pergola.request_id': requestId,
  });
}

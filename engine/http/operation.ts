/** One GraphQL operation, however it came, as it is told to those who observe.
 *  Not here: what it means (execute/answer.ts), what becomes of the telling (observe/). */
import type { EngineError } from '../errors/engine-error.ts';
import type { Progress } from '../execute/answer.ts';
import type { Observe, OperationFinished } from '../observe/observation.ts';

export type Arrived = {
  readonly requestId: string;
  readonly transport: OperationFinished['transport'];
  readonly startedAt: number;
  readonly progress: Progress;
};

export function arrived(requestId: string, transport: Arrived['transport']): Arrived {
  return { requestId, transport, startedAt: performance.now(), progress: { plan: null } };
}

/** `error`: what the client is told; null when all is well. */
export function answered(
  observe: Observe,
  { requestId, transport, startedAt, progress }: Arrived,
  error: EngineError | null,
): void {
  observe({
    kind: 'operation finished',
    requestId,
    transport,
    type: progress.plan?.operation ?? 'unknown',
    durationMs: performance.now() - startedAt,
    error: error && { name: error.kind, code: error.codeIn('newer') },
  });
}

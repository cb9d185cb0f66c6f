/** One operation over a WebSocket: a query or mutation answers once, a subscription until it is stopped.
 *  What is wrong before anything runs is an `error`; what goes wrong after that is a result with `errors`.
 *  Not here: message formats (websocket-messages.ts), polling (subscribe/). Reference: docs/reference/behaviour/subscriptions.md. */
import type { IncomingHttpHeaders } from 'node:http';
import { EngineError, toGraphqlError } from '../errors/engine-error.ts';
import { answerPlanned, understood } from '../execute/answer.ts';
import type { PlannedRequest } from '../execute/plan-cache.ts';
import type { Body } from '../execute/splice.ts';
import type { Session } from '../resolve/session.ts';
import type { LiveQueries } from '../subscribe/live-queries.ts';
import { Result } from '../subscribe/result.ts';
import { checkRateLimit } from './admit.ts';
import { answerContextOf } from './asker.ts';
import type { HttpContext } from './context.ts';
import { graphqlRequestFrom } from './graphql-request.ts';
import { beginOperation, endOperation, type RunningOperation } from './operation.ts';
import { errorFrom, showsInternal } from './refusal.ts';

export type RunningWebsocketOperation = {
  readonly isLive: boolean;
  /** Nothing more is said. What runs for it alone is cancelled; a mutation is rolled back unless it has been committed. */
  readonly stop: () => void;
};

/** Where an operation says what it has to say. Texts are JSON. */
export type OperationOutput = {
  readonly requestId: string;
  /** `{"data":…}` or `{"errors":…}` */
  readonly next: (response: Result) => void;
  readonly hasRoom: () => boolean;
  /** As `next`; an earlier one the client has had no room for may be left out. */
  readonly latest: (response: Result) => void;
  /** The operation did not begin, or cannot go on. `detail` is for the log. */
  readonly error: (errors: string, detail: unknown) => void;
  readonly complete: () => void;
  /** It is over. */
  readonly done: () => void;
};

export type OperationStart = {
  readonly context: HttpContext;
  readonly live: LiveQueries;
  readonly session: Session;
  readonly isRelay: boolean;
  /** Of the connection, with those given at its start. */
  readonly headers: IncomingHttpHeaders;
  readonly address: string | undefined;
  /** The object that identifies the connection when its subscriptions are counted. */
  readonly connection: object;
  readonly request: unknown;
  readonly outlet: OperationOutput;
};

/** Null when it could not begin; then that has been said. */
export function startOperation(start: OperationStart): RunningWebsocketOperation | null {
  const { context, session, isRelay, outlet } = start;
  const arrival = beginOperation(context, outlet.requestId, 'websocket', start.headers);
  try {
    const request = graphqlRequestFrom(start.request);
    const { model } = context.state.snapshot();
    checkRateLimit(context.rateLimiter, { model, session, address: start.address });
    const asked = understood(request, { model, session, isRelay, progress: arrival.progress });
    arrival.progress.plan = asked.plan;
    if (asked.plan.operation !== 'subscription') return answerOnce(start, asked, arrival);
    const stop = start.live.subscribe({
      request,
      session,
      isRelay,
      outbound: answerContextOf(context, session, start.headers, arrival).outbound,
      span: arrival.progress.span,
      subscriber: { session, connection: start.connection, address: start.address },
      sink: {
        next: outlet.next,
        latest: outlet.latest,
        hasRoom: outlet.hasRoom,
        failed: (error) => outlet.latest(new Result(`{"errors":${errorsText(start, error)}}`)),
        ended: (error) => {
          outlet.error(errorsText(start, error), error.message);
          outlet.done();
        },
        refused: (errors) => {
          outlet.error(JSON.stringify(errors), errors);
          outlet.done();
        },
        completed: () => {
          outlet.complete();
          outlet.done();
        },
      },
    });
    endOperation(context, arrival, null);
    return { isLive: true, stop };
  } catch (thrown) {
    const error = errorFrom(thrown, context.observe, outlet.requestId);
    endOperation(context, arrival, error);
    outlet.error(errorsText(start, error), toGraphqlError(error, false));
    return null;
  }
}

/** For what the protocol itself refuses. */
export function refuse(outlet: OperationOutput, reason: string): void {
  const error = toGraphqlError(new EngineError('startFailed', { text: reason }), false);
  outlet.error(JSON.stringify([error]), error);
}

function answerOnce(
  start: OperationStart,
  asked: PlannedRequest,
  arrival: RunningOperation,
): RunningWebsocketOperation {
  const stopped = new AbortController();
  void answerBody(start, asked, arrival, stopped.signal).then((body) => {
    if (!stopped.signal.aborted) {
      start.outlet.next(new Result(body));
      start.outlet.complete();
    }
    start.outlet.done();
  });
  return {
    isLive: false,
    stop: () => stopped.abort(new EngineError('clientGone', {})),
  };
}

async function answerBody(
  { context, session, outlet, ...start }: OperationStart,
  asked: PlannedRequest,
  arrival: RunningOperation,
  signal: AbortSignal,
): Promise<Body> {
  try {
    const body = await answerPlanned(
      asked,
      answerContextOf(context, session, start.headers, arrival, undefined, signal),
    );
    endOperation(context, arrival, null);
    return body;
  } catch (thrown) {
    const error = errorFrom(thrown, context.observe, outlet.requestId);
    endOperation(context, arrival, error);
    return `{"data":null,"errors":${errorsText({ context, session, outlet, ...start }, error)}}`;
  }
}

function errorsText({ context, session }: OperationStart, error: EngineError): string {
  return JSON.stringify([toGraphqlError(error, showsInternal(context.options, session))]);
}

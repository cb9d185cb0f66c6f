/** One operation over a WebSocket: a query or mutation answers once, a subscription until it is stopped. An error
 *  before anything has run is sent as an `error` message; a later one is a result with `errors`.
 *  Not here: message formats (messages.ts), polling (subscribe/). Reference:
 *  docs/reference/behaviour/subscriptions.md. */
import type { IncomingHttpHeaders } from 'node:http';
import { EngineError } from '../../errors/engine-error.ts';
import { answer, answerPlanned, contextAfter, notePlan, planOf } from '../../execute/answer.ts';
import type { GraphqlRequest, PlannedRequest } from '../../execute/plan-cache.ts';
import type { Body } from '../../execute/splice.ts';
import { RequestSignal } from '../../limits/cancel-signal.ts';
import { AnswerHolding } from '../../limits/memory-budget.ts';
import type { Model } from '../../resolve/model/model.ts';
import type { Session } from '../../resolve/session.ts';
import type { LiveQueries } from '../../subscribe/live-queries.ts';
import { Result } from '../../subscribe/result.ts';
import type { SubscribeRequest } from '../../subscribe/subscription.ts';
import type { HttpContext } from '../context.ts';
import { errorFrom, showsInternal } from '../error-response.ts';
import { graphqlRequestFrom } from '../graphql-request.ts';
import {
  answerContextOf,
  beginOperation,
  checkMutation,
  checkRateLimit,
  endOperation,
  type RunningOperation,
} from '../operation.ts';

export type RunningWebsocketOperation = {
  readonly isLive: boolean;
  /** Stops the operation: nothing more is sent, and statements that only this operation needs are cancelled. A
   *  mutation is rolled back unless it is committed already. */
  readonly stop: () => void;
};

/** Sends the messages of an operation to its client. Texts are JSON. */
export type OperationOutput = {
  /** Returns an error as the messages have it. */
  readonly errorOf: (error: EngineError, showInternal: boolean) => object;
  readonly requestId: string;
  /** Sends `{"data":…}` or `{"errors":…}`. `sent` is called when it has been sent, or cannot be. */
  readonly next: (response: Result, sent?: () => void) => void;
  readonly hasRoom: () => boolean;
  /** Sends a result like `next`. An earlier one may be skipped when the client had no room for it. */
  readonly latest: (response: Result) => void;
  /** Reports that the operation did not start, or cannot continue. `detail` is for the log. */
  readonly error: (errors: string, detail: unknown) => void;
  readonly complete: () => void;
  /** Called when the operation has ended. */
  readonly done: () => void;
};

type OperationStart = {
  readonly context: HttpContext;
  readonly live: LiveQueries;
  readonly session: Session;
  readonly isRelay: boolean;
  /** The headers of the connection, with those of `connection_init`. */
  readonly headers: IncomingHttpHeaders;
  readonly address: string | undefined;
  /** The object that identifies the connection when its subscriptions are counted. */
  readonly connection: object;
  readonly request: unknown;
  readonly output: OperationOutput;
};

/** Starts an operation. Returns null when it could not start; the error has been sent then. */
export function startOperation(start: OperationStart): RunningWebsocketOperation | null {
  const { context, session, isRelay, output } = start;
  const arrival = beginOperation(context, output.requestId, 'websocket', start.headers);
  try {
    const request = graphqlRequestFrom(start.request);
    const { model } = context.state.snapshot();
    checkRateLimit(context.rateLimiter, { model, session, address: start.address });
    const planned = planOf(request, { model, session, isRelay, progress: arrival.progress });
    notePlan(planned, arrival.progress);
    if (planned.plan.operation === 'mutation') checkMutation(session);
    if (planned.plan.operation !== 'subscription')
      return answerOnce(start, { request, model, planned }, arrival);
    const subscribing: SubscribeRequest = {
      request,
      session,
      isRelay,
      outbound: answerContextOf(context, session, start.headers, arrival).outbound,
      span: arrival.progress.span,
      subscriber: { session, connection: start.connection, address: start.address },
      sink: {
        next: output.next,
        latest: output.latest,
        hasRoom: output.hasRoom,
        failed: (error) => output.latest(new Result(`{"errors":${errorsText(start, error)}}`)),
        ended: (error) => {
          output.error(errorsText(start, error), error.message);
          output.done();
        },
        refused: (errors) => {
          output.error(JSON.stringify(errors), errors);
          output.done();
        },
        completed: () => {
          output.complete();
          output.done();
        },
      },
    };
    const stop = start.live.subscribe(subscribing, { model, planned });
    endOperation(context, arrival, null);
    return { isLive: true, stop };
  } catch (thrown) {
    const error = errorFrom(thrown, context, output.requestId);
    endOperation(context, arrival, error);
    output.error(errorsText(start, error), output.errorOf(error, false));
    return null;
  }
}

/** Sends an error for an operation that the protocol refuses. */
export function refuse(output: OperationOutput, reason: string): void {
  const error = output.errorOf(new EngineError('startFailed', { text: reason }), false);
  output.error(JSON.stringify([error]), error);
}

/** A request with its plan under a model. */
type Planned = {
  readonly request: GraphqlRequest;
  readonly model: Model;
  readonly planned: PlannedRequest;
};

function answerOnce(
  start: OperationStart,
  planned: Planned,
  arrival: RunningOperation,
): RunningWebsocketOperation {
  const stopped = new RequestSignal();
  const holding = new AnswerHolding();
  const release = () => holding.release();
  void answerBody(start, planned, arrival, { signal: stopped, holding }).then((body) => {
    if (stopped.aborted) release();
    else {
      start.output.next(new Result(body), release);
      start.output.complete();
    }
    start.output.done();
  });
  return {
    isLive: false,
    stop: () => stopped.abort(new EngineError('clientGone', {})),
  };
}

async function answerBody(
  { context, session, output, ...start }: OperationStart,
  { request, model, planned }: Planned,
  arrival: RunningOperation,
  { signal, holding }: { readonly signal: RequestSignal; readonly holding: AnswerHolding },
): Promise<Body> {
  try {
    const answerContext = answerContextOf(
      context,
      session,
      start.headers,
      arrival,
      undefined,
      signal,
      holding,
    );
    const body = await answerPlanned(planned, answerContext).catch(async (failure: unknown) => {
      const later = await contextAfter(failure, planned, { model, ...answerContext });
      return answer(request, { ...later, isRelay: start.isRelay });
    });
    endOperation(context, arrival, null);
    return body;
  } catch (thrown) {
    const error = errorFrom(thrown, context, output.requestId);
    endOperation(context, arrival, error);
    return `{"data":null,"errors":${errorsText({ context, session, output, ...start }, error)}}`;
  }
}

function errorsText({ context, session, output }: OperationStart, error: EngineError): string {
  return JSON.stringify([output.errorOf(error, showsInternal(context.options, session))]);
}

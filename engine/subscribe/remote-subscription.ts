/** One subscription to a field of a remote schema. The engine subscribes at the service and sends every event, in the names of this
 *  graph. While the client has no room, the engine does not read from the service.
 *  The subscription ends when the service completes it, refuses it with errors, or is lost.
 *  After a change of the metadata it is planned again before anything more is sent. It continues unless the request to the service
 *  is a different one now. Not here: the connection (remote/feed.ts). Reference: docs/reference/behaviour/subscriptions.md. */
import { EngineError } from '../errors/engine-error.ts';
import { respond } from '../execute/answer.ts';
import type { PlannedRequest } from '../execute/plan-cache.ts';
import { errorsAt, eventResult, joinFailure } from '../execute/remote.ts';
import type { RemoteCall } from '../plan/remote-types.ts';
import { RemoteFeed } from '../remote/feed.ts';
import type { RemoteEvent } from '../remote/feed-types.ts';
import { requestOf } from '../remote/request.ts';
import type { Model } from '../resolve/model/model.ts';
import { excessOf, Result } from './result.ts';
import type { SubscribeRequest, Subscription, SubscriptionHost, SubscriptionPlan } from './subscription.ts';

/** The interval at which a client that had no room is checked again. */
const PAUSE_MS = 50;

export class RemoteSubscription implements Subscription {
  readonly request: SubscribeRequest;
  readonly #host: SubscriptionHost;
  model: Model | undefined;
  #planned: PlannedRequest | undefined;
  /** The current request to the service, as text. */
  #sent = '';
  #feed: RemoteFeed | undefined;
  #timer: NodeJS.Timeout | undefined;
  #leave: () => void = () => {};

  constructor(request: SubscribeRequest, host: SubscriptionHost) {
    this.request = request;
    this.#host = host;
  }

  /** Subscribes at the service unless the request to it is still the same. */
  begin({ model, planned }: SubscriptionPlan): void {
    const { session, outbound, span = null } = this.request;
    const call = callOf(planned);
    const { endpoint, schema } = call.remote;
    const subscribing = { endpoint, request: requestOf(call, planned.variables.values, session) };
    this.model = model;
    this.#planned = planned;
    const sent = JSON.stringify(subscribing);
    if (sent === this.#sent) return;
    this.#sent = sent;
    this.#close();
    const origin = { session, outbound: { ...outbound, span }, timeLimitMs: planned.plan.timeLimitMs };
    const feed = new RemoteFeed({
      ...subscribing,
      schema,
      origin,
      notify: (event) => {
        if (feed === this.#feed) this.#receive(event);
      },
    });
    this.#feed = feed;
    this.#leave = this.#host.everyRound();
  }

  stop(): void {
    this.#close();
  }

  #close(): void {
    const feed = this.#feed;
    this.#feed = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#leave();
    feed?.stop();
  }

  #receive(event: RemoteEvent): void {
    const feed = this.#feed;
    if (!this.#host.isCurrent()) this.#host.renew();
    // The feed has ended, or was replaced.
    if (feed !== this.#feed) return;
    if (event.kind === 'result') this.#push(event.bytes);
    else if (event.kind === 'lost') this.#lost(event.error);
    else this.#finish(event);
  }

  #push(bytes: Buffer): void {
    const call = callOf(this.#planned!);
    const { sink, outbound } = this.request;
    try {
      const { columns, errors, isUsable } = eventResult(bytes, call, outbound);
      const { plan } = this.#planned!;
      const result = new Result(respond(plan, { rows: isUsable ? [columns] : null, errors }));
      const excess = excessOf(result, plan);
      if (excess) this.#host.fail(excess);
      else sink.next(result);
      if (!sink.hasRoom()) this.#pause();
    } catch (error) {
      if (error instanceof EngineError) this.#lost(error);
      else this.#host.fail(error);
    }
  }

  #finish(event: Extract<RemoteEvent, { kind: 'complete' | 'refused' }>): void {
    const { sink } = this.request;
    this.#host.over();
    if (event.kind === 'complete') sink.completed();
    else sink.refused(errorsAt(event.errors, callOf(this.#planned!)));
  }

  #lost(error: EngineError): void {
    const [field] = callOf(this.#planned!).fields;
    this.#host.over();
    this.request.sink.refused([joinFailure(error, field!.path, this.request.outbound)]);
  }

  #pause(): void {
    this.#feed?.pause();
    this.#timer ??= setInterval(() => {
      if (!this.request.sink.hasRoom()) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#feed?.resume();
    }, PAUSE_MS);
  }
}

function callOf({ plan }: PlannedRequest): RemoteCall {
  const [step] = plan.steps;
  if (step?.kind !== 'remote') throw new Error('the plan has no remote step');
  return step.call;
}

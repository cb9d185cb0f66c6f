/** One subscription whose field is of a remote schema: it is handed on to the service, and every event is sent as it comes, in
 *  the names of this graph. A client that has no room is not sent more: the service is not read from meanwhile.
 *  It ends as it ends there: completed, or with the errors of the service, or with ours when the service is lost.
 *  When the metadata has changed it is planned again before anything more is sent, and goes on where it was unless the
 *  request to the service is another now. Not here: the connection (remote/feed.ts). Reference: docs/reference/behaviour/subscriptions.md. */
import { EngineError } from '../errors/engine-error.ts';
import { understood } from '../execute/answer.ts';
import { eventText } from '../execute/calls.ts';
import type { PlannedRequest } from '../execute/plan-cache.ts';
import { eventOutcome, placedErrors, toldAt } from '../execute/remote-call.ts';
import type { RemoteCall } from '../plan/remote-types.ts';
import { RemoteFeed } from '../remote/feed.ts';
import type { RemoteEvent } from '../remote/feed-types.ts';
import { requestOf } from '../remote/request.ts';
import type { Model } from '../resolve/types.ts';
import { Result } from './result.ts';
import type { Ask, Subscription, Surroundings } from './subscription.ts';

/** Until a client that had no room is looked at again. */
const PAUSE_MS = 50;

export class RemoteSubscription implements Subscription {
  readonly ask: Ask;
  readonly #surroundings: Surroundings;
  model: Model | undefined;
  #planned: PlannedRequest | undefined;
  /** What the service was asked. */
  #asked = '';
  #feed: RemoteFeed | undefined;
  #timer: NodeJS.Timeout | undefined;
  #leave: () => void = () => {};

  constructor(ask: Ask, surroundings: Surroundings) {
    this.ask = ask;
    this.#surroundings = surroundings;
  }

  /** Plans under the model, and asks the service unless it has been asked just that. */
  begin(model: Model): void {
    const { request, session, outbound, span = null, isRelay = false } = this.ask;
    const planned = understood(request, { model, session, isRelay });
    const call = callOf(planned);
    const { endpoint, schema } = call.remote;
    const asking = { endpoint, request: requestOf(call, planned.variables.values, session) };
    this.model = model;
    this.#planned = planned;
    const asked = JSON.stringify(asking);
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.#close();
    const origin = { session, outbound: { ...outbound, span }, timeLimitMs: planned.plan.timeLimitMs };
    const feed = new RemoteFeed({
      ...asking,
      schema,
      origin,
      notify: (event) => {
        if (feed === this.#feed) this.#learn(event);
      },
    });
    this.#feed = feed;
    this.#leave = this.#surroundings.everyRound();
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

  #learn(event: RemoteEvent): void {
    const feed = this.#feed;
    if (!this.#surroundings.isCurrent()) this.#surroundings.renew();
    // It has ended, or has asked something else.
    if (feed !== this.#feed) return;
    if (event.kind === 'result') this.#push(event.bytes);
    else if (event.kind === 'lost') this.#lost(event.error);
    else this.#finish(event);
  }

  #push(bytes: Buffer): void {
    const call = callOf(this.#planned!);
    const { sink, outbound } = this.ask;
    try {
      sink.next(new Result(eventText(this.#planned!, eventOutcome(bytes, call, outbound))));
      if (!sink.hasRoom()) this.#pause();
    } catch (error) {
      if (error instanceof EngineError) this.#lost(error);
      else this.#surroundings.fail(error);
    }
  }

  #finish(event: Extract<RemoteEvent, { kind: 'complete' | 'refused' }>): void {
    const { sink } = this.ask;
    this.#surroundings.over();
    if (event.kind === 'complete') sink.completed();
    else sink.refused(placedErrors(event.errors, callOf(this.#planned!)));
  }

  #lost(error: EngineError): void {
    const [field] = callOf(this.#planned!).fields;
    this.#surroundings.over();
    this.ask.sink.refused([toldAt(error, field!.path, this.ask.outbound)]);
  }

  #pause(): void {
    this.#feed?.pause();
    this.#timer ??= setInterval(() => {
      if (!this.ask.sink.hasRoom()) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#feed?.resume();
    }, PAUSE_MS);
  }
}

function callOf({ plan }: PlannedRequest): RemoteCall {
  return plan.calls[0]!.call as RemoteCall;
}

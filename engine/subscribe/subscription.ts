/** Types that all kinds of subscription share: the request, the sink that receives results, and the host that polls for them.
 *  Not here: the kinds (live-queries.ts, stream.ts, remote-subscription.ts). */
import type { EngineError } from '../errors/engine-error.ts';
import type { GraphqlRequest, PlannedRequest } from '../execute/plan-cache.ts';
import type { Span } from '../observe/span.ts';
import type { Model } from '../resolve/model/model.ts';
import type { Session } from '../resolve/session.ts';
import type { PreparedStatement } from '../sql/plan.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import type { Values, Watcher } from './poller.ts';
import type { Result } from './result.ts';
import type { Subscriber } from './subscription-counts.ts';

/** Receives the results of a subscription. */
type Sink = {
  /** Sends the result `{"data":{…}}`. */
  readonly next: (result: Result) => void;
  /** Like `next`, but a result that waits for a slow client may be replaced by a later one. */
  readonly latest: (result: Result) => void;
  /** True when the client has received almost everything that was sent. */
  readonly hasRoom: () => boolean;
  /** Reports that polling failed once. A later result may follow. */
  readonly failed: (error: EngineError) => void;
  /** Ends the subscription with an error. */
  readonly ended: (error: EngineError) => void;
  /** Ends the subscription with errors of a remote schema, in the form that clients receive. */
  readonly refused: (errors: readonly unknown[]) => void;
  /** Ends the subscription after its last result. */
  readonly completed: () => void;
};

export type SubscribeRequest = {
  readonly request: GraphqlRequest;
  readonly session: Session;
  /** True for the schema with connections. */
  readonly isRelay?: boolean;
  readonly sink: Sink;
  readonly subscriber: Subscriber;
  /** The context of requests to webhooks and remote schemas. */
  readonly outbound: OutboundContext;
  /** The span of the operation that starts the subscription. Polling is not within it. */
  readonly span?: Span | null;
};

/** A plan of a subscription's request, and the model it was planned under. */
export type SubscriptionPlan = { readonly model: Model; readonly planned: PlannedRequest };

export type Subscription = {
  readonly request: SubscribeRequest;
  /** The model of the current plan. */
  readonly model: Model | undefined;
  /** Starts with a plan, and continues with another one after the metadata has changed. */
  readonly begin: (plan: SubscriptionPlan) => void;
  readonly stop: () => void;
};

/** The functions of LiveQueries that a subscription uses. */
export type SubscriptionHost = {
  /** True while the model of the current plan is the engine's. */
  readonly isCurrent: () => boolean;
  readonly renew: () => void;
  /** Polls a statement. The returned function ends it. */
  readonly watch: (
    statement: PreparedStatement,
    values: Values,
    watcher: Watcher,
    when?: 'now' | 'next round',
  ) => () => void;
  /** Polls a whole plan that has calls. The response is the only column of the row. */
  readonly watchPlan: (planned: PlannedRequest, request: SubscribeRequest, watcher: Watcher) => () => void;
  /** Renews a subscription without statements in each round. The returned function ends it. */
  readonly everyRound: () => () => void;
  /** Stops the subscription, which reports the reason to its client. */
  readonly over: () => void;
  /** Stops the subscription with an unexpected error. */
  readonly fail: (thrown: unknown) => void;
};

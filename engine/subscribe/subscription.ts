/** What every subscription is made of, whether it watches a result or streams rows: the request it stands for, where its
 *  answers go, and what it is given to watch statements with. Types alone. */
import type { EngineError } from '../errors/engine-error.ts';
import type { GraphqlRequest, PlannedRequest, ReadyStatement } from '../execute/plan-cache.ts';
import type { Span } from '../observe/span.ts';
import type { Session } from '../resolve/session.ts';
import type { Model } from '../resolve/types.ts';
import type { OutboundContext } from '../webhook/outbound.ts';
import type { Values, Watcher } from './poller.ts';
import type { Result } from './result.ts';
import type { Subscriber } from './subscription-counts.ts';

/** Where results go. */
export type Sink = {
  /** `{"data":{…}}` */
  readonly next: (result: Result) => void;
  /** As `next`, where one that a client has had no room for may be replaced by the one after it. */
  readonly latest: (result: Result) => void;
  /** Whether the client has taken what it was sent, but for a little. */
  readonly hasRoom: () => boolean;
  /** This time there was none; the next may come. */
  readonly failed: (error: EngineError) => void;
  /** There will be no more. */
  readonly ended: (error: EngineError) => void;
  /** Neither here: these are the reasons, as clients are told of them. */
  readonly refused: (errors: readonly unknown[]) => void;
  /** All has been sent. */
  readonly completed: () => void;
};

export type Ask = {
  readonly request: GraphqlRequest;
  readonly session: Session;
  /** Asked of the schema with connections. */
  readonly isRelay?: boolean;
  readonly sink: Sink;
  readonly subscriber: Subscriber;
  /** For what others than databases are asked. */
  readonly outbound: OutboundContext;
  /** Of the operation that begins it: what is asked then is within it, what is asked again and again is not. */
  readonly span?: Span | null;
};

export type Subscription = {
  readonly ask: Ask;
  /** It was planned under this one. */
  readonly model: Model | undefined;
  /** Plans, and plans again when the metadata has changed. Raises what planning raises. */
  readonly begin: (model: Model) => void;
  readonly stop: () => void;
};

export type Surroundings = {
  /** Whether the model it was planned under is still that of the engine. */
  readonly isCurrent: () => boolean;
  readonly renew: () => void;
  /** The returned function ends it. */
  readonly watch: (
    statement: ReadyStatement,
    values: Values,
    watcher: Watcher,
    when?: 'now' | 'next round',
  ) => () => void;
  /** The whole response of a plan with calls, as the only column of a row. */
  readonly watchCalls: (asked: PlannedRequest, ask: Ask, watcher: Watcher) => () => void;
  /** Has it renewed in time although it watches nothing. The returned function ends it. */
  readonly everyRound: () => () => void;
  /** It is stopped: its client is told why there will be no more. */
  readonly over: () => void;
  /** The same for what nobody foresaw. */
  readonly fail: (thrown: unknown) => void;
};

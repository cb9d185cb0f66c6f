/** Subscriptions. A live query is planned like a query, a poller runs each of its statements, and every change is sent as a whole
 *  response. The other kinds are streams (stream.ts) and subscriptions to remote schemas (remote-subscription.ts). Equal statements
 *  of different subscriptions share a poller.
 *  A plan contains the permissions of one model. When the metadata changes, every subscription is planned again before anything more
 *  is sent. If that fails, the subscription ends with the error that a new one would get.
 *  In: request, session and a sink. Out: responses to the sink, and a function that ends the subscription.
 *  Not here: sockets (http/), polling (poller.ts). Reference: docs/reference/behaviour/subscriptions.md. */

import { randomUUID } from 'node:crypto';
import { type Databases, databasesOfRequest } from '../database/databases.ts';
import { type EngineError, fail } from '../errors/engine-error.ts';
import { answerPlanned, chosenDatabases, planOf } from '../execute/answer.ts';
import type { PlannedRequest } from '../execute/plan-cache.ts';
import { bodyText } from '../execute/splice.ts';
import { runForMany, runStatement, valuesOf } from '../execute/statements.ts';
import { AnswerHolding } from '../limits/memory-budget.ts';
import type { PollerView, SubscriptionsView } from '../observe/activity.ts';
import type { Observe, StatementPolled } from '../observe/observation.ts';
import type { Model } from '../resolve/model/model.ts';
import type { PreparedPlan, PreparedStatement } from '../sql/plan.ts';
import { type Row, textOfColumn } from '../wire/statement.ts';
import { Multiplexer } from './multiplexer.ts';
import { PollCost } from './poll-cost.ts';
import { Poller, type QueryOutcome } from './poller.ts';
import { RemoteSubscription } from './remote-subscription.ts';
import { excessOf, Result, resultOf } from './result.ts';
import { Stream } from './stream.ts';
import type { SubscribeRequest, Subscription, SubscriptionHost, SubscriptionPlan } from './subscription.ts';
import { SubscriptionCounts, type SubscriptionLimits } from './subscription-counts.ts';
import { Turns } from './turns.ts';

type LiveQueriesOptions = {
  readonly refetchIntervalMs: number;
  /** The interval between two batches of a stream. */
  readonly streamIntervalMs: number;
  /** The most cohorts that share one statement, for live queries and for streams. */
  readonly batchSize: number;
  readonly streamBatchSize: number;
  /** The most statements that run at the same time, over all subscriptions. */
  readonly mostAtOnce: number;
  readonly limits: SubscriptionLimits;
  /** Returns the current model. */
  readonly model: () => Model;
  /** Returns the model under which a statement that failed may succeed; null when there is none. */
  readonly modelAfter?: (failure: unknown, before: Model) => Promise<Model | null>;
  readonly databases: Databases;
  /** Returns the error that a client receives for whatever was thrown. */
  readonly errorOf: (thrown: unknown) => EngineError;
  /** Receives a report of each statement that ran. Absent when nothing logs them. */
  readonly observe?: Observe | undefined;
};

/** A statement that is polled. */
export type Polled = {
  readonly source: string;
  readonly statement: string;
  readonly isStream: boolean;
  readonly intervalMs: number;
  readonly cohorts: Poller['cohorts'];
};

type SharedPoller = {
  readonly statement: PreparedStatement;
  readonly intervalMs: number;
  readonly poller: Poller;
  readonly cost: PollCost;
};

/** The most statements and the most roles of an overview, and the most characters of a statement there. */
const MOST_LISTED = 100;
const MOST_STATEMENT_CHARACTERS = 4000;

export class LiveQueries {
  readonly #options: LiveQueriesOptions;
  readonly #turns: Turns;
  /** The turns of plans with calls, which may wait for external services. Statements do not wait behind them. */
  readonly #callTurns: Turns;
  /** The pollers of statements, by source, connection, limits and text. */
  readonly #pollers = new Map<string, SharedPoller>();
  readonly #subscriptions = new Set<Subscription>();
  readonly #counts: SubscriptionCounts;
  /** Functions that end the count of each subscription. */
  readonly #leave = new WeakMap<Subscription, () => void>();
  /** The rounds of subscriptions that use no database. */
  readonly #rounds: Poller;
  #model: Model | undefined;

  constructor(options: LiveQueriesOptions) {
    this.#options = options;
    this.#turns = new Turns(options.mostAtOnce);
    this.#callTurns = new Turns(options.mostAtOnce);
    this.#counts = new SubscriptionCounts(options.limits);
    this.#rounds = new Poller({
      query: async () => ({ kind: 'row', row: [] }),
      intervalMs: options.refetchIntervalMs,
      beforeRound: () => this.#renewAll(),
    });
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  /** The number of polled statements. */
  get pollerCount(): number {
    return this.#pollers.size;
  }

  /** The polled statements with the values of every cohort. It is expensive: for administrators. */
  get pollers(): readonly Polled[] {
    return [...this.#pollers.values()].map(({ statement, intervalMs, poller }) => ({
      source: statement.source,
      statement: statement.text,
      isStream: isOfStream(statement),
      intervalMs,
      cohorts: poller.cohorts,
    }));
  }

  /** The subscriptions by role, and the polled statements without values, those that take the most time first. */
  get overview(): SubscriptionsView {
    const roles = new Map<string, number>();
    for (const { request } of this.#subscriptions) {
      const { role } = request.session;
      roles.set(role, (roles.get(role) ?? 0) + 1);
    }
    const pollers = [...this.#pollers.values()].map(overviewOf).sort((a, b) => b.share - a.share);
    return {
      subscriptions: this.size,
      roles: [...roles].slice(0, MOST_LISTED).map(([role, subscriptions]) => ({ role, subscriptions })),
      pollers: pollers.slice(0, MOST_LISTED),
    };
  }

  /** Starts a subscription. `plan` is that of the request, where the caller has it. The returned function ends the subscription.
   *  Raises what planning raises, `missingSessionVariable` and `subscriptionLimitExceeded`. */
  subscribe(request: SubscribeRequest, plan?: SubscriptionPlan): () => void {
    const leave = this.#counts.enter(request.subscriber);
    try {
      const live = this.#begin(request, plan ?? this.#planOf(request));
      this.#leave.set(live, leave);
      return () => this.#stop(live);
    } catch (error) {
      leave();
      throw error;
    }
  }

  #planOf(request: SubscribeRequest): SubscriptionPlan {
    const { session, isRelay = false } = request;
    const model = this.#options.model();
    return { model, planned: planOf(request.request, { model, session, isRelay }) };
  }

  #begin(request: SubscribeRequest, plan: SubscriptionPlan): Subscription {
    const databases = this.#chooser(plan.planned, request);
    const host: SubscriptionHost = {
      isCurrent: () => this.#options.model() === live.model,
      renew: () => this.#renew(live),
      watch: (...watched) => this.#watch(databases(), ...watched),
      watchPlan: (...watched) => this.#watchPlan(...watched),
      everyRound: () => this.#rounds.watch([], () => {}),
      over: () => this.#stop(live),
      fail: (thrown) => this.#fail(live, thrown),
    };
    const live: Subscription = new (kindOf(plan.planned.plan))(request, host);
    live.begin(plan);
    this.#subscriptions.add(live);
    return live;
  }

  /** Connection templates choose once for each model. Subscriptions that share a poller have chosen the same databases. */
  #chooser(planned: PlannedRequest, request: SubscribeRequest): () => Databases {
    let chosen: { readonly model: Model; readonly databases: Databases } | undefined;
    return () => {
      const model = this.#options.model();
      if (chosen?.model !== model) {
        const { databases } = this.#options;
        chosen = { model, databases: chosenDatabases(planned, { ...request, databases }) };
      }
      return chosen.databases;
    };
  }

  #stop(live: Subscription): void {
    live.stop();
    this.#subscriptions.delete(live);
    this.#leave.get(live)?.();
  }

  #watch(
    databases: Databases,
    ...[statement, values, watcher, when]: Parameters<SubscriptionHost['watch']>
  ): () => void {
    const { source, timeLimitMs, limitMs, mostResponseBytes, text } = statement;
    const choice = databases.choiceOf?.(source);
    const key = [source, choice, timeLimitMs, limitMs, mostResponseBytes, text].join('\n');
    const shared = this.#pollers.get(key) ?? this.#newPoller(statement, databases);
    this.#pollers.set(key, shared);
    const leave = shared.poller.watch(values, watcher, when);
    return () => {
      leave();
      if (shared.poller.isIdle && this.#pollers.get(key) === shared) this.#pollers.delete(key);
    };
  }

  /** A plan with calls or joins has a poller of its own. */
  #watchPlan(...[planned, request, watcher]: Parameters<SubscriptionHost['watchPlan']>): () => void {
    const { databases, refetchIntervalMs } = this.#options;
    const { session, outbound } = request;
    const response = (signal: AbortSignal) =>
      holding(planned.plan, async (held) => {
        const context = { session, databases, outbound: { ...outbound, signal, holding: held } };
        return [bodyText(await answerPlanned(planned, context))];
      });
    const poller = new Poller({
      query: (_, signal) => this.#callTurns.take(() => this.#outcome(() => response(signal))),
      intervalMs: refetchIntervalMs,
      beforeRound: () => this.#renewAll(),
    });
    return poller.watch([], watcher);
  }

  #newPoller(statement: PreparedStatement, databases: Databases): SharedPoller {
    const { refetchIntervalMs, streamIntervalMs, batchSize, streamBatchSize } = this.#options;
    const isStream = isOfStream(statement);
    const intervalMs = isStream ? streamIntervalMs : refetchIntervalMs;
    const most = isStream ? streamBatchSize : batchSize;
    const cost = new PollCost();
    const observed = <T>(cohorts: number, run: () => Promise<T>): Promise<T> =>
      cost.adding(() => reported(cohorts, run));
    const reported = <T>(cohorts: number, run: () => Promise<T>): Promise<T> => {
      const { observe } = this.#options;
      if (!observe) return run();
      const { subscribers } = poller.sizes;
      const { source, text } = statement;
      const polled = { isStream, source, statement: text, cohorts, subscribers, batchSize: most, intervalMs };
      return observePoll(observe, { pollerId, ...polled }, run);
    };
    const pollerId = randomUUID();
    const within = <T>(signal: AbortSignal, run: (on: Databases) => Promise<T>) =>
      holding(statement, (held) => run(databasesOfRequest(databases, { signal, holding: held })));
    const multiplexer = new Multiplexer({
      query: (values, signal) =>
        this.#turns.take(() =>
          this.#outcome(() => observed(1, () => within(signal, (on) => runStatement(statement, values, on)))),
        ),
      runForMany: (each, signal) =>
        this.#turns.take(() =>
          observed(each.length, () => within(signal, (on) => runForMany(statement, each, on))),
        ),
      most: statement.forMany ? most : 1,
    });
    const poller = new Poller({
      query: (values, signal) => multiplexer.query(values, signal),
      intervalMs,
      beforeRound: () => this.#renewAll(),
    });
    return { statement, intervalMs, poller, cost };
  }

  /** A failure after which the plans are made again reaches no client: the new plans have pollers of their own. */
  async #outcome(query: () => Promise<Row>): Promise<QueryOutcome> {
    const model = this.#options.model();
    try {
      return { kind: 'row', row: await query() };
    } catch (thrown) {
      if (await this.#options.modelAfter?.(thrown, model)) this.#renewAll();
      return { kind: 'failure', error: this.#options.errorOf(thrown) };
    }
  }

  #renewAll(): void {
    const model = this.#options.model();
    if (model === this.#model) return;
    this.#model = model;
    for (const live of [...this.#subscriptions]) if (live.model !== model) this.#renew(live);
  }

  #renew(live: Subscription): void {
    try {
      const plan = this.#planOf(live.request);
      if (!(live instanceof kindOf(plan.planned.plan))) fail('subscriptionChanged', {});
      live.begin(plan);
    } catch (error) {
      this.#fail(live, error);
    }
  }

  #fail(live: Subscription, thrown: unknown): void {
    this.#stop(live);
    live.request.sink.ended(this.#options.errorOf(thrown));
  }
}

function overviewOf({ statement, intervalMs, poller, cost }: SharedPoller): PollerView {
  return {
    kind: isOfStream(statement) ? 'stream' : 'live query',
    source: statement.source,
    statement: statement.text.slice(0, MOST_STATEMENT_CHARACTERS),
    interval_ms: intervalMs,
    ...poller.sizes,
    ...cost.view,
  };
}

/** The bytes of a row beside the result: the positions of a stream. The size of the result itself is checked when it is known. */
const POSITION_BYTES = 16 * 1024;

/** Holds the bytes of results while they arrive. Afterwards those that clients do not read count as queued bytes. */
async function holding<T>(
  { mostResponseBytes }: Pick<PreparedStatement, 'mostResponseBytes'>,
  run: (held: AnswerHolding) => Promise<T>,
): Promise<T> {
  const held = new AnswerHolding();
  held.limitTo(mostResponseBytes, POSITION_BYTES);
  try {
    return await run(held);
  } finally {
    held.release();
  }
}

/** Runs a statement and reports it. */
async function observePoll<T>(
  observe: Observe,
  polled: Omit<StatementPolled, 'kind' | 'durationMs' | 'isFailed'>,
  run: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const report = (isFailed: boolean) =>
    observe({ kind: 'statement polled', ...polled, durationMs: performance.now() - startedAt, isFailed });
  try {
    const result = await run();
    report(false);
    return result;
  } catch (error) {
    report(true);
    throw error;
  }
}

function kindOf({
  steps,
  statements,
}: PreparedPlan): new (
  request: SubscribeRequest,
  host: SubscriptionHost,
) => Subscription {
  if (statements.some(isOfStream)) return Stream;
  return steps.some(({ kind }) => kind === 'remote') ? RemoteSubscription : LiveQuery;
}

/** True when the rows are those after a cursor. */
function isOfStream({ parameters }: PreparedStatement): boolean {
  return parameters.some(({ kind }) => kind === 'stream-cursor');
}

class LiveQuery implements Subscription {
  readonly request: SubscribeRequest;
  readonly #host: SubscriptionHost;
  model: Model | undefined;
  #planned: PlannedRequest | undefined;
  /** The latest row of each statement, where there are several. */
  #rows: (Row | undefined)[] = [];
  #leave: readonly (() => void)[] = [];
  /** The fingerprint of the last result under this plan. */
  #sent: string | undefined;
  /** The fingerprint of the last result under an earlier plan, until this plan has a result to compare with it. */
  #before: string | undefined;
  #isStopped = false;

  constructor(request: SubscribeRequest, host: SubscriptionHost) {
    this.request = request;
    this.#host = host;
  }

  /** Polls for the statements of the plan, and no longer for those of the plan before. */
  begin({ model, planned }: SubscriptionPlan): void {
    const { session } = this.request;
    const binding = { session, variables: planned.variables.values };
    const { statements } = planned.plan;
    const values = statements.map((statement) => valuesOf(statement, binding));
    this.#before ??= this.#sent;
    this.#sent = undefined;
    const left = this.#leave;
    this.model = model;
    this.#planned = planned;
    if (hasCalls(planned.plan)) {
      this.#rows = [undefined];
      this.#leave = [this.#host.watchPlan(planned, this.request, (outcome) => this.#receive(0, outcome))];
      for (const leave of left) leave();
      return;
    }
    this.#rows = statements.map(() => undefined);
    this.#leave = statements.map((statement, i) =>
      this.#host.watch(statement, values[i]!, (outcome) => this.#receive(i, outcome)),
    );
    // Last, so that a poller that both plans use continues.
    for (const leave of left) leave();
    // Without statements, such as `__typename` alone, there is nothing to poll.
    if (statements.length === 0) queueMicrotask(() => this.#push([]));
  }

  stop(): void {
    this.#isStopped = true;
    for (const leave of this.#leave) leave();
  }

  #receive(i: number, outcome: QueryOutcome): void {
    if (this.#isStopped) return;
    // Rows of an old plan are not sent: its permissions may have been revoked.
    if (!this.#host.isCurrent()) this.#host.renew();
    else if (outcome.kind === 'failure') this.request.sink.failed(outcome.error);
    else this.#push(this.#rowsWith(i, outcome.row));
  }

  /** Returns the rows of all statements, or undefined until each has one. */
  #rowsWith(i: number, row: Row): readonly Row[] | undefined {
    if (this.#rows.length === 1) return [row];
    this.#rows[i] = row;
    const rows = this.#rows.filter((each) => each !== undefined);
    return rows.length < this.#rows.length ? undefined : rows;
  }

  #push(rows: readonly Row[] | undefined): void {
    if (this.#isStopped || rows === undefined) return;
    const result = this.#result(rows);
    const excess = excessOf(result, this.#planned!.plan);
    if (excess) {
      this.request.sink.failed(excess);
      return;
    }
    this.#sent = result.fingerprint;
    const isNew = this.#sent !== this.#before;
    this.#before = undefined;
    if (isNew) this.request.sink.latest(result);
  }

  #result(rows: readonly Row[]): Result {
    const { plan } = this.#planned!;
    return hasCalls(plan)
      ? new Result(textOfColumn(rows[0]![0] ?? null) ?? '')
      : resultOf(plan.template, rows);
  }
}

/** True when statements alone do not give the response: there are calls, or joins by the keys in the rows. */
function hasCalls({ steps, statements, keyedSteps }: PreparedPlan): boolean {
  return steps.length > statements.length || keyedSteps.length > 0;
}

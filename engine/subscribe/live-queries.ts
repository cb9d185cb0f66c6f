/** Subscriptions: one is planned like a query, each of its statements is watched by a poller, and every change is pushed as a
 *  whole response; or it is a stream (stream.ts), or one to a remote schema (remote-subscription.ts). Statements of different subscriptions that are the same share their poller.
 *  A plan holds the permissions of one model. When the metadata changes, every subscription is planned again before
 *  anything more is pushed; one that no longer can be ends with the error a new one would get.
 *  In: request, session and a sink. Out: texts of responses to the sink, and a `stop`.
 *  Not here: sockets (http/), asking again (poller.ts). Reference: docs/reference/behaviour/subscriptions.md. */

import { abandonableBy, type Databases } from '../database/databases.ts';
import type { Row } from '../database/pool.ts';
import { type EngineError, fail } from '../errors/engine-error.ts';
import { answerPlanned, chosenFor, understood } from '../execute/answer.ts';
import type { PlannedRequest, ReadyStatement } from '../execute/plan-cache.ts';
import { runForMany, runStatement, valuesOf } from '../execute/run-plan.ts';
import { bodyText } from '../execute/splice.ts';
import type { Model } from '../resolve/types.ts';
import { textOfColumn } from '../wire/statement.ts';
import { Multiplexer } from './multiplexer.ts';
import { type Outcome, Poller, type Values } from './poller.ts';
import { RemoteSubscription } from './remote-subscription.ts';
import { Result, resultOf } from './result.ts';
import { Stream } from './stream.ts';
import type { Ask, Subscription, Surroundings } from './subscription.ts';
import { SubscriptionCounts, type SubscriptionLimits } from './subscription-counts.ts';
import { Turns } from './turns.ts';

export type LiveQueriesOptions = {
  readonly refetchIntervalMs: number;
  /** Between two batches of a stream. */
  readonly streamIntervalMs: number;
  /** Cohorts asked in one statement: of live queries, of streams. */
  readonly batchSize: number;
  readonly streamBatchSize: number;
  /** Statements asked at the same time, over all live queries. */
  readonly mostAtOnce: number;
  readonly limits: SubscriptionLimits;
  /** The current one. */
  readonly model: () => Model;
  readonly databases: Databases;
  /** Whatever was thrown, as what a client may be told. */
  readonly errorOf: (thrown: unknown) => EngineError;
};

/** A statement that is asked again and again. */
export type Polled = {
  readonly source: string;
  readonly statement: string;
  readonly isStream: boolean;
  readonly intervalMs: number;
  readonly cohorts: Poller['cohorts'];
};

type Asked = { readonly statement: ReadyStatement; readonly intervalMs: number; readonly poller: Poller };

export class LiveQueries {
  readonly #options: LiveQueriesOptions;
  readonly #turns: Turns;
  /** By source, connection, time limit and statement text. */
  readonly #pollers = new Map<string, Asked>();
  readonly #subscriptions = new Set<Subscription>();
  readonly #counts: SubscriptionCounts;
  /** Functions that end the count of each subscription. */
  readonly #leave = new WeakMap<Subscription, () => void>();
  /** Of those that ask no database. */
  readonly #rounds: Poller;
  #model: Model | undefined;

  constructor(options: LiveQueriesOptions) {
    this.#options = options;
    this.#turns = new Turns(options.mostAtOnce);
    this.#counts = new SubscriptionCounts(options.limits);
    this.#rounds = new Poller({
      ask: async () => ({ kind: 'row', row: [] }),
      intervalMs: options.refetchIntervalMs,
      beforeRound: () => this.#renewAll(),
    });
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  /** Statements asked again and again. */
  get pollerCount(): number {
    return this.#pollers.size;
  }

  /** Those statements, and for whom: for a person who looks, as it reads the values of every cohort. */
  get pollers(): readonly Polled[] {
    return [...this.#pollers.values()].map(({ statement, intervalMs, poller }) => ({
      source: statement.source,
      statement: statement.text,
      isStream: isOfStream(statement),
      intervalMs,
      cohorts: poller.cohorts,
    }));
  }

  /** Raises what planning raises, `missingSessionVariable` and `subscriptionLimitExceeded`. The returned function ends it. */
  subscribe(ask: Ask): () => void {
    const leave = this.#counts.enter(ask.subscriber);
    try {
      const live = this.#begin(ask);
      this.#leave.set(live, leave);
      return () => this.#stop(live);
    } catch (error) {
      leave();
      throw error;
    }
  }

  #begin(ask: Ask): Subscription {
    const model = this.#options.model();
    const surroundings: Surroundings = {
      isCurrent: () => this.#options.model() === live.model,
      renew: () => this.#renew(live),
      watch: (...watched) => this.#watch(databases(), ...watched),
      watchCalls: (...watched) => this.#watchCalls(...watched),
      everyRound: () => this.#rounds.watch([], () => {}),
      over: () => this.#stop(live),
      fail: (thrown) => this.#fail(live, thrown),
    };
    const { plan } = understood(ask.request, { ...ask, model });
    const databases = this.#chooser(plan, ask);
    const live: Subscription = new (kindOf(plan))(ask, surroundings);
    live.begin(model);
    this.#subscriptions.add(live);
    return live;
  }

  /** Chosen once for each state of the metadata: whoever shares a poller has chosen the same. */
  #chooser(plan: PlannedRequest['plan'], ask: Ask): () => Databases {
    let known: { readonly model: Model; readonly databases: Databases } | undefined;
    return () => {
      const model = this.#options.model();
      if (known?.model !== model) {
        known = { model, databases: chosenFor(plan, { ...ask, databases: this.#options.databases }) };
      }
      return known.databases;
    };
  }

  #stop(live: Subscription): void {
    live.stop();
    this.#subscriptions.delete(live);
    this.#leave.get(live)?.();
  }

  #watch(
    databases: Databases,
    ...[statement, values, watcher, when]: Parameters<Surroundings['watch']>
  ): () => void {
    const { source, timeLimitMs, limitMs, text } = statement;
    const key = [source, databases.choiceOf?.(source), timeLimitMs, limitMs, text].join('\n');
    const asked = this.#pollers.get(key) ?? this.#newPoller(statement, databases);
    this.#pollers.set(key, asked);
    const leave = asked.poller.watch(values, watcher, when);
    return () => {
      leave();
      if (asked.poller.isIdle && this.#pollers.get(key) === asked) this.#pollers.delete(key);
    };
  }

  /** What others than databases answer is asked for by itself: nobody else asks the same. */
  #watchCalls(...[asked, ask, watcher]: Parameters<Surroundings['watchCalls']>): () => void {
    const { databases, refetchIntervalMs } = this.#options;
    const { session, outbound } = ask;
    const answered = async (signal: AbortSignal) => {
      const context = { session, databases, outbound: { ...outbound, signal } };
      return [bodyText(await answerPlanned(asked, context))];
    };
    const poller = new Poller({
      ask: (_, signal) => this.#turns.take(() => this.#outcome(() => answered(signal))),
      intervalMs: refetchIntervalMs,
      beforeRound: () => this.#renewAll(),
    });
    return poller.watch([], watcher);
  }

  #newPoller(statement: ReadyStatement, databases: Databases): Asked {
    const { refetchIntervalMs, streamIntervalMs, batchSize, streamBatchSize } = this.#options;
    const isStream = isOfStream(statement);
    const intervalMs = isStream ? streamIntervalMs : refetchIntervalMs;
    const multiplexer = new Multiplexer({
      ask: (values, signal) =>
        this.#turns.take(() => this.#ask(statement, values, abandonableBy(databases, signal))),
      askForMany: (each, signal) =>
        this.#turns.take(() => runForMany(statement, each, abandonableBy(databases, signal))),
      most: statement.forMany ? (isStream ? streamBatchSize : batchSize) : 1,
    });
    const poller = new Poller({
      ask: (values, signal) => multiplexer.ask(values, signal),
      intervalMs,
      beforeRound: () => this.#renewAll(),
    });
    return { statement, intervalMs, poller };
  }

  #ask(statement: ReadyStatement, values: Values, databases: Databases): Promise<Outcome> {
    return this.#outcome(() => runStatement(statement, values, databases));
  }

  async #outcome(ask: () => Promise<Row>): Promise<Outcome> {
    try {
      return { kind: 'row', row: await ask() };
    } catch (thrown) {
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
    const model = this.#options.model();
    try {
      if (!(live instanceof kindOf(understood(live.ask.request, { ...live.ask, model }).plan)))
        fail('subscriptionChanged', {});
      live.begin(model);
    } catch (error) {
      this.#fail(live, error);
    }
  }

  #fail(live: Subscription, thrown: unknown): void {
    this.#stop(live);
    live.ask.sink.ended(this.#options.errorOf(thrown));
  }
}

function kindOf({
  statements,
  calls,
}: PlannedRequest['plan']): new (
  ask: Ask,
  surroundings: Surroundings,
) => Subscription {
  if (statements.some(isOfStream)) return Stream;
  return calls.some(({ call }) => call.kind === 'remote') ? RemoteSubscription : LiveQuery;
}

/** Its rows are those after a cursor. */
function isOfStream({ parameters }: ReadyStatement): boolean {
  return parameters.some(({ kind }) => kind === 'stream-cursor');
}

class LiveQuery implements Subscription {
  readonly ask: Ask;
  readonly #surroundings: Surroundings;
  model: Model | undefined;
  #planned: PlannedRequest | undefined;
  /** The latest row of each statement, where there are several: one is sent and not kept. */
  #rows: (Row | undefined)[] = [];
  #leave: readonly (() => void)[] = [];
  /** What the client was told last under this plan, and under an earlier one while it is uncertain whether this one's answer is
   *  another: fingerprints. */
  #told: string | undefined;
  #before: string | undefined;
  #isStopped = false;

  constructor(ask: Ask, surroundings: Surroundings) {
    this.ask = ask;
    this.#surroundings = surroundings;
  }

  /** Plans under the model and watches; what was watched before is left. */
  begin(model: Model): void {
    const { request, session, isRelay = false } = this.ask;
    const planned = understood(request, { model, session, isRelay });
    const binding = { session, variables: planned.variables.values };
    const { statements } = planned.plan;
    const values = statements.map((statement) => valuesOf(statement, binding));
    this.#before ??= this.#told;
    this.#told = undefined;
    const left = this.#leave;
    this.model = model;
    this.#planned = planned;
    if (planned.plan.calls.length > 0) {
      this.#rows = [undefined];
      this.#leave = [this.#surroundings.watchCalls(planned, this.ask, (outcome) => this.#learn(0, outcome))];
      for (const leave of left) leave();
      return;
    }
    this.#rows = statements.map(() => undefined);
    this.#leave = statements.map((statement, i) =>
      this.#surroundings.watch(statement, values[i]!, (outcome) => this.#learn(i, outcome)),
    );
    // Only now: a poller both plans use goes on.
    for (const leave of left) leave();
    // Nothing to ask: `__typename` alone.
    if (statements.length === 0) queueMicrotask(() => this.#push([]));
  }

  stop(): void {
    this.#isStopped = true;
    for (const leave of this.#leave) leave();
  }

  #learn(i: number, outcome: Outcome): void {
    if (this.#isStopped) return;
    // What an old plan may see is not to be told.
    if (!this.#surroundings.isCurrent()) this.#surroundings.renew();
    else if (outcome.kind === 'failure') this.ask.sink.failed(outcome.error);
    else this.#push(this.#rowsWith(i, outcome.row));
  }

  /** The rows of all statements; undefined until each has one. */
  #rowsWith(i: number, row: Row): readonly Row[] | undefined {
    if (this.#rows.length === 1) return [row];
    this.#rows[i] = row;
    const rows = this.#rows.filter((each) => each !== undefined);
    return rows.length < this.#rows.length ? undefined : rows;
  }

  #push(rows: readonly Row[] | undefined): void {
    if (this.#isStopped || rows === undefined) return;
    const result = this.#result(rows);
    this.#told = result.fingerprint;
    const isNews = this.#told !== this.#before;
    this.#before = undefined;
    if (isNews) this.ask.sink.latest(result);
  }

  #result(rows: readonly Row[]): Result {
    const { calls, template } = this.#planned!.plan;
    return calls.length > 0 ? new Result(textOfColumn(rows[0]![0] ?? null) ?? '') : resultOf(template, rows);
  }
}

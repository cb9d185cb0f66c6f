/** One streaming subscription. The first round fixes its position: a text such as `now` means the time at which it runs. In each round it reads a batch of rows after its cursor, sends them, and moves the cursor to the last
 *  of them. Rows are sent in the order of the cursor, each once. The cursor moves only after a batch has been sent, and waits for a
 *  client that has no room, so no row is left out. One limit of every cursor remains: a row that a slow transaction commits after a
 *  later row has been sent is behind the cursor and is not sent.
 *  Streams with the same cursor share a poller (poller.ts).
 *  Reference: docs/reference/behaviour/subscriptions.md. */
import type { PlannedRequest } from '../execute/plan-cache.ts';
import { valuesOf } from '../execute/statements.ts';
import type { Model } from '../resolve/model/model.ts';
import { textOfColumn } from '../wire/statement.ts';
import type { QueryOutcome, Values } from './poller.ts';
import { excessOf, resultOf } from './result.ts';
import type { SubscribeRequest, Subscription, SubscriptionHost, SubscriptionPlan } from './subscription.ts';

export class Stream implements Subscription {
  readonly request: SubscribeRequest;
  readonly #host: SubscriptionHost;
  model: Model | undefined;
  #planned: PlannedRequest | undefined;
  #values: Values = [];
  /** The index of the cursor among the values. */
  #cursorIndex = -1;
  /** The current cursor as text. Undefined at the initial value. */
  #cursor: string | undefined;
  #leave: () => void = () => {};
  #isStopped = false;

  constructor(request: SubscribeRequest, host: SubscriptionHost) {
    this.request = request;
    this.#host = host;
  }

  /** A new plan continues at the cursor. */
  begin({ model, planned }: SubscriptionPlan): void {
    const { session } = this.request;
    const [statement] = planned.plan.statements;
    const values = statement ? valuesOf(statement, { session, variables: planned.variables.values }) : [];
    this.model = model;
    this.#planned = planned;
    this.#cursorIndex = statement?.parameters.findIndex(({ kind }) => kind === 'stream-cursor') ?? -1;
    this.#values = values;
    this.#watch('now');
  }

  stop(): void {
    this.#isStopped = true;
    this.#leave();
  }

  #watch(when: 'now' | 'next round'): void {
    const [statement] = this.#planned!.plan.statements;
    const values =
      this.#cursor === undefined ? this.#values : this.#values.with(this.#cursorIndex, this.#cursor);
    const left = this.#leave;
    this.#leave = this.#host.watch(statement!, values, (outcome) => this.#learn(outcome), when);
    // Last, because a poller without watchers stops and restarts its rounds.
    left();
  }

  #learn(outcome: QueryOutcome): void {
    if (this.#isStopped) return;
    if (!this.#host.isCurrent()) this.#host.renew();
    else if (outcome.kind === 'failure') this.request.sink.failed(outcome.error);
    else this.#send(outcome.row);
  }

  #send(row: Extract<QueryOutcome, { kind: 'row' }>['row']): void {
    const cursor = textOfColumn(row[1] ?? null);
    const isFirst = this.#cursor === undefined;
    this.#cursor ??= textOfColumn(row[2] ?? null) ?? undefined;
    // There are no new rows.
    const isMoved = isFirst && this.#cursor !== undefined && this.#cursor !== this.#values[this.#cursorIndex];
    if (cursor === null) {
      if (isMoved) this.#watch('next round');
      return;
    }
    const { plan } = this.#planned!;
    const result = resultOf(plan.template, [row]);
    const excess = excessOf(result, plan);
    // The cursor does not move, and the poller reports the next outcome.
    if (excess) {
      this.request.sink.failed(excess);
      if (isMoved && !this.#isStopped) this.#watch('next round');
      return;
    }
    if (this.request.sink.hasRoom()) {
      this.request.sink.next(result);
      this.#cursor = cursor;
    }
    if (!this.#isStopped) this.#watch('next round');
  }
}

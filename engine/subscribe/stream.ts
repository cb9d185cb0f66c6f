/** One streaming subscription. It asks for the rows after its cursor, a batch a round, sends what there is and moves the
 *  cursor to the last of them: every row that is there when its turn comes is sent, in the cursor's order, none twice.
 *  A batch is sent before the cursor moves, and a client that has no room for one waits where it is: nothing is left out.
 *  What no cursor can promise: a row that is committed after a later one has been sent, because its transaction was the
 *  slower, lies behind the cursor then and is not sent.
 *  Streams that stand at the same place ask as one, like any watchers of a poller (poller.ts).
 *  Reference: docs/reference/behaviour/subscriptions.md. */
import { understood } from '../execute/answer.ts';
import type { PlannedRequest } from '../execute/plan-cache.ts';
import { valuesOf } from '../execute/run-plan.ts';
import type { Model } from '../resolve/types.ts';
import { textOfColumn } from '../wire/statement.ts';
import type { Outcome, Values } from './poller.ts';
import { resultOf } from './result.ts';
import type { Ask, Subscription, Surroundings } from './subscription.ts';

export class Stream implements Subscription {
  readonly ask: Ask;
  readonly #surroundings: Surroundings;
  model: Model | undefined;
  #planned: PlannedRequest | undefined;
  #values: Values = [];
  /** Of the cursor among the values. */
  #place = -1;
  /** Where it stands, as text; nowhere yet: at the initial value. */
  #cursor: string | undefined;
  #leave: () => void = () => {};
  #isStopped = false;

  constructor(ask: Ask, surroundings: Surroundings) {
    this.ask = ask;
    this.#surroundings = surroundings;
  }

  /** Plans under the model and goes on from where it stands. */
  begin(model: Model): void {
    const { request, session, isRelay = false } = this.ask;
    const planned = understood(request, { model, session, isRelay });
    const [statement] = planned.plan.statements;
    const values = statement ? valuesOf(statement, { session, variables: planned.variables.values }) : [];
    this.model = model;
    this.#planned = planned;
    this.#place = statement?.parameters.findIndex(({ kind }) => kind === 'stream-cursor') ?? -1;
    this.#values = values;
    this.#watch('now');
  }

  stop(): void {
    this.#isStopped = true;
    this.#leave();
  }

  #watch(when: 'now' | 'next round'): void {
    const [statement] = this.#planned!.plan.statements;
    const values = this.#cursor === undefined ? this.#values : this.#values.with(this.#place, this.#cursor);
    const left = this.#leave;
    this.#leave = this.#surroundings.watch(statement!, values, (outcome) => this.#learn(outcome), when);
    // Only now: a poller without watchers rests, and begins its rounds anew.
    left();
  }

  #learn(outcome: Outcome): void {
    if (this.#isStopped) return;
    if (!this.#surroundings.isCurrent()) this.#surroundings.renew();
    else if (outcome.kind === 'failure') this.ask.sink.failed(outcome.error);
    else this.#send(outcome.row);
  }

  #send(row: Extract<Outcome, { kind: 'row' }>['row']): void {
    const cursor = textOfColumn(row[1] ?? null);
    // No rows: nothing to tell.
    if (cursor === null) return;
    if (this.ask.sink.hasRoom()) {
      this.ask.sink.next(resultOf(this.#planned!.plan.template, [row]));
      this.#cursor = cursor;
    }
    if (!this.#isStopped) this.#watch('next round');
  }
}

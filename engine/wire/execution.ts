/** One run of a statement, from its submission to its result: what it runs with, who waits for it, and its state while it is in flight.
 *  It is the listener of its caller's signal and the timer of its time limit, so that neither costs an object.
 *  Not here: which connection it gets (pool.ts), when it is sent (connection.ts). */
import type { CancelListener, CancelSignal } from '../limits/cancel-signal.ts';
import type { AnswerHolding } from '../limits/memory-budget.ts';
import { type TimerWheel, WheelTimer } from '../limits/timer-wheel.ts';
import { type Patience, TimeIsUp } from './patience.ts';
import type { NamedStatement, Row, Value } from './statement.ts';

/** The state of an execution:
 *  `awaited`: its result is for the caller.
 *  `cancelling`: the caller waits for its end only; Postgres should stop it. A write may still have been in time.
 *  `discarded`: no caller waits. Its result is discarded; Postgres should stop it. */
type ExecutionState = 'awaited' | 'cancelling' | 'discarded';

type Settle = {
  readonly resolve: (row: Row) => void;
  readonly reject: (failure: Error) => void;
};

/** Called when the caller of an execution no longer waits. */
type GivenUp = (execution: Execution, reason: Error) => void;

export class Execution extends WheelTimer implements CancelListener {
  readonly statement: NamedStatement;
  readonly values: readonly Value[];
  readonly #settle: Settle;
  readonly #holding: AnswerHolding | undefined;
  /** True for BEGIN, COMMIT, ROLLBACK and SET. */
  readonly isCommand: boolean;
  state: ExecutionState = 'awaited';
  /** True when it was sent again, or must not be, because it belongs to a transaction. */
  wasRetried: boolean;
  /** True when it must not share a connection: it was cancelled so that others behind it could run. */
  isSingle = false;
  /** True when a request to cancel what its connection runs was sent while it was in flight. */
  mayBeHit = false;
  /** True when its statement must be parsed for this run only. */
  isUnnamed = false;
  /** True when its statement was parsed for it. */
  isParsed = false;
  /** True while Postgres has not answered READ_NULLS, which was sent before it. */
  isPreceded = false;
  /** True when another execution was in flight when this one was sent. */
  isFollower = false;
  #receivedBytes = 0;
  /** The error of a result that was refused while it arrived. */
  #refusal: Error | undefined;
  #reason: Error | undefined;
  #signal: CancelSignal | undefined;
  #limitMs = 0;
  #givenUp: GivenUp | undefined;

  constructor(
    statement: NamedStatement,
    values: readonly Value[],
    settle: Settle,
    kind: 'alone' | 'in transaction' | 'command' = 'alone',
    holding?: AnswerHolding,
  ) {
    super();
    this.statement = statement;
    this.values = values;
    this.#settle = settle;
    this.#holding = holding;
    this.wasRetried = kind !== 'alone';
    this.isCommand = kind === 'command';
  }

  /** Calls `givenUp` once when patience ends, immediately if it has ended already. */
  waitFor({ signal, limitMs }: Patience, wheel: TimerWheel, givenUp: GivenUp): void {
    this.#givenUp = givenUp;
    this.#signal = signal;
    if (signal?.aborted) {
      this.handleEvent();
      return;
    }
    signal?.addEventListener('abort', this);
    if (limitMs == null) return;
    this.#limitMs = limitMs;
    wheel.add(this, limitMs);
  }

  /** The caller has gone. */
  handleEvent(): void {
    this.#giveUp(this.#signal!.reason as Error);
  }

  /** The time limit is over. */
  expire(): void {
    this.#giveUp(new TimeIsUp(this.#limitMs));
  }

  #giveUp(reason: Error): void {
    this.#stopListening();
    this.#reason = reason;
    this.#givenUp?.(this, reason);
  }

  /** Returns how long the caller waits. From now on another run of the statement has to keep to that. */
  handOver(): Patience {
    this.#stopListening();
    return { signal: this.#signal, limitMs: this.#limitMs || null };
  }

  #stopListening(): void {
    this.#signal?.removeEventListener('abort', this);
    this.cancel();
  }

  get isGivenUp(): boolean {
    return this.#reason !== undefined;
  }

  /** Called when it is sent. */
  begin(): void {
    this.#receivedBytes = 0;
  }

  /** Returns false for bytes of a result that are not to be kept: nobody waits for them, or they are too many. A read that waits for them fails
   *  at once, and Postgres should stop it. Others fail when they have ended. */
  accepts(bytes: number): boolean {
    if (this.state === 'discarded' || this.#refusal) return false;
    if (!this.#holding) return true;
    try {
      this.#holding.receive(bytes, this.#receivedBytes);
      this.#receivedBytes += bytes;
      return true;
    } catch (error) {
      this.#refusal = error as Error;
      if (this.statement.isRead && this.#givenUp) this.#giveUp(this.#refusal);
      return false;
    }
  }

  /** Passes the result to the caller. A cancelled execution fails with the reason why the caller no longer waits. */
  done(failure: Error | null, row: Row): void {
    this.#stopListening();
    if (!failure && this.#refusal) this.#settle.reject(this.#refusal);
    else if (!failure) this.#settle.resolve(row);
    else this.#settle.reject(this.#reason && isCancelled(failure) ? this.#reason : failure);
  }

  /** Passes the reason to the caller, and discards the result that may still arrive. */
  abandon(reason: Error): void {
    this.state = 'discarded';
    this.#settle.reject(reason);
  }
}

/** True for the error query_canceled. Nothing of the statement is kept. */
export function isCancelled(failure: Error | null): boolean {
  return (failure as { readonly code?: unknown } | null)?.code === '57014';
}

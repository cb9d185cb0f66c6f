/** Processes queued calls of asynchronous actions. An engine claims a call, calls the webhook and stores the result. It looks for
 *  queued calls at an interval, and at once after it has queued one itself. A call is made once. Only when the engine that claimed
 *  it died is it made again, after its lease has expired, alone and after the others, and a limited number of times. Nothing is retried.
 *  Not here: the table (store/action-calls.ts), a single call (action.ts). Reference: docs/reference/behaviour/actions.md. */
import { EngineError } from '../errors/engine-error.ts';
import { ended, type Grace } from '../limits/grace.ts';
import type { Observe } from '../observe/observation.ts';
import { AnswerMemory } from '../outgoing/answer-memory.ts';
import type { Model } from '../resolve/model/model.ts';
import { callAction, checkAnswer } from './action.ts';
import type { ActionCallQueue, ActionCalls, ActionOutcome, QueuedActionCall } from './async-action-types.ts';
import { InterruptedTurns } from './interrupted-turns.ts';
import type { OutboundContext } from './outbound.ts';

type AsyncActionsOptions = {
  readonly calls: ActionCalls;
  readonly model: () => Model;
  readonly outbound: Omit<OutboundContext, 'headers'>;
  readonly intervalMs: number;
  /** The most calls that are claimed at a time. */
  readonly batchSize: number;
  readonly observe: Observe;
};

/** The most webhooks that are called at the same time. */
const MOST_AT_ONCE = 100;
/** The time for storing the result, in addition to the timeout of the webhook. */
const LEASE_MARGIN_SECONDS = 60;

/** A call during which the engine has ended so often fails, because the call may be the reason. As for events (events/retry.ts). */
const MOST_CALLS = 5;

export class AsyncActions implements ActionCallQueue {
  readonly #options: AsyncActionsOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout | undefined;
  #claiming: Promise<void> | undefined;
  readonly #turns = new InterruptedTurns();
  #isWanted = false;
  #isClosed = false;

  constructor(options: AsyncActionsOptions) {
    this.#options = options;
    if (options.intervalMs > 0) this.#timer = setInterval(() => this.look(), options.intervalMs);
  }

  get calls(): ActionCalls {
    return this.#options.calls;
  }

  look(): void {
    this.#isWanted = true;
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined;
    });
  }

  /** Claims no more calls and waits for running ones. A call that does not end in time is made again when its lease expires. */
  async close({ over }: Grace): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await ended([this.#claiming], over);
    await ended([...this.#running], over);
  }

  async #claimAll(): Promise<void> {
    const { calls, batchSize, observe } = this.#options;
    try {
      while (this.#mayClaim()) {
        this.#isWanted = false;
        const leaseSeconds = longestTimeout(this.#options.model());
        // Without asynchronous actions nothing is queued.
        if (leaseSeconds === null) return;
        const claimed = await calls.claim(
          batchSize,
          leaseSeconds + LEASE_MARGIN_SECONDS,
          this.#turns.mayBegin(this.#running.size),
        );
        for (const call of claimed) this.#start(call);
        this.#isWanted ||= claimed.length === batchSize;
      }
    } catch (error) {
      observe({ kind: 'unexpected', requestId: null, error });
    }
  }

  #mayClaim(): boolean {
    const isFree = this.#running.size < MOST_AT_ONCE && !this.#turns.isReserved;
    return this.#isWanted && !this.#isClosed && isFree;
  }

  #start(call: QueuedActionCall): void {
    if (call.interruptions > 0) this.#turns.begin();
    const running = this.#perform(call)
      .catch((error: unknown) => this.#options.observe({ kind: 'unexpected', requestId: call.id, error }))
      .finally(() => {
        this.#running.delete(running);
        if (call.interruptions > 0) {
          this.#turns.end();
          this.#isWanted = true;
        }
        // The limit of running calls may have been reached before.
        if (this.#isWanted) this.look();
      });
    this.#running.add(running);
  }

  async #perform(call: QueuedActionCall): Promise<void> {
    const { calls } = this.#options;
    const memory = new AnswerMemory();
    try {
      await calls.finish(call.id, await this.#outcome(call, memory));
    } finally {
      memory.release();
    }
  }

  async #outcome(
    { action: name, message, clientHeaders, interruptions }: QueuedActionCall,
    memory: AnswerMemory,
  ): Promise<ActionOutcome> {
    const { model, outbound } = this.#options;
    try {
      if (interruptions >= MOST_CALLS) throw new EngineError('actionInterrupted', { calls: interruptions });
      const action = model().actions.get(name);
      if (!action) throw new EngineError('actionNotExists', { name });
      const context = { outbound: { ...outbound, headers: clientHeaders, memory } };
      const answered = await callAction(
        action,
        { purpose: 'action', action: action.name, ...message },
        context,
      );
      checkAnswer(answered, model().customTypes);
      return { response: JSON.stringify(answered.value), errors: null };
    } catch (error) {
      return { response: null, errors: JSON.stringify(this.#errorOf(error)) };
    }
  }

  /** Returns the error in the form that the client of the call reads. */
  #errorOf(error: unknown): unknown {
    if (error instanceof EngineError) {
      return { path: '$', error: error.messageIn('newer'), code: error.codeIn('newer'), ...error.extensions };
    }
    this.#options.observe({ kind: 'unexpected', requestId: null, error });
    return { path: '$', error: 'internal error', code: 'unexpected' };
  }
}

/** Returns the longest timeout in seconds, or null without asynchronous actions. */
function longestTimeout({ actions }: Model): number | null {
  const timeouts = [...actions.values()].flatMap(({ isAsynchronous, webhook }) =>
    isAsynchronous ? [webhook.timeoutSeconds] : [],
  );
  return timeouts.length === 0 ? null : Math.ceil(Math.max(...timeouts));
}

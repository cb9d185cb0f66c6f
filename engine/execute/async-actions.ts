/** Asynchronous actions: a call is written down and answered with its id; whichever engine claims it first tells the webhook,
 *  and writes down what that says. Waiting calls are looked for at an interval, and at once by the engine that wrote one down.
 *  A call is made once; only one whose engine died meanwhile is made again, when its lease has ended. Nothing is retried.
 *  Not here: the table (store/action-calls.ts), a single call (action.ts). Reference: docs/reference/behaviour/actions.md. */
import { EngineError } from '../errors/engine-error.ts';
import { ended, type Grace } from '../limits/grace.ts';
import type { Observe } from '../observe/observation.ts';
import type { Model } from '../resolve/types.ts';
import { ask, checkAnswer } from './action.ts';
import type { Message, OutboundContext } from './webhook.ts';

export type NewActionCall = {
  readonly action: string;
  readonly sessionVariables: Readonly<Record<string, string>>;
  readonly message: Pick<Message, 'body' | 'sessionVariables'>;
  /** Those the action forwards. */
  readonly clientHeaders: Readonly<Record<string, string>>;
};
export type ActionCall = NewActionCall & { readonly id: string };

/** JSON texts; null where there is none yet. */
export type ActionOutcome = { readonly response: string | null; readonly errors: string | null };

export interface ActionCalls {
  /** Its id. */
  readonly add: (call: NewActionCall) => Promise<string>;
  readonly claim: (most: number, leaseSeconds: number) => Promise<readonly ActionCall[]>;
  readonly finish: (id: string, outcome: ActionOutcome) => Promise<void>;
  /** Null session variables: of anybody's. `createdAt` is JSON text, too. */
  readonly find: (
    id: string,
    action: string,
    sessionVariables: Readonly<Record<string, string>> | null,
  ) => Promise<(ActionOutcome & { readonly createdAt: string }) | null>;
  /** Forgets all calls of an action. */
  readonly clear: (action: string) => Promise<void>;
}

export type AsyncActionsOptions = {
  readonly calls: ActionCalls;
  readonly model: () => Model;
  readonly outbound: Omit<OutboundContext, 'headers'>;
  readonly intervalMs: number;
  /** Claimed at once. */
  readonly batchSize: number;
  readonly observe: Observe;
};

/** Webhooks asked at the same time. */
const MOST_AT_ONCE = 100;
/** For writing the answer down, beyond the time the webhook has. */
const LEASE_MARGIN_SECONDS = 60;

export class AsyncActions {
  readonly #options: AsyncActionsOptions;
  readonly #running = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout | undefined;
  #claiming: Promise<void> | undefined;
  #isWanted = false;
  #isClosed = false;

  constructor(options: AsyncActionsOptions) {
    this.#options = options;
    if (options.intervalMs > 0) this.#timer = setInterval(() => this.look(), options.intervalMs);
  }

  get calls(): ActionCalls {
    return this.#options.calls;
  }

  /** Looks for waiting calls now. */
  look(): void {
    this.#isWanted = true;
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined;
    });
  }

  /** Takes no more, and waits for those under way. What does not end in time is made again when its lease has ended. */
  async close({ over }: Grace): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await ended([this.#claiming], over);
    await ended([...this.#running], over);
  }

  async #claimAll(): Promise<void> {
    const { calls, batchSize, observe } = this.#options;
    try {
      while (this.#isWanted && !this.#isClosed && this.#running.size < MOST_AT_ONCE) {
        this.#isWanted = false;
        const leaseSeconds = longestTimeout(this.#options.model());
        // No asynchronous actions: nobody waits.
        if (leaseSeconds === null) return;
        const claimed = await calls.claim(batchSize, leaseSeconds + LEASE_MARGIN_SECONDS);
        for (const call of claimed) this.#start(call);
        this.#isWanted ||= claimed.length === batchSize;
      }
    } catch (error) {
      observe({ kind: 'unexpected', requestId: null, error });
    }
  }

  #start(call: ActionCall): void {
    const running = this.#perform(call)
      .catch((error: unknown) => this.#options.observe({ kind: 'unexpected', requestId: call.id, error }))
      .finally(() => {
        this.#running.delete(running);
        // There may have been no room for more.
        if (this.#isWanted) this.look();
      });
    this.#running.add(running);
  }

  async #perform(call: ActionCall): Promise<void> {
    const { calls } = this.#options;
    await calls.finish(call.id, await this.#outcome(call));
  }

  async #outcome({ action: name, message, clientHeaders }: ActionCall): Promise<ActionOutcome> {
    const { model, outbound } = this.#options;
    try {
      const action = model().actions.get(name);
      if (!action) throw new EngineError('actionNotExists', { name });
      const context = { outbound: { ...outbound, headers: clientHeaders } };
      const answered = await ask(action, { purpose: 'action', ...message }, context);
      checkAnswer(answered, model().customTypes);
      return { response: JSON.stringify(answered.value), errors: null };
    } catch (error) {
      return { response: null, errors: JSON.stringify(this.#told(error)) };
    }
  }

  /** As whoever made the call is told. */
  #told(error: unknown): unknown {
    if (error instanceof EngineError) {
      return { path: '$', error: error.messageIn('newer'), code: error.codeIn('newer'), ...error.extensions };
    }
    this.#options.observe({ kind: 'unexpected', requestId: null, error });
    return { path: '$', error: 'internal error', code: 'unexpected' };
  }
}

/** In seconds; null without asynchronous actions. */
function longestTimeout({ actions }: Model): number | null {
  const timeouts = [...actions.values()].flatMap(({ isAsynchronous, webhook }) =>
    isAsynchronous ? [webhook.timeoutSeconds] : [],
  );
  return timeouts.length === 0 ? null : Math.ceil(Math.max(...timeouts));
}

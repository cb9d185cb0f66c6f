/** Types of the queue of asynchronous action calls. Not here: processing the queue (async-actions.ts), its table
 *  (store/action-calls.ts). Reference: docs/reference/behaviour/actions.md. */

type NewActionCall = {
  readonly action: string;
  readonly sessionVariables: Readonly<Record<string, string>>;
  readonly message: {
    readonly body: unknown;
    readonly sessionVariables: Readonly<Record<string, string>>;
  };
  /** The client headers that the action forwards. */
  readonly clientHeaders: Readonly<Record<string, string>>;
};

export type QueuedActionCall = NewActionCall & {
  readonly id: string;
  /** The number of times that the engine that had claimed the call ended before it stored a result. */
  readonly interruptions: number;
};

/** The result of a call as JSON texts. Both are null while the call is queued. */
export type ActionOutcome = { readonly response: string | null; readonly errors: string | null };

export interface ActionCalls {
  /** Adds a call and returns its id. */
  readonly add: (call: NewActionCall) => Promise<string>;
  /** Claims the oldest calls. An interrupted call is claimed by itself, and only if no other call is and `takesInterrupted` is true. */
  readonly claim: (
    most: number,
    leaseSeconds: number,
    takesInterrupted: boolean,
  ) => Promise<readonly QueuedActionCall[]>;
  readonly finish: (id: string, outcome: ActionOutcome) => Promise<void>;
  /** Returns a call with these session variables, or with any if they are null. `createdAt` is JSON text. */
  readonly find: (
    id: string,
    action: string,
    sessionVariables: Readonly<Record<string, string>> | null,
  ) => Promise<(ActionOutcome & { readonly createdAt: string }) | null>;
  /** Deletes all calls of an action. */
  readonly clear: (action: string) => Promise<void>;
}

export interface ActionCallQueue {
  readonly calls: ActionCalls;
  /** Looks for queued calls now. */
  look(): void;
}

/** The webhooks of the model: those that validate input, those of actions, and those of events.
 *  Not here: calling them (webhook/). */
import type { Header, RequestTransform } from '../../metadata/schema/common.ts';

/** A webhook that validates the input of a mutation before anything is written. */
export type InputValidation = {
  /** The URL, which may contain `{{NAME}}` for environment variables. */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly forwardsClientHeaders: boolean;
  readonly timeoutSeconds: number;
};

export type ActionWebhook = InputValidation & {
  readonly ignoredClientHeaders?: readonly string[];
  readonly requestTransform?: RequestTransform;
};

export type EventWebhook = InputValidation & { readonly requestTransform?: RequestTransform };

/** Retries after the first attempt. */
export type Retries = { readonly most: number; readonly intervalSeconds: number };

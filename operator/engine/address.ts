/** The address of an engine, and how requests to it are sent. Not here: the requests (client.ts, permission-test.ts). */
export type EngineAddress = {
  /** The URL of the engine without a path. */
  readonly url: string;
  readonly adminSecret?: string | undefined;
  /** The prefix of header names. The default is `x-engine-`. */
  readonly headerPrefix?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** The value of the `user-agent` header. The default is `pergola-operator`. */
  readonly client?: string | undefined;
  /** A replacement for the global `fetch`, with certificates and keep-alive. */
  readonly fetch?: typeof fetch | undefined;
};

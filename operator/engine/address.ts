/** The address of an engine, and how requests to it are sent. Not here: the requests (client.ts, permission-test.ts). */
export type EngineAddress = {
  /** The URL of the engine without a path. */
  readonly url: string;
  readonly adminSecret?: string | undefined;
  /** The prefix of header names. The default is `x-engine-`. */
  readonly headerPrefix?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** The value of the headers `user-agent` and `graphql-client-name`. The default is `pergola-operator`. */
  readonly client?: string | undefined;
  /** A replacement for the global `fetch`, with certificates and keep-alive. */
  readonly fetch?: EngineFetch | undefined;
};

/** The part of `fetch` that requests to an engine use. Rejects with a network error, or an error that has it as its cause. */
export type EngineFetch = (
  url: string,
  request: {
    readonly method: string;
    readonly headers: Record<string, string>;
    /** The text, or its parts where it is long. */
    readonly body?: string | Iterable<string>;
    readonly signal: AbortSignal;
    /** A redirect would carry the admin secret to another server. */
    readonly redirect: 'manual';
  },
) => Promise<EngineResponse>;

export type EngineResponse = {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: { readonly get: (name: string) => string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
};

/** The most bytes of an answer. The largest known metadata have a few MB. */
const MOST_BYTES = 64 * 1024 * 1024;
/** The most bytes that are read of an error. An engine's error lists every inconsistent object and is read whole. */
const MOST_ERROR_BYTES = 16 * 1024 * 1024;

/** Reads a body. Raises an error when an answer that is no error is larger than 64 MiB. */
export async function bodyOf(response: EngineResponse): Promise<string> {
  const isError = response.status !== 200;
  const most = isError ? MOST_ERROR_BYTES : MOST_BYTES;
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  // Chunks are decoded as they arrive: whole metadata are in memory once. Leaving the loop cancels the rest of the body.
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk.subarray(0, most - bytes), { stream: true });
    bytes += chunk.length;
    if (bytes <= most) continue;
    if (isError) break;
    throw new Error(`its answer is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
  }
  return text + decoder.decode();
}

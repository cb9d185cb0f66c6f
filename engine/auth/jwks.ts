/** The keys of an identity provider, by URL. They are fetched before the engine is ready; again when the caching
 *  headers of the response say they are stale, or when a token names an unknown key; at most once a minute. Without
 *  caching headers they are kept. When a refresh fails, the previous keys are kept.
 *  Not here: verifying tokens (token.ts). Reference: docs/reference/behaviour/authentication.md. RFC 7517; RFC 9111
 *  for the headers. */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Observe } from '../observe/observation.ts';
import { publicUrl } from '../observe/webhook-call.ts';
import { sendRequest } from '../outgoing/http-client.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import { cachingOf, freshnessMs } from './freshness.ts';

type Jwks = {
  readonly find: JWTVerifyGetKey;
};

type Keys = ReturnType<typeof createLocalJWKSet>;

const LEAST_INTERVAL_MS = 60_000;
const TIMEOUT_MS = 10_000;
const MOST_BYTES = 1024 * 1024;

/** Fetches the keys. Throws when the first fetch fails: an engine that can verify no token is not ready. */
export async function openJwks(url: string, observe: Observe, trusts?: TrustsSelfSigned): Promise<Jwks> {
  let keys: Keys;
  let fetchedAt = 0;
  let staleAt = Number.POSITIVE_INFINITY;
  let refreshing: Promise<void> | undefined;

  const report = (failure: string | null) =>
    observe({ kind: 'keys refreshed', url: publicUrl(url), failure });
  const load = async (): Promise<void> => {
    fetchedAt = Date.now();
    const { headers, keySet } = await fetchKeys(url, trusts);
    keys = createLocalJWKSet(keySet);
    staleAt = fetchedAt + freshnessMs(cachingOf(headers), fetchedAt);
    report(null);
  };
  /** Runs one refresh at a time; all callers wait for the same one. */
  const refresh = (): Promise<void> => {
    if (Date.now() - fetchedAt < LEAST_INTERVAL_MS) return Promise.resolve();
    refreshing ??= load()
      .catch((error: unknown) => report(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  };

  await load();
  return {
    find: async (header, token) => {
      // Stale keys are used while newer ones are fetched.
      if (Date.now() > staleAt) void refresh();
      try {
        return await keys(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        await refresh();
        return keys(header, token);
      }
    },
  };
}

/** Parses the key set. The error contains no part of the text, unlike that of JSON.parse. */
function keySetIn(text: string): JSONWebKeySet {
  try {
    return JSON.parse(text) as JSONWebKeySet;
  } catch {
    throw new Error('it answered with something that is no JSON');
  }
}

/** Fetches the key set. Errors name the URL without its secret parts. */
async function fetchKeys(url: string, trusts: TrustsSelfSigned | undefined) {
  const options = { timeoutMs: TIMEOUT_MS, mostBytes: MOST_BYTES, isRepeatable: true, trusts };
  const accept = [['accept', 'application/json']] as const;
  try {
    const { status, headers, body } = await sendRequest(
      { url, method: 'GET', headers: accept, body: null },
      options,
    );
    if (status !== 200) throw new Error(`it answered ${status}`);
    return { headers, keySet: keySetIn(body.toString()) };
  } catch (error) {
    throw new Error(`the keys at ${publicUrl(url)} cannot be had: ${(error as Error).message}`);
  }
}

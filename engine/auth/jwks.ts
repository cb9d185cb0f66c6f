/** The keys of an identity provider, by URL. They are fetched before the engine is ready; again when the caching
 *  headers of the response say they are stale, or when no key fits a token; at most once a minute. Without caching
 *  headers they are kept. When a refresh fails, the previous keys are kept.
 *  Not here: verifying tokens (token.ts). Reference: docs/reference/behaviour/authentication.md. RFC 7517; RFC 7515,
 *  4.1.4 for key ids; RFC 9111 for the headers. */
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  type JWTVerifyGetKey,
} from 'jose';
import type { Observe } from '../observe/observation.ts';
import { publicUrl } from '../observe/webhook-call.ts';
import { sendRequest } from '../outgoing/http-client.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import { cachingOf, freshnessMs } from './freshness.ts';

type Jwks = {
  /** Yields the keys that may verify a token with this header: those with its `kid`, then those without one. A token without a `kid`
   *  may have been signed with any of them. */
  readonly candidates: (header: JWTHeaderParameters) => AsyncGenerator<CryptoKey>;
};

/** A set of keys. `ids` are the ids that its keys have; `unnamed` has the keys without one. */
type Keys = {
  readonly all: JWTVerifyGetKey;
  readonly unnamed: JWTVerifyGetKey;
  readonly ids: ReadonlySet<unknown>;
};

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
    keys = keysOf(keySet);
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
    candidates: async function* (header) {
      // Stale keys are used while newer ones are fetched.
      if (Date.now() > staleAt) void refresh();
      const tried = keys;
      yield* candidatesIn(tried, header);
      if (header.kid !== undefined && tried.ids.has(header.kid)) return;
      await refresh();
      if (keys !== tried) yield* candidatesIn(keys, header);
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

/** Throws for a set that is malformed. */
function keysOf(keySet: JSONWebKeySet): Keys {
  const all = createLocalJWKSet(keySet);
  const { keys } = keySet;
  return {
    all,
    unnamed: createLocalJWKSet({ keys: keys.filter(({ kid }) => kid === undefined) }),
    ids: new Set(keys.map(({ kid }) => kid)),
  };
}

async function* candidatesIn({ all, unnamed }: Keys, header: JWTHeaderParameters): AsyncGenerator<CryptoKey> {
  yield* matching(all, header);
  const { kid, ...withoutId } = header;
  if (kid !== undefined) yield* matching(unnamed, withoutId);
}

/** Yields the keys of the set that the algorithm and the id of a header allow. A key that cannot be read is left out. */
async function* matching(keys: JWTVerifyGetKey, header: JWTHeaderParameters): AsyncGenerator<CryptoKey> {
  try {
    yield (await keys(header, NO_TOKEN)) as CryptoKey;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) yield* error;
  }
}

/** Only the header of a token selects its key. */
const NO_TOKEN = { payload: '', signature: '' };

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

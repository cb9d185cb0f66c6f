/** Caches answers of remote schemas whose `Cache-Control` allows it, in the memory of this process, for queries and joins. A cached
 *  answer is used only for a request with the same address, document, variables and headers, which include session variables,
 *  role and forwarded headers. Reloading the remote schema invalidates its answers.
 *  This is a shared cache: answers that are `private`, set cookies or contain errors are not cached.
 *  In: the content of a request, and a function that sends it. Out: an answer. Not here: sending (http.ts).
 *  Source: RFC 9111, 3, 4.2, 5.2.2. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { JsonScanner } from '../json/scanner.ts';
import { Cache } from '../limits/cache-budget.ts';
import type { OutgoingResponse } from '../outgoing/http-client.ts';
import type { AnswerCache } from '../webhook/outbound.ts';

type Entry = { readonly answer: OutgoingResponse; readonly expiresAt: number };

/** The estimated bytes of an entry in addition to its body. */
const ENTRY_BYTES = 2000;

export class RemoteCache implements AnswerCache {
  readonly #entries: Cache<string, Entry>;
  readonly #now: () => number;
  readonly #owners = new WeakMap<object, number>();
  #ownerCount = 0;
  #hits = 0;
  #misses = 0;

  constructor(mostBytes: number, now: () => number = Date.now) {
    this.#entries = new Cache('remote_answers', undefined, mostBytes);
    this.#now = now;
  }

  get counts(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  /** `request` is everything the service receives. Entries of another `owner` are not used. */
  async answer(
    owner: object,
    request: readonly unknown[],
    fetch: () => Promise<OutgoingResponse>,
  ): Promise<OutgoingResponse> {
    const key = createHash('sha256')
      .update(JSON.stringify([this.#numberOf(owner), request]))
      .digest('base64');
    const entry = this.#entries.get(key);
    if (entry && entry.expiresAt > this.#now()) {
      this.#hits += 1;
      return entry.answer;
    }
    this.#misses += 1;
    const sentAt = this.#now();
    const answer = await fetch();
    const lifetimeMs = lifetimeMsOf(answer.headers);
    if (lifetimeMs > 0 && answer.status === 200 && isWhole(answer.body)) {
      const weight = { bytes: answer.body.length + ENTRY_BYTES, milliseconds: this.#now() - sentAt };
      this.#entries.set(key, { answer, expiresAt: sentAt + lifetimeMs }, weight);
    }
    return answer;
  }

  #numberOf(owner: object): number {
    const number = this.#owners.get(owner) ?? this.#ownerCount++;
    this.#owners.set(owner, number);
    return number;
  }
}

/** Returns how long an answer may be cached. Zero: not at all, which is also the default without `Cache-Control`. */
export function lifetimeMsOf(headers: IncomingHttpHeaders): number {
  const { 'cache-control': control = '', vary = '', age = '0' } = headers;
  const directives = new Map(
    control.split(',').map((part): [string, string] => {
      const [name = '', value = ''] = part.trim().toLowerCase().split('=');
      return [name, value.replaceAll('"', '')];
    }),
  );
  const isForbidden = ['no-store', 'no-cache', 'private'].some((name) => directives.has(name));
  if (isForbidden || vary.includes('*') || headers['set-cookie']) return 0;
  const seconds = directives.get('s-maxage') ?? directives.get('max-age') ?? '';
  return /^\d+$/.test(seconds) ? Math.max(0, Number(seconds) - (Number(age) || 0)) * 1000 : 0;
}

/** True when the body is JSON without errors. */
function isWhole(body: Buffer): boolean {
  let hasErrors = false;
  try {
    const scanner = new JsonScanner(body);
    scanner.members((name) => {
      hasErrors ||= name === 'errors';
      scanner.skip();
    });
    scanner.end();
    return !hasErrors;
  } catch {
    return false;
  }
}

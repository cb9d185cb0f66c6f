/** Answers of remote schemas that they allow to be kept (`Cache-Control`), in this process, in bounded memory, for queries and
 *  joins alone. An answer is given again only to a request that is the same in everything the service was told: address,
 *  document, variables and every header, so session variables, role and forwarded headers; whoever asks otherwise asks anew,
 *  and so does everybody once the remote schema has been reloaded.
 *  We are a cache that many share: what is `private` is not kept, nor what sets cookies or comes with errors.
 *  In: what is sent, and a way to ask. Out: an answer. Not here: asking (remote-http.ts). Source: RFC 9111, 3, 4.2, 5.2.2. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Lru } from '../limits/lru.ts';
import type { OutgoingResponse } from '../outgoing/http-client.ts';
import { JsonScanner } from './json-scanner.ts';

type Kept = { readonly answer: OutgoingResponse; readonly until: number };

/** What an entry weighs besides its body. */
const ENTRY_BYTES = 2000;

export class RemoteCache {
  readonly #kept: Lru<string, Kept>;
  readonly #now: () => number;
  readonly #owners = new WeakMap<object, number>();
  #ownerCount = 0;
  #hits = 0;
  #misses = 0;

  constructor(mostBytes: number, now: () => number = Date.now) {
    this.#kept = new Lru(mostBytes);
    this.#now = now;
  }

  get counts(): { readonly hits: number; readonly misses: number } {
    return { hits: this.#hits, misses: this.#misses };
  }

  /** `sent`: all the service is told. What was kept under another `owner` is not found. */
  async answer(
    owner: object,
    sent: readonly unknown[],
    ask: () => Promise<OutgoingResponse>,
  ): Promise<OutgoingResponse> {
    const key = createHash('sha256')
      .update(JSON.stringify([this.#numberOf(owner), sent]))
      .digest('base64');
    const kept = this.#kept.get(key);
    if (kept && kept.until > this.#now()) {
      this.#hits += 1;
      return kept.answer;
    }
    this.#misses += 1;
    const askedAt = this.#now();
    const answer = await ask();
    const lifetimeMs = lifetimeMsOf(answer.headers);
    if (lifetimeMs > 0 && answer.status === 200 && isWhole(answer.body)) {
      const { length } = answer.body;
      this.#kept.set(key, { answer, until: askedAt + lifetimeMs }, length + ENTRY_BYTES);
    }
    return answer;
  }

  #numberOf(owner: object): number {
    const number = this.#owners.get(owner) ?? this.#ownerCount++;
    this.#owners.set(owner, number);
    return number;
  }
}

/** Zero: it is not to be kept. Without a word about it, it is not. */
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

/** JSON, and no errors in it. */
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

/** The secret texts of one outbound request: what its variables, named values and files stand for, and the client's credentials that it
 *  forwards. Services may echo what they receive, and templates may print it, so whatever is logged or reported about the request is
 *  redacted here. In: texts and JSON. Out: the same with `{{NAME}}` instead of each secret, whole, cut off at its end, or encoded.
 *  Not here: sending (call.ts), what may be sent (resolve/environment-variables.ts). */
import { isRecord } from '../json/value.ts';
import type { OutboundVariables } from './outbound.ts';

/** Shorter texts are not secrets, and redacting them would make logs unreadable. */
const LEAST_CHARACTERS = 4;
/** A segment of a path is redacted by itself from this length, since shorter ones are ordinary words such as `graphql`. */
const LEAST_SEGMENT_CHARACTERS = 8;
/** A secret that is cut off is recognised by so many of its first characters. */
const SEED_CHARACTERS = 16;
/** Client headers with credentials. */
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'x-api-key']);

type Pattern = { readonly text: string; readonly marker: string };

export class SentSecrets {
  /** Reads a variable, and remembers its text. */
  readonly read: OutboundVariables;
  readonly #texts = new Map<string, string>();
  #patterns: readonly Pattern[] | undefined;

  constructor(variables: OutboundVariables) {
    this.read = (name) => {
      const text = variables(name);
      this.#texts.set(name, text);
      this.#patterns = undefined;
      return text;
    };
  }

  /** Remembers the credentials in headers that are forwarded. */
  addHeaders(headers: Iterable<readonly [string, string]>): void {
    for (const [name, value] of headers) {
      if (!CREDENTIAL_HEADERS.has(name)) continue;
      this.#texts.set(name, value);
      this.#patterns = undefined;
    }
  }

  redacted(text: string): string {
    this.#patterns ??= patternsOf(this.#texts);
    return this.#patterns.reduce((redacted, pattern) => withoutPattern(redacted, pattern), text);
  }

  /** Redacts every text in JSON, names of members included. */
  redactedJson(value: unknown): unknown {
    if (this.#texts.size === 0) return value;
    if (typeof value === 'string') return this.redacted(value);
    if (Array.isArray(value)) return value.map((item) => this.redactedJson(item));
    if (!isRecord(value) || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.redacted(name), this.redactedJson(item)]),
    );
  }
}

/** Returns the patterns of secrets, the longest first, because one may contain another. */
function patternsOf(texts: ReadonlyMap<string, string>): readonly Pattern[] {
  const patterns = new Map<string, string>();
  for (const [name, text] of texts) {
    for (const part of [text, text.trim(), ...partsOfUrl(text), ...partsOfCredentials(text)]) {
      if (part.length < LEAST_CHARACTERS) continue;
      for (const encoded of encodingsOf(part)) patterns.set(encoded, `{{${name}}}`);
    }
  }
  return [...patterns]
    .map(([text, marker]) => ({ text, marker }))
    .sort((one, other) => other.text.length - one.text.length);
}

/** Returns the forms in which the engine and services write a text. */
function encodingsOf(text: string): readonly string[] {
  const wellFormed = text.toWellFormed();
  const inJson = JSON.stringify(text).slice(1, -1);
  const encoded = encodeURIComponent(wellFormed);
  return [
    text,
    text.toLowerCase(),
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    inJson.replaceAll('/', '\\/'),
    encoded,
    encoded.replaceAll('%20', '+'),
    encodeURI(wellFormed),
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
  ];
}

/** Returns the parts of a URL that services see one by one: its user, password, host, path and parameters. */
function partsOfUrl(text: string): readonly string[] {
  const url = URL.parse(text.trim());
  if (!url?.host) return [];
  const { href, username, password, host, hostname, pathname, search } = url;
  const segments = pathname.split('/').filter(({ length }) => length >= LEAST_SEGMENT_CHARACTERS);
  const [user, pass] = [unescaped(username), unescaped(password)];
  return [
    ...[href, username, user, password, pass, username && `${user}:${pass}`, host, hostname],
    ...[pathname.slice(1), search.slice(1), ...segments, ...segments.map(unescaped)],
    ...url.searchParams.values(),
  ];
}

/** Returns the credentials of a header such as `Bearer TOKEN`. */
function partsOfCredentials(text: string): readonly string[] {
  const [, credentials] = /^\w+ +(\S+)$/.exec(text.trim()) ?? [];
  return credentials === undefined ? [] : [credentials];
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Replaces the pattern, and a beginning of it that is long enough to be recognised. */
function withoutPattern(text: string, { text: secret, marker }: Pattern): string {
  const seed = secret.slice(0, SEED_CHARACTERS);
  let redacted = '';
  let at = 0;
  for (let found = text.indexOf(seed); found >= 0; found = text.indexOf(seed, at)) {
    let end = found + seed.length;
    while (end < text.length && end - found < secret.length && text[end] === secret[end - found]) end += 1;
    redacted += text.slice(at, found) + marker;
    at = end;
  }
  return redacted + text.slice(at);
}

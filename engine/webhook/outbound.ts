/** What requests to webhooks and remote schemas take from the request that causes them: environment variables, headers,
 *  session variables, trace, and where their cookies and errors are noted.
 *  In: an OutboundContext. Out: headers as name-value pairs. Raises WebhookFailure for a variable that may not be sent.
 *  Not here: sending (call.ts, remote/http.ts). Reference: docs/reference/behaviour/metadata.md. */
import type { IncomingHttpHeaders } from 'node:http';
import type { CancelSignal } from '../limits/cancel-signal.ts';
import type { AnswerHolding } from '../limits/memory-budget.ts';
import { printReference } from '../metadata/references.ts';
import type { Header } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Observe } from '../observe/observation.ts';
import type { Span } from '../observe/span.ts';
import type { AnswerMemory } from '../outgoing/answer-memory.ts';
import { headerText } from '../outgoing/header-values.ts';
import type { OutgoingResponse } from '../outgoing/http-client.ts';
import type { TrustsSelfSigned } from '../outgoing/tls-allowlist.ts';
import {
  type Environment,
  headerValue,
  type ReferenceReader,
  textOf,
  VariableRules,
} from '../resolve/environment-variables.ts';
import { SESSION_PREFIX, type Session } from '../resolve/session.ts';
import type { TransformedRequest } from '../transform/request.ts';
import type { TemplateProblem } from '../transform/template.ts';
import type { ActionCallQueue } from './async-action-types.ts';

/** Returns the text of an environment variable, named value or file that may be sent. Raises WebhookFailure for one that is not set or
 *  is never sent. */
export type OutboundVariables = (name: string) => string;

/** Applies the rules of the current document whenever a request leaves: not all that is sent was in a document when it was
 *  checked (one-off events), and a source may have been added since. */
export function outboundVariables(
  env: Environment,
  metadata: () => Pick<Metadata, 'sources'>,
  reader?: ReferenceReader,
): OutboundVariables {
  let cached: { readonly sources: Metadata['sources']; readonly rules: VariableRules } | undefined;
  return (name) => {
    const { sources } = metadata();
    if (cached?.sources !== sources) cached = { sources, rules: new VariableRules({ sources }, env, reader) };
    const problem = cached.rules.problemOf(name);
    const text = problem === null ? textOf(name, env, reader) : undefined;
    if (text === undefined) throw new WebhookFailure(problem ?? `${printReference(name)} is not set`);
    return text;
  };
}

/** The part of a request that its outbound requests may use. */
export type OutboundContext = {
  readonly variables: OutboundVariables;
  /** The headers of the client, with names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The first part of the engine's headers on the wire, such as `x-engine-`. */
  readonly headerPrefix: string;
  /** Decides whose certificates may be self-signed. Absent: no host's. */
  readonly trusts?: TrustsSelfSigned | undefined;
  readonly observe?: Observe;
  /** The id of the request that causes the outbound request. */
  readonly requestId?: string;
  /** The span of the request that causes the outbound request. */
  readonly span?: Span | null;
  /** Aborted when the client no longer waits for the response. */
  readonly signal?: CancelSignal | undefined;
  /** Holds the bytes of results and answers until the client has received the response. */
  readonly holding?: AnswerHolding | undefined;
  /** True when the client may see the causes of failures. */
  readonly showsInternal?: boolean;
  readonly record?: ResponseNotes | undefined;
  /** The memory of the answers to the request, until its response is composed. Absent where no answer can be long. */
  readonly memory?: AnswerMemory | undefined;
  readonly asyncActions?: ActionCallQueue;
  /** Absent when answers of remote schemas are not cached. */
  readonly remoteCache?: AnswerCache | null;
  /** True when an action's configured headers take precedence over the client's (--configured-header-precedence). */
  readonly configuredHeaderPrecedence?: boolean;
};

/** The results of a request besides the response body. */
type ResponseNotes = {
  /** Values of Set-Cookie headers that webhooks and remote schemas sent for the client. */
  cookies: readonly string[] | null;
  /** The errors that stand beside data in the response, for logs. Null when there are none. */
  error: unknown;
};

/** A cache of answers of remote schemas: remote/cache.ts. */
export interface AnswerCache {
  /** Returns the cached answer of `owner` to a request with the same content, or the answer of `fetch`. */
  answer(
    owner: object,
    request: readonly unknown[],
    fetch: () => Promise<OutgoingResponse>,
  ): Promise<OutgoingResponse>;
}

/** A webhook that could not be called. The message contains no resolved value, because the environment may hold secrets.
 *  `problem` is a template's error. `sent` is the request when no response arrived. */
export class WebhookFailure extends Error {
  readonly problem: TemplateProblem | undefined;
  readonly sent: TransformedRequest | undefined;

  constructor(message: string, about: { problem?: TemplateProblem; sent?: TransformedRequest } = {}) {
    super(message);
    this.problem = about.problem;
    this.sent = about.sent;
  }
}

/** A header of a webhook or remote schema, as the metadata has it. */
export type ConfiguredHeader = Header;

/** Client headers that are not forwarded unless the webhook lists its own. */
const IGNORED: readonly string[] = [
  'accept',
  'accept-datetime',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'connection',
  'content-length',
  'content-md5',
  'content-type',
  'dnt',
  'host',
  'origin',
  'referer',
  'user-agent',
];

/** Headers that describe the client's connection or the bytes on it. They are never forwarded. RFC 9110, 7.6.1. */
const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns the session variables under the names that clients use. */
export function sessionVariablesOf({ variables }: Session, prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [prefix + name.slice(SESSION_PREFIX.length), value]),
  );
}

/** Returns the headers of the metadata, with names in lower case. Raises WebhookFailure like `variables`. */
export function configuredHeaders(
  { headers }: { readonly headers: readonly ConfiguredHeader[] },
  variables: OutboundVariables,
): readonly [string, string][] {
  return headers.map((header) => [header.name.toLowerCase(), headerValue(header, variables)]);
}

/** The client's headers a webhook receives. Headers with the engine's prefix are forwarded only where the session has that
 *  variable with that value: a webhook takes them for session variables, and a client can send any. The admin secret never is. */
export function forwardedHeaders(
  { ignoredClientHeaders = IGNORED }: { readonly ignoredClientHeaders?: readonly string[] },
  { sessionVariables }: { readonly sessionVariables: Readonly<Record<string, string>> },
  { headers, headerPrefix }: OutboundContext,
): readonly [string, string][] {
  const ignored = new Set(ignoredClientHeaders.map((name) => name.toLowerCase()));
  const isForwarded = (name: string, value: string) =>
    !ignored.has(name) &&
    !NEVER_FORWARDED.has(name) &&
    !(name.startsWith(headerPrefix) && sessionVariables[name] !== value) &&
    !name.startsWith('sec-websocket-');
  return Object.entries(headers).flatMap(([name, given]): [string, string][] => {
    if (given === undefined) return [];
    const value = headerText(given);
    return isForwarded(name, value) ? [[name, value]] : [];
  });
}

/** Returns one entry for each header value, as logs and administrators see them. */
export function headerList(
  headers: IncomingHttpHeaders,
): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => ({ name, value: each })),
  );
}

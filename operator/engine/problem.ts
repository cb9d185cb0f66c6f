/** A failed request to an engine as an EngineProblem: unreachable (network, timeout, 5xx, or something else than an engine answers),
 *  unauthorized, conflict (409), tooLarge (413), inconsistent, rejected. Its message has the error of an engine, shortened and without the
 *  admin secret, and nothing of any other answer: the author of an Engine resource, who reads the message, chooses what is requested. Pure. Not here: sending (request.ts), when a request is sent again (pass/attempt.ts, and the callers of a pass). */
import { EngineProblem } from '../ports/engine-problem.ts';
import type { EngineAddress } from './address.ts';

export type Answer = {
  readonly status: number;
  /** The content type; empty when there is none. */
  readonly contentType: string;
  readonly location: string | null;
  /** Empty when the text was parsed. */
  readonly text: string;
  /** The value of a response that is JSON. */
  readonly json?: { readonly value: unknown };
};

export function problemOf(response: Answer, address: EngineAddress): EngineProblem {
  const { status, text } = response;
  const url = displayUrl(address);
  const { code, error, path } = refusalIn(text);
  const isOfEngine = path !== undefined && CODE.test(code ?? '');
  const detail = isOfEngine ? excerpt(withoutSecret(error ?? '', address.adminSecret)) : NOT_OF_ENGINE;
  if (status === 401 || status === 403 || code === 'access-denied') {
    return new EngineProblem('unauthorized', `${url} does not accept the admin secret: ${detail}`);
  }
  if (status === 400 && code === INCONSISTENT) {
    return new EngineProblem('inconsistent', `${url} finds the change does not fit: ${detail}`);
  }
  if (status === 409) {
    return new EngineProblem('conflict', `the metadata of ${url} changed meanwhile: ${detail}`);
  }
  const message = `${url} answers ${status}: ${detail}`;
  // A proxy before the engine may be the one that refuses the size.
  if (status === 413) return new EngineProblem('tooLarge', message, { reason: detail });
  if (code === undefined && status < 500)
    return unexpectedAnswer(whatIs(response, address), response, address);
  const mayPass = status >= 500 || status === 404 || status === 429 || status === 408;
  return new EngineProblem(mayPass ? 'unreachable' : 'rejected', message, { reason: detail, at: path });
}

/** Returns the problem of an answer that is not the one of an engine of this version. */
export function unexpectedAnswer(what: string, response: Answer, address: EngineAddress): EngineProblem {
  const detail =
    `${displayUrl(address)} does not answer as an engine of this version: ${what}. It sent ${response.status} ` +
    `${contentTypeOf(response)}. Check the endpoint, and that the engine is not older than the operator`;
  return new EngineProblem('unreachable', withoutSecret(detail, address.adminSecret));
}

/** The content types that a message names. */
const CONTENT_TYPES = ['application/json', 'text/html', 'text/plain', 'application/xml', 'text/xml'];

function contentTypeOf({ contentType }: Answer): string {
  if (contentType === '') return 'without a content type';
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  return CONTENT_TYPES.includes(type) ? type : 'with another content type';
}

/** Returns the URL of the engine without a user and password. */
export function displayUrl({ url }: EngineAddress): string {
  if (!URL.canParse(url)) return 'its endpoint';
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

/** Returns the problem of a request that was not answered, because of an error of the network or the time limit. */
export function unanswered(address: EngineAddress, error: unknown): EngineProblem {
  const cause = causeOf(error);
  const detail = `the engine at ${displayUrl(address)} does not answer: ${cause}${adviceOn(error, cause)}`;
  return new EngineProblem('unreachable', withoutSecret(detail, address.adminSecret), { cause: error });
}

/** Returns the cause of a network error. The message of `fetch` is only "fetch failed", or repeats a URL with its password. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message.includes('includes credentials')) {
    return 'its URL has a user or a password, which belong into adminSecretRef';
  }
  const { message } = networkErrorOf(error);
  // The message of a TLS error has names of the certificate.
  const code = codeOf(error) ?? '';
  if (/^(CERT|ERR_TLS|ERR_SSL|UNABLE|DEPTH|SELF_SIGNED|HPE)/.test(code)) return code;
  return message === '' ? (codeOf(error) ?? error.message) : message;
}

/** Returns the error of the connection, which `fetch` wraps. */
function networkErrorOf(error: Error): Error {
  return error.cause instanceof Error ? error.cause : error;
}

/** Returns the code of the network error. The one of a DOMException is a number and means nothing. */
function codeOf(error: Error): string | undefined {
  const { code } = networkErrorOf(error) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

function adviceOn(error: unknown, detail: string): string {
  const code = (error instanceof Error && codeOf(error)) || '';
  if (/CERT|SIGNATURE|ALTNAME/.test(code) || detail.includes('certificate')) {
    return '; name the authority of its certificate in spec.tls.caRef';
  }
  if (code === 'EPROTO' || detail.includes('SSL') || code.startsWith('HPE_')) {
    return '; is the endpoint https, or http?';
  }
  return '';
}

/** Returns a description of the answer. A redirect is not followed; on the same host it may lead to the right endpoint. */
function whatIs({ status, location }: Answer, { url }: EngineAddress): string {
  if (status < 300 || status >= 400) return `it answers ${status}`;
  const target = location === null ? null : URL.parse(location, url);
  if (target?.hostname !== URL.parse(url)?.hostname) return 'it redirects elsewhere';
  return `it redirects to ${target?.protocol === 'https:' ? 'https' : 'another path'} on its host`;
}

/** The error code of the engine for a document with inconsistent objects (ERRORS, `inconsistentMetadata`). */
const INCONSISTENT = 'unexpected';

type ErrorBody = { readonly code?: string; readonly error?: string; readonly path?: string | undefined };

const NOT_OF_ENGINE = 'the answer is not an error of an engine';

/** The form of the codes of ERRORS, and of paths. */
const CODE = /^[a-z]+(-[a-z]+)*$/;
const PATH = /^\$/;

/** Returns the code, text and path of an error of the engine. Only one with a path is one for certain. */
function refusalIn(text: string): ErrorBody {
  try {
    const body = JSON.parse(text) as { readonly [key in keyof ErrorBody]: unknown } | null;
    const { code, error, path } = body ?? {};
    if (typeof code !== 'string' || typeof error !== 'string') return {};
    return { code, error, path: typeof path === 'string' && PATH.test(path) ? path : undefined };
  } catch {
    return {};
  }
}

const MOST_CHARACTERS = 160;

/** The least length of a secret to mask. A shorter one would be replaced inside ordinary words. */
const LEAST_SECRET = 4;

/** Returns the text as one short line. */
function excerpt(text: string): string {
  const line = text
    .slice(0, 4 * MOST_CHARACTERS)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the line
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}

/** Returns the text without the secret: a service may send back its requests. */
function withoutSecret(text: string, secret: string | undefined): string {
  if (secret === undefined || secret.length < LEAST_SECRET) return text;
  const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  return [...forms].reduce((left, form) => left.replaceAll(form, '•••'), text);
}

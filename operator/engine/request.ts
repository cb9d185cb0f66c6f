/** One request to an engine over HTTP, and its answer. Requests are typed by OPERATIONS.
 *  A body is printed in parts of about 64 KiB, so that the text of a request with tens of thousands of objects is never in memory as a whole.
 *  In: an address, a request, how its answer is read. Out: the answer. Throws EngineProblem (problem.ts).
 *  Not here: which requests there are (client.ts), what answers look like (answers.ts). */
import { type ArgsOf, isRecord, type OperationName, parseJson } from '@pergola/engine/metadata';
import { EngineProblem } from '../ports/engine-problem.ts';
import { bodyOf, type EngineAddress, type EngineFetch } from './address.ts';
import { UnexpectedAnswer } from './answers.ts';
import { type Answer, problemOf, unanswered, unexpectedAnswer } from './problem.ts';

const TIMEOUT_MS = 30_000;
/** How long the engine waits for a database or a remote schema that a change connects. The engine takes in later what answers later, and the
 *  other changes of the pass wait no longer. */
const TARGET_WAIT_SECONDS = 1;

type Request = {
  readonly type: string;
  readonly version?: number;
  /** The request fails with `conflict` when the engine is at another version. */
  readonly resource_version?: number;
  readonly args: unknown;
};

export function operation<N extends OperationName>(type: N, args: ArgsOf<N>, version = 1): Request {
  return { type, version, args };
}

/** Sends one request to `/v1/metadata`. `read` raises UnexpectedAnswer. Throws EngineProblem. */
export function perform<T>(address: EngineAddress, body: Request, read: (answer: unknown) => T): Promise<T> {
  return request(address, '/v1/metadata', body, read);
}

export async function request<T>(
  address: EngineAddress,
  path: string,
  body: unknown,
  read: (answer: unknown) => T,
): Promise<T> {
  const prefix = prefixOf(address);
  const response = await send(address, path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': address.client ?? 'pergola-operator',
      prefer: `wait=${TARGET_WAIT_SECONDS}`,
      ...(address.adminSecret === undefined ? {} : { [`${prefix}admin-secret`]: address.adminSecret }),
    },
    redirect: 'manual',
    ...(body === undefined ? {} : { body: bodyFor(address, body) }),
  });
  if (response.status !== 200) throw problemOf(response, address);
  return answerOf(response, address, read);
}

export function prefixOf({ headerPrefix = 'x-engine-' }: EngineAddress): string {
  return headerPrefix;
}

/** Returns the JSON of a request, in parts where it is long. `fetch` takes a whole text: throws EngineProblem `tooLarge` for it when it
 *  exceeds the longest possible string. */
function bodyFor(address: EngineAddress, body: unknown): string | Iterable<string> {
  if (address.fetch) return partsOf(body);
  try {
    return JSON.stringify(body);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new EngineProblem('tooLarge', `the request is too large to send: ${cause.message}`, { cause });
  }
}

function partsOf(body: unknown): string | Iterable<string> {
  const parts = jsonParts(body);
  const first = parts.next().value ?? '';
  const second = parts.next();
  return second.done ? first : joined([first, second.value], parts);
}

function* joined(...lists: readonly Iterable<string>[]): Generator<string> {
  for (const list of lists) yield* list;
}

async function send(
  address: EngineAddress,
  path: string,
  init: Omit<Parameters<EngineFetch>[1], 'signal'>,
): Promise<Answer> {
  return parsed(await receive(address, path, init));
}

/** Sends a request and returns its answer, whatever it is. Throws EngineProblem `unreachable` when there is none in time. */
export async function receive(
  address: EngineAddress,
  path: string,
  init: Omit<Parameters<EngineFetch>[1], 'signal'>,
): Promise<Answer> {
  try {
    const url = urlFor(address, path);
    const signal = AbortSignal.timeout(address.timeoutMs ?? TIMEOUT_MS);
    const response = await (address.fetch ?? (fetch as EngineFetch))(url, { ...init, signal });
    return {
      status: response.status,
      contentType: response.headers.get('content-type') ?? '',
      location: response.headers.get('location'),
      text: await bodyOf(response),
    };
  } catch (error) {
    throw unanswered(address, error);
  }
}

/** Returns the URL of a path. Raises an error for an address with more than a path: it would make the path part of something else. */
function urlFor({ url }: EngineAddress, path: string): string {
  if (/[?#\\]/.test(url)) throw new Error('its URL has a query, a fragment or a backslash');
  return url.replace(/\/+$/, '') + path;
}

/** Returns the response with the value instead of its text. The text of whole metadata is not kept while they are read. */
function parsed(response: Answer): Answer {
  if (response.status !== 200) return response;
  try {
    return { ...response, text: '', json: { value: parseJson(response.text) } };
  } catch {
    return response;
  }
}

function answerOf<T>(response: Answer, address: EngineAddress, read: (answer: unknown) => T): T {
  const { contentType, text, json } = response;
  if (contentType !== '' && !/[/+]json\b/i.test(contentType)) {
    throw unexpectedAnswer('its content type is not JSON', response, address);
  }
  if (!json) {
    throw unexpectedAnswer(text === '' ? 'its answer is empty' : 'its answer is not JSON', response, address);
  }
  try {
    return read(json.value);
  } catch (error) {
    if (!(error instanceof UnexpectedAnswer)) throw error;
    throw unexpectedAnswer(error.message, response, address);
  }
}

const PART_CHARACTERS = 65_536;
/** Lists and objects at deeper levels are printed at once. The objects of a write are five levels below its body. */
const MOST_LEVELS = 5;

/** Yields what JSON.stringify returns, in at least one part. Only the last one may be shorter than 64 Ki characters. */
export function* jsonParts(value: unknown): Generator<string> {
  let part = '';
  for (const piece of piecesOf(value, MOST_LEVELS)) {
    part += piece;
    if (part.length < PART_CHARACTERS) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}

function* piecesOf(value: unknown, levels: number): Generator<string> {
  if (levels > 0 && Array.isArray(value)) {
    let separator = '[';
    for (const item of value) {
      yield separator;
      yield* piecesOf(item ?? null, levels - 1);
      separator = ',';
    }
    yield separator === '[' ? '[]' : ']';
  } else if (levels > 0 && isRecord(value)) {
    let separator = '{';
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue;
      yield `${separator}${JSON.stringify(key)}:`;
      yield* piecesOf(item, levels - 1);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  } else yield JSON.stringify(value);
}

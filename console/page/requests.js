/** The requests of the pages: GraphQL and admin operations over HTTP, each with the headers of the role and the secret.
 *  Not here: what is kept (session.js), the headers (headers.js), the operations of Explore (fetcher.js). */
import { headersOf } from './credentials.js';
import { parseWithAllDigits } from './digits.js';
import { sentHeaders } from './headers.js';
import { PREFIX, ROOT } from './session.js';

/** Receives an event `denial` when the engine refuses a request because of who sent it. */
export const denials = new EventTarget();

/** Resolves to the data of a query, which is the JSON text `question`, with the headers of `viewAs`. Rejects with the message of the engine,
 *  and `isOutdated`. */
export async function queryData(viewAs, session, question, signal) {
  const { body } = await answerTo(
    '../v1/graphql',
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...sentHeaders(headersOf(session), viewAs) },
      body: question,
      signal,
    },
    readWithAllDigits,
  );
  if (denialIn(body) !== undefined) reportDenial();
  if (body.errors || body.error) throw failureOf(body);
  return body.data;
}

/** The end of the path of an operand, such as `.where.id._eq`. */
const OPERAND = /\._\w+(\[\d+\])*$/;

/** Returns the first error of an answer. It is outdated when the schema does not have what the page asks for, which it has read there before, and not when
 *  an operand has no value of its type. */
function failureOf({ errors: [{ message, extensions }] = [{}], error, internal }) {
  const text = withReason(message ?? error, extensions?.internal ?? internal);
  const isOutdated = extensions?.code === 'validation-failed' && !OPERAND.test(extensions.path ?? '');
  return Object.assign(new Error(text), { isOutdated });
}

/** Adds the words of the database, which the engine sends to administrators, such as why it cannot be reached. */
function withReason(message, internal) {
  const reason = internal?.error?.message;
  return typeof reason !== 'string' || message.includes(reason) ? message : `${message}: ${reason}`;
}

/** Resolves to the statements and plans of the root fields of an operation, as the session of `user`. Rejects with the message of the engine. */
export async function explain(session, question, user) {
  const { body } = await post('../v1/graphql/explain', { query: question, user }, headersOf(session));
  if (body?.error !== undefined) throw new Error(withReason(body.error, body.internal));
  // A subscription has one root field, whose name is left out.
  return Array.isArray(body) ? body : [body];
}

/** Resolves to what the engine allows with the credentials, `{access: 'administrator' | 'console' | 'role', role}`, to why it refuses
 *  them, `{denial}`, or to `{isSilent: true}` when it does not answer. The configuration is for administrators and the console secret. */
export async function accessOf(credentials) {
  const headers = headersOf(credentials);
  if (!areHeaders(headers)) return { denial: 'a browser cannot send it' };
  try {
    const response = await fetch(new URL('../v1alpha1/config', ROOT), { headers });
    const { error = '', code } = await response.json();
    if (response.ok) return { access: credentials.kind === 'console' ? 'console' : 'administrator' };
    if (response.status === 400 && code === 'access-denied') {
      const role = decodeURIComponent(response.headers.get(`${PREFIX}role`) ?? '');
      return { access: 'role', role };
    }
    return response.status === 404 ? await accessWithoutConfig(credentials, headers) : { denial: error };
  } catch {
    return { isSilent: true };
  }
}

/** Returns true when a browser can send the headers: their values have no line breaks and only Latin-1 characters. */
function areHeaders(headers) {
  try {
    new Headers(headers);
    return true;
  } catch {
    return false;
  }
}

/** The same for an engine that serves no configuration (`--enabled-apis`). */
async function accessWithoutConfig({ kind }, headers) {
  // With this type, the status says whether the engine refuses the credentials, or their role.
  const accept = 'application/graphql-response+json';
  const { status, body } = await send('../v1/graphql', { query: '{ __typename }' }, { accept, ...headers });
  const denial = denialIn(body);
  const lacksRole = kind === 'console' && status === 400;
  if (denial !== undefined && !lacksRole) return { denial };
  return { access: { admin: 'administrator', console: 'console' }[kind] ?? 'role' };
}

/** Performs an operation of the admin API; the numbers of its answer keep all digits. With a version, only while it is the current one of the metadata (`conflict`). Rejects with the message of the
 *  engine, its code, and the path that it is about. */
export async function perform(session, type, args, version) {
  const question = { type, args, ...(version !== undefined && { resource_version: version }) };
  const { body } = await post('../v1/metadata', question, headersOf(session), readWithAllDigits);
  if (body?.error !== undefined) {
    const { error, internal, path, code } = body;
    throw Object.assign(new Error(withReason(error, internal)), { path, code });
  }
  return body;
}

/** Resolves to the status and the body of an answer. `read` reads the body, as JSON by default; `signal` cancels the request. */
export async function post(path, question, headers, read, signal) {
  const answer = await send(path, question, headers, read, signal);
  if (denialIn(answer.body) !== undefined) reportDenial();
  return answer;
}

function send(path, question, headers, read = (response) => response.json(), signal = undefined) {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(question),
    signal,
  };
  return answerTo(path, request, read);
}

/** Resolves to the body of an answer, whose numbers keep all digits. */
export async function readWithAllDigits(response) {
  return parseWithAllDigits(await response.text());
}

const CLIENT = 'pergola-console';

/** Returns the headers with the name of the console among the clients of the engine, unless those of Explore have another one. */
export function withClient(headers) {
  return { 'graphql-client-name': CLIENT, ...headers };
}

/** Why a request has no answer: browsers say "Failed to fetch" or "NetworkError", each in words of its own. */
export const NO_ANSWER = 'The engine does not answer. It may be restarting: try again.';

/** Resolves to the status and the body of an answer. Rejects with a sentence when there is none, or when a proxy answers in place of the engine. */
async function answerTo(path, request, read) {
  let status;
  try {
    const headers = withClient(request.headers);
    const response = await fetch(new URL(path, ROOT), { ...request, headers });
    ({ status } = response);
    return { status, body: await read(response) };
  } catch (error) {
    // Of `fetch` and of a body that is no JSON; the others are mistakes of the page, or cancelled by the user.
    const isOfAnswer = error instanceof TypeError || error instanceof SyntaxError;
    if (!isOfAnswer || request.signal?.aborted) throw error;
    throw new Error(status === undefined || status < 400 ? NO_ANSWER : `${NO_ANSWER} (HTTP ${status})`);
  }
}

export function reportDenial() {
  denials.dispatchEvent(new Event('denial'));
}

const DENIALS = ['access-denied', 'invalid-jwt', 'invalid-headers', 'jwt-missing-role-claims'];

/** Returns the message of a refusal because of who sent the request, of GraphQL or the admin API; undefined for other answers. */
export function denialIn({ errors, code, error }) {
  if (DENIALS.includes(code)) return error;
  return errors?.find(({ extensions }) => DENIALS.includes(extensions?.code))?.message;
}

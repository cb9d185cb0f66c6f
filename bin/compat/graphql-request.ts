/** One GraphQL request to an endpoint of either engine, whose session variables have the prefix of the endpoint.
 *  In: an address, a request. Out: status and body. Throws EngineProblem when there is no JSON. */
import { isRecord, type JsonRecord } from '../../engine/json/value.ts';
import { parseJson } from '../../engine/metadata/index.ts';
import type { EngineAddress } from '../../operator/engine/address.ts';
import { displayUrl } from '../../operator/engine/problem.ts';
import { prefixOf, receive } from '../../operator/engine/request.ts';
import { EngineProblem } from '../../operator/ports/engine-problem.ts';

export type GraphqlRequest = {
  readonly query: string;
  readonly variables?: JsonRecord | undefined;
  readonly operationName?: string | undefined;
  /** The role; undefined for that of the credentials in `headers`, or of administrators. */
  readonly role?: string | undefined;
  /** Session variables by their name, with any prefix or none: `user-id`, `x-hasura-user-id`. */
  readonly session?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

const PREFIX = /^x-(hasura|engine)-/;

export type GraphqlAnswer = { readonly status: number; readonly body: JsonRecord };

export async function requestGraphql(
  address: EngineAddress,
  request: GraphqlRequest,
): Promise<GraphqlAnswer> {
  const { query, variables, operationName } = request;
  const { status, text } = await receive(address, '/v1/graphql', {
    method: 'POST',
    headers: { ...headersOf(address, request), 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables, operationName }),
    redirect: 'manual',
  });
  return { status, body: bodyIn(text, status, address) };
}

/** Returns the headers that say who sends the request. Credentials of a client count only without the admin secret, which is then left out. */
export function headersOf(
  address: EngineAddress,
  { role, session = {}, headers = {} }: GraphqlRequest,
): Readonly<Record<string, string>> {
  const prefix = prefixOf(address);
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const hasOwn = 'authorization' in lower || 'cookie' in lower;
  const secret = hasOwn ? undefined : address.adminSecret;
  const variablesOfSession = Object.entries(session).map(([name, value]) => [
    prefix + name.toLowerCase().replace(PREFIX, ''),
    value,
  ]);
  return {
    ...lower,
    ...Object.fromEntries(variablesOfSession),
    ...(role === undefined ? {} : { [`${prefix}role`]: role }),
    ...(secret === undefined ? {} : { [`${prefix}admin-secret`]: secret }),
  };
}

function bodyIn(text: string, status: number, address: EngineAddress): JsonRecord {
  try {
    const body = parseJson(text);
    if (isRecord(body)) return body;
  } catch {
    // Reported below, without the text: another service may have sent it.
  }
  throw new EngineProblem('unreachable', `${displayUrl(address)} sent no GraphQL response (${status})`);
}

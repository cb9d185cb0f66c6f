/** Asks remote schemas: what they are (introspection), and documents of a plan. One request each, over HTTP.
 *  Raises `remoteSchemaUnreachable`, `remoteSchemaInvalid`, `remoteAnswerInvalid`. Not here: connections and headers
 *  (remote-http.ts), what an answer says (remote-answer.ts), its place in the response (calls.ts). */
import { EngineError, fail } from '../errors/engine-error.ts';
import type { RemoteSchemaDefinition } from '../metadata/schema/remote-schema.ts';
import type { RemoteCall } from '../plan/remote-types.ts';
import { INTROSPECTION_QUERY, readIntrospection } from '../resolve/introspection.ts';
import { presetValue, withPresets } from '../resolve/remote-preset.ts';
import { endpointOf, type Upstream } from '../resolve/remote-schema.ts';
import { ADMIN_ROLE, SESSION_PREFIX, type Session } from '../resolve/session.ts';
import type { RemoteEndpoint } from '../resolve/types.ts';
import type { Variables } from './bind.ts';
import { type Pieces, readAnswer } from './remote-answer.ts';
import { askRemote, type RemoteAsker } from './remote-http.ts';
import type { OutboundContext } from './webhook.ts';

const ENGINE_ITSELF: Session = {
  role: ADMIN_ROLE,
  variables: { [`${SESSION_PREFIX}role`]: ADMIN_ROLE },
  mayUseBackendOnly: false,
};

/** Never throws what a service can cause: one that cannot be asked, or says nonsense, has an error. */
export async function introspectRemote(
  definition: RemoteSchemaDefinition,
  outbound: Pick<OutboundContext, 'variables' | 'headerPrefix' | 'trusts'>,
  timeLimitMs: number,
): Promise<Upstream> {
  try {
    const endpoint = endpointOf(definition);
    const body = JSON.stringify({ query: INTROSPECTION_QUERY, operationName: 'IntrospectionQuery' });
    const asker = {
      session: ENGINE_ITSELF,
      outbound: { ...outbound, headers: {} },
      timeLimitMs,
      isRepeatable: true,
    };
    const answer = await askRemote(endpoint, body, asker);
    const introspection = dataOf(answer.body.toString(), endpoint, answer.status);
    return { introspection, schema: readIntrospection(introspection) };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { error };
  }
}

function dataOf(text: string, { url }: RemoteEndpoint, status: number): unknown {
  const body = parsed(text);
  if (body?.data !== undefined && body.data !== null) return body.data;
  const internal = { status, body: body?.errors ?? text.slice(0, 1000) };
  const reason = `there is no introspection in it (status ${status})`;
  return fail('remoteAnswerInvalid', { url, reason }, { internal });
}

function parsed(text: string): { readonly data?: unknown; readonly errors?: unknown } | null {
  try {
    return JSON.parse(text) as object | null;
  } catch {
    return null;
  }
}

/** `setCookies` are those the remote has for the client. */
export async function callRemote(
  call: RemoteCall,
  variables: Variables,
  asker: Omit<RemoteAsker, 'isRepeatable' | 'schema'>,
): Promise<Pieces & { readonly setCookies: readonly string[] }> {
  const { isRepeatable, remote } = call;
  const body = JSON.stringify(requestOf(call, variables, asker.session));
  const { endpoint, schema } = remote;
  const answer = await askRemote(endpoint, body, { ...asker, isRepeatable, schema });
  return { ...readAnswer(answer, call), setCookies: answer.headers['set-cookie'] ?? [] };
}

/** As it is sent. Raises `sessionVariableExpected`, `notCoercible`. */
export function requestOf(call: RemoteCall, given: Variables, session: Session): object {
  const { operationName, query } = call;
  const variables = valuesOf(call, given, session);
  return { query, variables, ...(operationName === null ? {} : { operationName }) };
}

/** Variables that were not given are not sent. Raises `sessionVariableExpected`, `notCoercible`. */
export function valuesOf(
  { variables, part, remote }: Pick<RemoteCall, 'variables' | 'part' | 'remote'>,
  given: Variables,
  session: Session,
): Readonly<Record<string, unknown>> {
  const values = variables.flatMap((variable): [string, unknown][] => {
    const { name } = variable;
    if (variable.kind === 'preset') return [[name, presetValue(variable.preset, part, session)]];
    const value = given[name];
    if (value === undefined || (value === null && remote.skipsNulls)) return [];
    return [[name, variable.type === null ? value : withPresets(value, variable.type, part, session)]];
  });
  return Object.fromEntries(values);
}

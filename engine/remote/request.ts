/** Builds and sends the request that a plan makes to a remote schema, and reads its answer. One HTTP request each.
 *  Raises `remoteSchemaUnreachable`, `remoteAnswerInvalid`, `sessionVariableExpected`, `notCoercible`.
 *  Not here: connections and headers (http.ts), the fields of an answer (answer.ts), their place in the response (execute/). */
import type { Variables } from '../plan/literal.ts';
import type { RemoteCall } from '../plan/remote-types.ts';
import { presetValue, withPresets } from '../resolve/remote-preset.ts';
import type { Session } from '../resolve/session.ts';
import { type RemoteAnswer, readAnswer } from './answer.ts';
import { postToRemote, type RequestOrigin } from './http.ts';

/** Returns the fields of the answer. `setCookies` are the cookies the remote schema sets on the client. */
export async function callRemote(
  call: RemoteCall,
  variables: Variables,
  origin: Omit<RequestOrigin, 'isRepeatable' | 'schema'>,
): Promise<RemoteAnswer & { readonly setCookies: readonly string[] }> {
  const { isRepeatable, remote } = call;
  const body = JSON.stringify(requestOf(call, variables, origin.session));
  const { endpoint, schema } = remote;
  const answer = await postToRemote(endpoint, body, { ...origin, isRepeatable, schema });
  return { ...readAnswer(answer, call.fields, remote), setCookies: answer.headers['set-cookie'] ?? [] };
}

/** Returns the request body. */
export function requestOf(call: RemoteCall, given: Variables, session: Session): object {
  const { operationName, query } = call;
  const variables = valuesOf(call, given, session);
  return { query, variables, ...(operationName === null ? {} : { operationName }) };
}

/** Returns the variables of the request. Variables that the client did not give are left out. */
export function valuesOf(
  { variables, part, remote }: Pick<RemoteCall, 'variables' | 'part' | 'remote'>,
  given: Variables,
  session: Session,
): Readonly<Record<string, unknown>> {
  const values = variables.flatMap((variable): [string, unknown][] => {
    const { name } = variable;
    if (variable.kind === 'preset') return [[name, presetValue(variable.preset, part, session)]];
    const from = { schema: part, session };
    const value = variable.type === null ? given[name] : withPresets(given[name], variable.type, from);
    return value === undefined || (value === null && remote.skipsNulls) ? [] : [[name, value]];
  });
  return Object.fromEntries(values);
}

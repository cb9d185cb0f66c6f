/** The requests of the pages: GraphQL and admin operations over HTTP, subscriptions over a WebSocket (subscribe.js), each with the headers of the role, the
 *  secret and the editor. Not here: what is kept (session.js). */
import { parse } from 'graphql';
import { IS_READ_ONLY, keptHeaders, PREFIX } from './session.js';
import { subscribe } from './subscribe.js';

const READ_ONLY =
  'This console is read-only and runs no mutation. An administrator of the engine can allow it: --console-mode edit';

/** Returns a fetcher of GraphiQL. `report` receives why the engine refused the credentials; empty when it did not. */
export function fetcherFor(role, secret, report) {
  return (given, { headers } = {}) => {
    const { question, kind } = parsed(given);
    // The first introspection comes before the editor of the headers.
    const written = headers ?? (question.operationName === 'IntrospectionQuery' ? keptHeaders() : {});
    const sent = {
      ...(secret && { [`${PREFIX}admin-secret`]: secret }),
      ...(role && { [`${PREFIX}role`]: role }),
      ...written,
    };
    if (kind === 'mutation' && IS_READ_ONLY) return Promise.resolve({ errors: [{ message: READ_ONLY }] });
    if (kind === 'subscription') return subscribe(question, sent);
    return post(question, sent).then((answer) => {
      report(denialIn(answer)?.message ?? '');
      return answer;
    });
  };
}

/** Resolves to `admitted` when the engine answers with these credentials, `denied` when it refuses them, else `unreachable`. */
export async function isAdmitted(secret) {
  const headers = { ...(secret && { [`${PREFIX}admin-secret`]: secret }), ...keptHeaders() };
  try {
    return denialIn(await post({ query: '{ __typename }' }, headers)) ? 'denied' : 'admitted';
  } catch {
    return 'unreachable';
  }
}

/** Performs an operation of the admin API. Rejects with the message of the engine. */
export async function perform(secret, type, args) {
  const headers = secret ? { [`${PREFIX}admin-secret`]: secret } : keptHeaders();
  const answer = await post({ type, args }, headers, '../v1/metadata');
  if (answer?.error !== undefined) throw new Error(answer.error);
  return answer;
}

async function post(question, headers, path = '../v1/graphql') {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(question),
  });
  return response.json();
}

const DENIALS = ['access-denied', 'invalid-jwt', 'invalid-headers', 'jwt-missing-role-claims'];

function denialIn({ errors }) {
  return errors?.find(({ extensions }) => DENIALS.includes(extensions?.code));
}

/** Returns the request and the kind of its operation. GraphiQL notices a name a moment after it was written: one that is not in the text is
 *  left out. */
function parsed(question) {
  const operations = operationsIn(question.query);
  const named = operations.find(({ name }) => name?.value === question.operationName);
  return named
    ? { question, kind: named.operation }
    : { question: { ...question, operationName: undefined }, kind: operations[0]?.operation };
}

/** Returns none for a text with a mistake, which the engine reports. */
function operationsIn(query) {
  try {
    return parse(query).definitions.filter(({ kind }) => kind === 'OperationDefinition');
  } catch {
    return [];
  }
}

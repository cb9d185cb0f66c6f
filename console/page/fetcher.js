/** The requests of Explore as GraphiQL sends them: operations over HTTP, subscriptions over a WebSocket (subscribe.js), and the introspection, whose answer is
 *  parsed in a thread of its own (introspection.js). Each has the headers of the role, the secret and the editor.
 *  Not here: the requests of other pages (requests.js), the headers (headers.js). */
import { headersOf } from './credentials.js';
import { sentHeaders } from './headers.js';
import { parsedIntrospection } from './introspection.js';
import { operationOf } from './operation.js';
import { denialIn, post, reportDenial } from './requests.js';
import { IS_READ_ONLY, keptHeaders } from './session.js';
import { subscribe } from './subscribe.js';

const READ_ONLY =
  'This console is read-only and runs no mutation. An administrator of the engine can allow it: --console-mode edit';

/** Returns a fetcher of GraphiQL that sends operations with the headers of `viewAs`. `onProblem` receives why the engine refused the
 *  credentials, empty when it did not; `onTime` the milliseconds until the answer of an operation of the user. */
export function fetcherFor(viewAs, session, { onProblem, onTime }) {
  return async (given, options = {}) => {
    const { question, kind, problem } = operationOf(given);
    // A text that the page cannot read is not sent: it could be a mutation.
    if (problem !== undefined) return { errors: [{ message: problem }] };
    if (kind === 'mutation' && IS_READ_ONLY) return { errors: [{ message: READ_ONLY }] };
    // An operation of the user comes with its syntax tree, also when it has the same name.
    const isForSchema = question.operationName === 'IntrospectionQuery' && !('documentAST' in options);
    // The first introspection comes before the editor of the headers.
    const written = options.headers ?? (isForSchema ? keptHeaders() : {});
    const sent = sentHeaders(headersOf(session), viewAs, written);
    if (kind === 'subscription') return subscribe(question, sent, reportDenial);
    const startedAt = performance.now();
    const read = isForSchema ? readIntrospection : undefined;
    try {
      const { body } = await post('../v1/graphql', question, sent, read);
      if (!isForSchema) onTime(Math.round((performance.now() - startedAt) * 10) / 10);
      onProblem(denialIn(body) ?? '');
      return body;
    } catch ({ message }) {
      // GraphiQL shows the stack of an error that is thrown.
      return { errors: [{ message }] };
    }
  };
}

async function readIntrospection(response) {
  return parsedIntrospection(await response.arrayBuffer());
}

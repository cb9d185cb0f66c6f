/** The requests of Explore as GraphiQL sends them: operations over HTTP, subscriptions over a WebSocket (subscribe.js), and the introspection, whose answer is
 *  parsed in a thread of its own (introspection.js). Each has the headers of the role, the secret and the editor. Numbers of answers keep all digits.
 *  Not here: the requests of other pages (requests.js), the headers (headers.js). */
import { withEarlierBatches, withLastResult } from './batches.js';
import { secretHeadersOf } from './credentials.js';
import { sentHeaders } from './headers.js';
import { parsedIntrospection } from './introspection.js';
import { operationOf } from './operation.js';
import { denialIn, post, readWithAllDigits, reportDenial } from './requests.js';
import { IS_READ_ONLY, keptHeaders } from './session.js';
import { subscribe } from './subscribe.js';

const READ_ONLY =
  'This console is read-only and runs no mutation. An administrator of the engine can allow it: --console-mode edit';

/** Returns a fetcher of GraphiQL that sends operations with the headers of `viewAs`. `onProblem` receives why the engine refused the
 *  credentials, empty when it did not. `refusal` returns why no operation of the user is sent, empty when they are. `onRun` receives
 *  `{question, headers}` of such an operation, then the same with `tookMs`, `isStopped` or the number of `batches`; null when it was not sent. */
export function fetcherFor(viewAs, session, { onProblem, onRun, refusal }) {
  return async (given, options = {}) => {
    const { question, kind, isStream, problem } = operationOf(given);
    // An operation of the user comes with its syntax tree, also when it has the same name.
    const isForSchema = question.operationName === 'IntrospectionQuery' && !('documentAST' in options);
    // The first introspection comes before the editor of the headers.
    const written = options.headers ?? (isForSchema ? keptHeaders() : {});
    const headers = sentHeaders(secretHeadersOf(session), viewAs, written);
    const request = async (read, signal) => {
      const { body } = await post('../v1/graphql', question, headers, read, signal);
      onProblem(denialIn(body) ?? '');
      return body;
    };
    if (isForSchema) return request(readIntrospection).catch(({ message }) => failure(message));
    // A text that the page cannot read is not sent: it could be a mutation.
    const refused = problem ?? (kind === 'mutation' && IS_READ_ONLY ? READ_ONLY : refusal());
    onRun(refused ? null : { question, headers });
    if (refused) return failure(refused);
    if (kind !== 'subscription') return once(request, (end) => onRun({ question, headers, ...end }));
    const results = subscribe(question, headers, reportDenial);
    if (!isStream) return withLastResult(results);
    return withEarlierBatches(results, (batches) => onRun({ question, headers, batches }));
  };
}

/** Returns an observable of one answer; `onEnd` receives its time in milliseconds, or that it was stopped. Ending it cancels the request: the engine cancels the statement of a client that
 *  hangs up. */
function once(request, onEnd) {
  return {
    subscribe: (observer) => {
      const controller = new AbortController();
      const startedAt = performance.now();
      let isAnswered = false;
      const answer = request(readWithAllDigits, controller.signal).then((body) => {
        if (!controller.signal.aborted)
          onEnd({ tookMs: Math.round((performance.now() - startedAt) * 10) / 10 });
        return body;
      });
      answer
        .catch(({ message }) => failure(message))
        .then((body) => {
          if (controller.signal.aborted) return;
          isAnswered = true;
          observer.next(body);
          observer.complete();
        });
      const unsubscribe = () => {
        if (!isAnswered && !controller.signal.aborted) onEnd({ isStopped: true });
        controller.abort();
      };
      return { unsubscribe };
    },
  };
}

/** Returns an answer with one error. GraphiQL shows the stack of an error that is thrown. */
function failure(message) {
  return { errors: [{ message }] };
}

async function readIntrospection(response) {
  return parsedIntrospection(await response.arrayBuffer());
}
